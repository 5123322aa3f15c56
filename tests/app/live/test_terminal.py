"""The live view on a terminal: it fits 80 columns, says what is wrong on top, and shows answers below."""

import json
from io import StringIO

from rich.console import Console
from tests.dashboard.records import START, records

from slackwater.app.live.terminal import view
from slackwater.app.live.watch import Watch
from slackwater.app.monitor.board import Board
from slackwater.spark.run.progress import ControlProgress, Progress
from slackwater.spark.watermark.punctuate import Account


def shown(board: Board, width: int = 80) -> list[str]:
    console = Console(file=StringIO(), width=width, highlight=False)
    console.print(view(board, width))
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def test_many_pipelines_with_long_names_fit_80_columns_and_nothing_is_cut_but_names():
    board = Board(clock=lambda: START / 1_000 + 100)
    for number in range(20):
        for each in records(f"pipeline with a long name {number}", 100, seed=number):
            board.enter(each)
    board.enter(
        {"kind": "rows", "pipeline": "pipeline with a long name 3", "rows": [{f"c{n}": "x" * 99 for n in range(9)}] * 9}
    )
    lines = shown(board)
    assert max(map(len, lines)) <= 80 and len(lines) < 30
    rows = [line for line in lines if line.startswith("● ")]
    assert len(rows) == 12 and all(line.count("…") == 1 for line in rows), "names alone are cut"
    assert "and 8 more pipelines" in lines
    assert all(line.rstrip().endswith(" ms") for line in rows), "the last column is there"


def test_what_is_wrong_is_on_top_and_answers_are_below():
    board = Board(clock=lambda: START / 1_000 + 100)
    for each in records("tolls", 100, allowed=0.0001):
        board.enter(each)
    board.enter({"kind": "rows", "pipeline": "tolls", "rows": [{"segment": "7", "top": "98.3"}]})
    lines = shown(board)
    assert lines[0] == "tolls: Traffic: more rows are late than the query allows"
    assert lines[-3].strip() == "latest answers of tolls" and lines[-1].split() == ["7", "98.3"]
    assert shown(Board()) == ["waiting for the first batch ..."]


def test_for_machines_every_batch_is_a_line_of_json_and_nothing_else_is_written():
    console = Console(file=StringIO(), width=200)
    watch = Watch(console, machine=True)
    watch.starting()
    controls = (ControlProgress("Edits", 0.01, Account(rows=10, late=1, untimed=2)),)
    with watch:
        watch.news([Progress("live", batch, 10, 7, 1, 2, 0, 0, 0, 0, 0.5, controls) for batch in (0, 1)])
    watch.summary()
    lines = [json.loads(line) for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    assert [each["batch"] for each in lines] == [0, 1] and lines[0]["on_time"] == 7
