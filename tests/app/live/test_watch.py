"""What a run shows of its rows."""

from datetime import UTC, datetime
from io import StringIO

import pytest
from pyspark.sql import Row
from rich.console import Console

from slackwater.app.live.watch import Watch
from slackwater.spark.run.progress import ControlProgress, Progress, Rejections
from slackwater.spark.watermark.punctuate import Account

ACCOUNT = Account(rows=10, late=1, untimed=2, lost=1)


def shown(rows: list[Row]) -> list[str]:
    console = Console(file=StringIO(), width=80)
    Watch(console).on_rows("answers")(3, rows)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def test_the_first_rows_by_the_end_of_their_window_and_how_many_more_there_are():
    ends = [datetime(2024, 1, 1, 0, minute, tzinfo=UTC) for minute in range(60)]
    lines = shown([Row(n=1.25, window_end=end) for end in reversed(ends * 20)])
    assert lines[0] == "answers, batch 3"
    assert len(lines) == 11 and lines[-1] == "... 1,192 more rows"
    assert shown([Row(n=1.25, window_end=end) for end in ends[:9]])[-1] == "... 1 more row"
    assert all(line.split() == ["1.25", "2024-01-01", "00:00:00+00:00"] for line in lines[2:-1])


def test_one_sync_row_is_shown_after_the_first_rows():
    end = datetime(2024, 1, 1)
    rows = [Row(vehicle=n, window_end=end, _sync=False) for n in range(20)]
    lines = shown([Row(vehicle=None, window_end=end, _sync=True), *rows])
    assert "True" in lines[-2] and lines[-1] == "... 12 more rows"


def test_a_moment_is_shown_to_the_millisecond_in_one_line():
    moment = datetime(2024, 1, 1, 0, 0, 1, 391_013)
    assert shown([Row(id=7, at=moment, received=moment)])[-1].split() == ["7", *["2024-01-01", "00:00:01.391"] * 2]


def test_the_summary_accounts_for_every_row_and_says_what_a_changelog_refused():
    console = Console(file=StringIO(), width=200)
    watch = Watch(console)
    controls = (ControlProgress("Edits", 0.01, ACCOUNT, refused=3), ControlProgress("Other", 0.01, ACCOUNT))
    watch.news([Progress("live", 4, 10, 7, 1, 2, 0, 0, 0, 0, 0.5, controls, refused=3)])
    watch.summary()
    line, *_, edits, other = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert ", 3 refused" in line
    assert "10 rows in = 7 on time + 1 late + 2 rejected" in edits and edits.endswith("; 3 refused in this run")
    assert "late 10.00% of 1% allowed, 1 lost; " in edits
    assert "refused" not in other


def test_a_batch_of_an_empty_source_says_so():
    console = Console(file=StringIO(), width=200, highlight=False)
    Watch(console).news([Progress("live", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5, ())])
    assert "0 rows in, 0 out, no row was read yet, " in console.file.getvalue()  # type: ignore[attr-defined]


def shown_of(account: Account, *batches: int) -> list[str]:
    """Return the lines of batches of one row in and two out, and the summary."""
    console = Console(file=StringIO(), width=200, highlight=False)
    watch = Watch(console)
    controls = (ControlProgress("Edits", 0.01, account),)
    watch.news([Progress("live", each, 1, 2, 0, 0, 0, 0, 0, 0, 0.5, controls) for each in batches])
    watch.summary()
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def test_the_summary_of_a_resumed_run_says_what_is_of_this_run_and_what_of_all():
    _, _, _, mine, since, account = shown_of(ACCOUNT, 4, 5)
    assert (mine, since) == ("live: 2 batches, 4 rows out in this run", "  since the checkpoint began, in 6 batches:")
    assert account.startswith("  Edits: 10 rows in")
    *_, mine, account = shown_of(ACCOUNT, 0)
    assert mine == "live: 1 batch, 2 rows out"
    assert account.startswith("  Edits: 10 rows in")


@pytest.mark.parametrize(
    ("account", "told"),
    [
        (Account(clock=10_000, newest=9_500), ", no watermark yet,"),
        (Account(clock=10_000, newest=9_500, punctuation=9_000), ", 1.00 s behind,"),
        (Account(clock=10_000, newest=9_500, punctuation=69_000), ", every window closed,"),
        (Account(clock=10_000, newest=9_500, punctuation=12_000, silence=5_000), ", 3.00 s behind,"),
        (Account(clock=10_000, newest=10_500, punctuation=10_200), ", -0.20 s behind,"),
    ],
    ids=["first batch", "rows come", "flushed", "silent", "a clock that is ahead"],
)
def test_a_stream_that_was_flushed_is_closed_not_ahead_of_itself(account: Account, told: str):
    assert told in shown_of(account, 0)[0]


def told(*batches: Rejections) -> str:
    console = Console(file=StringIO(), width=200)
    watch = Watch(console, quiet=True)
    watch.news(
        [Progress("counts", at, 0, 0, 0, 0, 0, 0, 0, 0, 0.5, (), rejections=(each,)) for at, each in enumerate(batches)]
    )
    return console.file.getvalue()  # type: ignore[attr-defined]


def rejected(rows: int, count: int, **reasons: int) -> Rejections:
    return Rejections("Clicks", "counts$rejected", rows, count, reasons, "anna\x1b[2J,[red]/start")


def test_many_rejected_rows_are_told_while_it_runs_with_reasons_and_an_example():
    lines = told(rejected(100, 10), rejected(100, 40, few=1, most=20, some=9, more=12), rejected(100, 90)).splitlines()
    assert lines[0] == "warning: 50 of 200 rows of Clicks were rejected (25%); the stream counts$rejected has them"
    assert [each.strip() for each in lines[1:]] == [
        "20 rows: most",
        "12 rows: more",
        "9 rows: some",
        "for example: anna\N{REPLACEMENT CHARACTER}[2J,[red]/start",
    ]


def test_rejected_rows_are_told_again_when_they_are_ten_times_as_many_and_never_if_they_are_few():
    assert told(*[rejected(100, 10)] * 50) == ""
    assert told(rejected(0, 0)) == ""
    assert [
        line.partition(" rows")[0] for line in told(*[rejected(10, 10)] * 120).splitlines() if "warning" in line
    ] == [
        "warning: 10 of 10",
        "warning: 100 of 100",
        "warning: 1,000 of 1,000",
    ]


def test_a_warning_is_not_among_the_lines_for_programs(capsys: pytest.CaptureFixture[str]):
    console = Console(file=StringIO(), width=200)
    Watch(console, machine=True).warn("rows were [red]rejected")
    assert console.file.getvalue() == ""  # type: ignore[attr-defined]
    assert capsys.readouterr().err == "warning: rows were [red]rejected\n"


def test_the_live_status_fits_80_columns():
    console = Console(file=StringIO(), width=80)
    watch = Watch(console, quiet=True)
    account = Account(rows=12_345_678, late=1_234_567, untimed=123_456, clock=9_999_990, newest=1, punctuation=1)
    controls = (ControlProgress("Clicks", 0.0015, account), ControlProgress("Views", 0.001, account))
    for name in ("short", "a_pipeline_with_a_very_long_name"):
        watch.news([Progress(name, 1_234, 12_345_678, 1_234_567, 1, 1, 0, 0, 9_999_999_999, 10**9, 0.5, controls)])
    console.file.truncate(0)
    console.print(watch._view(), width=200)  # so wide that nothing is cut off that the view itself does not cut off
    lines = [line.rstrip("\0").rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    assert any("a_pipeline" in line for line in lines)
    assert max(map(len, lines)) <= 80, lines


def test_the_heading_of_a_narrow_table_is_one_line():
    assert shown([Row(n=1)]) == ["answers, batch 3", " n", " 1"]
