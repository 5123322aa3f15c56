"""What a run says of itself to those who watch."""

import json
from io import StringIO

from rich.console import Console

from slackwater.app.feeds import about
from slackwater.app.monitor.board import Board, Level
from slackwater.app.watch import Watch
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
