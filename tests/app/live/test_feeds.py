"""What a run says of itself to those who watch."""

import json
from io import StringIO

from rich.console import Console

from slackwater.app.live.feeds import about
from slackwater.app.live.watch import Watch
from slackwater.app.monitor.board import Board, Level
from slackwater.app.render.svg import leaving
from slackwater.errors import RunError
from slackwater.lang import parse_script

SCRIPT = """
CREATE STREAM S (k INT, v DOUBLE, ts TIMESTAMP)
USING kafka OPTIONS (`kafka.sasl.jaas.config` 'user="low" password="tide-secret"', subscribe 'topic') TIMESTAMP BY ts;
CREATE SINK tolls USING postgres OPTIONS (url 'jdbc:postgresql://low:tide-secret@db/x', password 'tide-secret');
INSERT INTO tolls SELECT k, MAX(v) AS top FROM S [RANGE 10 seconds SLIDE 5 seconds DRATIO 1%] GROUP BY k;
"""


def test_a_pipeline_is_told_with_its_plan_and_windows_and_without_any_option():
    (pipeline,) = parse_script(SCRIPT).pipelines
    said = about(pipeline)
    assert "tide-secret" not in json.dumps(said) and "topic" not in json.dumps(said)
    assert said["windows"] == {"S": [(10_000, 5_000)]}
    assert said["graph"]["sink"] == "tolls (postgres)"
    by = {each["name"]: each["by"] for each in said["graph"]["nodes"]}
    assert (by["Scan"], by["Disorder"], by["Aggregate"]) == ("scan", "control", "native")


def test_the_pipeline_that_an_error_names_has_failed_and_the_others_were_stopped():
    watch = Watch(Console(file=StringIO()), quiet=True)
    (pipeline,) = parse_script(SCRIPT).pipelines
    other = Board()
    watch.feeds = [other.enter]
    watch.begins(pipeline)
    watch.tell({"kind": "pipeline", "pipeline": "toll"})
    watch.ends(RunError("SW-510", "the pipeline 'tolls' failed: the disk is full"))
    states = {name: each.state for name, each in other.pipelines.items()}
    assert states == {"tolls": "failed", "toll": "stopped"}
    assert other.worst() is Level.BROKEN and "the disk is full" in other.pipelines["tolls"].error


def test_rates_are_known_of_scans_of_controls_and_of_what_comes_out():
    (pipeline,) = parse_script(SCRIPT).pipelines
    graph = about(pipeline)["graph"]
    names = [each["name"] for each in graph["nodes"]]
    known = {names[number]: rate for number, rate in leaving(graph, {"S": (200.0, 198.0)}, 7.0).items()}
    assert known == {"Scan": 200.0, "Disorder": 198.0, "Emit": 7.0, "Project": 7.0, "Aggregate": 7.0}


def test_a_batch_that_takes_longer_than_its_trigger_is_a_warning():
    board = Board(clock=lambda: 1.0)
    (pipeline,) = parse_script(SCRIPT).pipelines
    board.enter(about(pipeline, trigger=0.5))
    levels = []
    for batch, seconds in enumerate((0.4, 0.6)):
        record = {"batch": batch, "at": 1_000, "rows_in": 1, "seconds": seconds}
        board.enter({"kind": "batch", "pipeline": "tolls", **record})
        levels.append(board.worst())
    assert levels == [Level.GOOD, Level.WARNING]
