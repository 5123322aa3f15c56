"""`slackwater advise`, as a user calls it."""

import json
from pathlib import Path

import pytest
from tests.app.test_advise import csv, recorded

pytestmark = pytest.mark.long


def test_a_table_and_one_sentence(slackwater, tmp_path: Path):
    file = tmp_path / "trace.csv"
    file.write_text(csv(*recorded()))
    shown = slackwater("advise", file, "--event", "ts", "--arrival", "got", "--plot", tmp_path / "p.png")
    assert shown.returncode == 0, shown.stderr
    assert "best constant (clock)" in shown.stdout
    assert "Write DRATIO 1%" in shown.stdout
    assert (tmp_path / "p.png").exists()


def test_json_for_programs(slackwater, tmp_path: Path):
    file = tmp_path / "trace.csv"
    file.write_text(csv(*recorded()))
    shown = slackwater("advise", file, "--event", "ts", "--arrival", "got", "--dratio", "5%", "--json")
    assert json.loads(shown.stdout)["dratio"] == 0.05


def test_swapped_columns_are_warned_of(slackwater, tmp_path: Path):
    file = tmp_path / "trace.csv"
    file.write_text(csv(*recorded()))
    assert "warning: " in slackwater("advise", file, "--event", "got", "--arrival", "ts").stdout
    assert "warning: " not in slackwater("advise", file, "--event", "ts", "--arrival", "got").stdout


def test_mistakes_exit_with_2(slackwater, tmp_path: Path):
    file = tmp_path / "trace.csv"
    file.write_text(csv(*recorded(10)))
    good = ("advise", file, "--event", "ts", "--arrival", "got")
    assert "did you mean 'got'" in slackwater("advise", file, "--event", "ts", "--arrival", "gt").stderr
    assert slackwater(*good, "--dratio", "120%").stderr.startswith("SW-113")
    assert slackwater(*good, "--unit", "days").stderr.startswith("SW-414")
    assert slackwater(*good, "--batch", "often").stderr.startswith("SW-112")
