"""How pipelines stand: red for a broken promise alone, amber for what somebody should look at."""

import pytest
from tests.dashboard.records import START, records

from slackwater.app.monitor.board import PIPELINES, Board, Level
from slackwater.app.monitor.picture import draw_run
from slackwater.app.monitor.progress_log import ProgressLog, read_log
from slackwater.errors import InputError

NOW = START / 1_000 + 10


def board_of(*events: dict[str, object], now: float = NOW) -> Board:
    board = Board(clock=lambda: now)
    for event in events:
        board.enter(event)
    return board


def last(**changes: object) -> dict[str, object]:
    return [*records(batches=10)][-1] | changes


def stream(**changes: object) -> dict[str, object]:
    return last(streams=[last()["streams"][0] | changes])  # type: ignore[index,operator]


@pytest.mark.parametrize(
    ("event", "now", "level", "said"),
    [
        (last(), NOW, Level.GOOD, None),
        (stream(rows=2_000, late=41), NOW, Level.BROKEN, "more rows are late"),
        (stream(rows=2_000, late=40), NOW, Level.GOOD, None),
        (stream(rows=3, late=1), NOW, Level.GOOD, None),
        (stream(rows=2_000, late=500, allowed=None), NOW, Level.GOOD, None),
        (last(), NOW + 40, Level.WARNING, "no row for 41 s"),
        (last(rows_in=100, rejected=11), NOW, Level.WARNING, "11% of the rows are rejected"),
    ],
    ids=["good", "broken", "at the bound", "one late row", "no bound", "silent", "rejected"],
)
def test_a_pipeline_is_red_only_when_a_promise_is_broken(event, now, level, said):
    followed = board_of(event, now=now).pipelines["fastest"]
    assert followed.level(now) is level
    troubles = [text for _, text in followed.troubles(now)]
    assert troubles == [] if said is None else said in troubles[0]


def test_a_batch_that_takes_longer_than_its_trigger_is_amber():
    begun = {"kind": "pipeline", "pipeline": "fastest", "trigger": 1.0}
    board = board_of(begun, last(seconds=1.5))
    assert board.pipelines["fastest"].troubles(NOW) == [(Level.WARNING, "a batch takes 1.5 s, its trigger 1.0 s")]
    assert board_of(begun, last(seconds=0.9)).worst() is Level.GOOD


def test_a_failed_pipeline_is_red_until_it_starts_again():
    failed = {"kind": "state", "pipeline": "fastest", "state": "failed", "error": "SW-510: the disk is full"}
    board = board_of(last(), failed)
    assert board.pipelines["fastest"].troubles(NOW)[0] == (Level.BROKEN, "failed: SW-510: the disk is full")
    board.enter({"kind": "pipeline", "pipeline": "fastest"})
    assert board.pipelines["fastest"].state == "starting" and board.worst() is Level.GOOD


def test_a_stopped_pipeline_is_neither_silent_nor_wrong():
    board = board_of(last(), {"kind": "state", "pipeline": "fastest", "state": "stopped"}, now=NOW + 9_000)
    assert board.worst() is Level.GOOD


def test_events_of_unknown_kinds_are_passed_over_and_pipelines_are_bounded():
    board = board_of({"kind": "weather", "pipeline": "x"}, {"kind": "batch"}, {})
    assert board.pipelines == {} and board.version == 0
    for number in range(PIPELINES + 50):
        board.enter(last(pipeline=f"p{number}"))
    assert len(board.pipelines) == PIPELINES


def test_the_log_has_a_line_for_each_batch_and_gives_the_history_of_earlier_runs(tmp_path):
    path = tmp_path / "progress.jsonl"
    said = [*records(batches=30)]
    for part in (said[:20], said[20:]):  # two runs
        with ProgressLog(path) as log:
            for event in ({"kind": "pipeline", "pipeline": "fastest"}, *part):
                log.enter(event)
    path.write_text(path.read_text() + '{"kind": "batch", "pipe\n"text"\n')
    assert [{**each, "earlier": True} for each in said] == [*read_log(path)]
    board = board_of(*read_log(path))
    followed = board.pipelines["fastest"]
    assert followed.history.total("rows_in") == 6_000 and followed.state == "stopped"
    assert [*read_log(tmp_path / "none")] == []


def test_a_log_that_cannot_be_written_is_told(tmp_path):
    with pytest.raises(InputError, match=r"SW-481.*cannot be written: No such file"):
        ProgressLog(tmp_path / "no" / "log")


def test_a_run_is_drawn_with_a_row_of_charts_for_each_pipeline(tmp_path):
    board = board_of(*records("one", 40), *records("two", 40), {"kind": "pipeline", "pipeline": "without a batch"})
    draw_run(board, tmp_path / "run.svg")
    drawn = (tmp_path / "run.svg").read_text()
    assert drawn.count("<!-- Hold, in seconds -->") == 2 and "fixed delay of the same share" in drawn
    draw_run(board_of(), tmp_path / "none.png")
    assert (tmp_path / "none.png").read_bytes().startswith(b"\x89PNG")
