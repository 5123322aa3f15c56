"""`slackwater run`, as a user calls it: what is refused before Spark starts."""

from pathlib import Path

import pytest

TRAFFIC = Path(__file__).parents[2] / "examples" / "traffic.sql"


@pytest.mark.parametrize("command", ["run", "dry-run", "explain"])
@pytest.mark.parametrize("setting", ["executor.memory=s3cret", "spark.executor.memory"])
def test_a_setting_that_is_not_sparks_is_refused_and_its_value_not_told(slackwater, command: str, setting: str):
    shown = slackwater(command, TRAFFIC, "--conf", setting)
    assert shown.returncode != 0
    assert "SW-418" in shown.stderr
    assert "s3cret" not in shown.stderr


def test_a_time_that_is_none_is_refused_as_it_is_in_a_query(slackwater):
    assert slackwater("run", TRAFFIC, "--for", "5 tuples").stderr.startswith("SW-223")
