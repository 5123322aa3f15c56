"""`slackwater run` and `dry-run`, as a user calls them: what is refused, and what is shown of it."""

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


def test_a_trigger_is_refused_where_there_is_only_one_batch_after_the_other(slackwater):
    assert slackwater("run", TRAFFIC, "--trigger", "5 seconds", "--available-now").stderr.startswith("SW-416")


TUMBLE = """
CREATE STREAM Clicks (page STRING, ts TIMESTAMP) USING json OPTIONS (path '{folder}') TIMESTAMP BY ts;
SELECT page, COUNT(*) AS n FROM Clicks [RANGE 1 minute SLIDE 1 minute] GROUP BY page, TUMBLE(ts, '1 minute');
"""


def test_nothing_of_sparks_log_is_shown_with_what_it_refuses(spark, slackwater, tmp_path: Path):
    file = tmp_path / "clicks.sql"
    file.write_text(TUMBLE.format(folder=tmp_path))
    shown = slackwater("dry-run", file)
    assert (shown.returncode, shown.stderr[:7]) == (2, "SW-436:")
    assert len(shown.stderr.splitlines()) == 3  # what is wrong, what was expected, what to do
    log = Path(shown.stderr.strip().rpartition(" ")[2])
    assert "TUMBLE" in log.read_text().upper()
