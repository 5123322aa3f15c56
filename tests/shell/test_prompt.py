"""The prompt, with keys as a person presses them; one query on Spark."""

import os
from io import StringIO

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.console import Console

from slackwater.app.shell.backstage import Backstage
from slackwater.app.shell.workbench import Workbench
from slackwater.shell import prompt

CTRL_C, CTRL_D, UP = "\x03", "\x04", "\x1b[A"


@pytest.fixture
def typed(tmp_path, monkeypatch):
    """Return a function that types keys into a new shell and returns its output."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def run(keys: str) -> str:
        out = StringIO()
        bench = Workbench(Console(file=out, width=100, highlight=False), Backstage(lambda: None), tmp_path / "check")
        with create_pipe_input() as given:
            given.send_text(keys)
            prompt.interact(bench, input=given, output=DummyOutput())
        return out.getvalue()

    return run


def test_a_statement_may_take_several_lines_and_a_mistake_ends_nothing(typed):
    shown = typed(
        "CREATE STREAM S (a INT,\r ts TIMESTAMP) USING json\r TIMESTAMP BY ts;\r"
        "SELECT b FROM S;\rSHOW STREAMS;\r\\quit\r"
    )
    assert "stream S\n" in shown
    assert "SW-201: there is no column 'b' here" in shown
    assert "a int, ts timestamp" in shown


def test_ctrl_c_drops_the_line_and_ctrl_d_leaves(typed):
    shown = typed(f"SELECT 日本{CTRL_C}SHOW SINKS;\r{CTRL_D}")
    assert "no sinks yet" in shown
    assert "SW-" not in shown


def test_history_is_kept_for_its_owner_alone_and_without_secrets(typed):
    secret = "CREATE SINK s USING postgres OPTIONS (password 'tide');"
    typed(f"SHOW STREAMS;\r{secret}\r{CTRL_D}")
    file = prompt.history_file()
    assert "SHOW STREAMS;" in file.read_text()
    assert "tide" not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    assert typed(f"{UP}\r{CTRL_D}").count("no streams yet") == 1


def test_a_home_that_cannot_be_written_costs_the_history_alone(typed, tmp_path):
    (tmp_path / "state").write_text("a file in the way")
    assert "no streams yet" in typed(f"SHOW STREAMS;\r{CTRL_D}")


def test_a_query_shows_rows_late_rows_and_its_account(spark, tmp_path):
    """A query that is not endless ends by itself. Ctrl-C stops a run in `tests/app/live/test_interrupts.py`."""
    (tmp_path / "rows").mkdir()
    for number, second in enumerate((10, 30, 12, 40)):
        file = tmp_path / "rows" / f"{number}.json"
        file.write_text(f'{{"id": {number}, "wide": "{"x" * 200}", "ts": "2024-01-01 00:00:{second}"}}\n')
        os.utime(file, (1_600_000_000 + number,) * 2)
    out = StringIO()
    console = Console(file=out, width=80, highlight=False)
    bench = Workbench(console, Backstage(lambda: None), tmp_path / "check", endless=False)
    bench.execute(
        f"CREATE STREAM S (id INT, wide STRING, ts TIMESTAMP) USING json "
        f"OPTIONS (path '{tmp_path}/rows', maxFilesPerTrigger '1') TIMESTAMP BY ts;"
    )
    bench.execute("SELECT id, wide FROM S [SLACK 0];")
    bench.execute("\\account")
    shown = out.getvalue()
    assert shown.count("query: ") == 2, "the summary, and again for the command"
    assert "1 late" in shown
    assert "Ctrl-C" not in shown
    assert "xxx" in shown
    assert len(bench.late["query$late"]) == 1
    bench.execute("\\late")
    assert "query$late: the last 1 of 1 late rows" in out.getvalue()
