"""What a run shows of its rows."""

from datetime import UTC, datetime
from io import StringIO

from pyspark.sql import Row
from rich.console import Console

from slackwater.app.watch import Watch


def shown(rows: list[Row]) -> list[str]:
    console = Console(file=StringIO(), width=80)
    Watch(console).on_rows("answers")(3, rows)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def test_the_first_rows_by_the_end_of_their_window_and_how_many_more_there_are():
    ends = [datetime(2024, 1, 1, 0, minute, tzinfo=UTC) for minute in range(60)]
    lines = shown([Row(n=1.25, window_end=end) for end in reversed(ends * 20)])
    assert lines[0] == "answers, batch 3"
    assert len(lines) == 11 and lines[-1] == "... 1,192 more rows"
    assert all(line.split() == ["1.25", "2024-01-01", "00:00:00+00:00"] for line in lines[2:-1])


def test_a_moment_is_shown_to_the_millisecond_in_one_line():
    moment = datetime(2024, 1, 1, 0, 0, 1, 391_013)
    assert shown([Row(id=7, at=moment, received=moment)])[-1].split() == ["7", *["2024-01-01", "00:00:01.391"] * 2]


def test_the_heading_of_a_narrow_table_is_one_line():
    assert shown([Row(n=1)]) == ["answers, batch 3", " n", " 1"]
