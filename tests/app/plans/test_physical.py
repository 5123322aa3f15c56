"""`explain --physical`: who runs what; and the toll example, explained and run."""

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from slackwater.algebra.catalog import SinkDef
from slackwater.app.dry_run import dry_run
from slackwater.app.live.watch import Watch
from slackwater.app.plans.explain import write_plans
from slackwater.app.plans.formats import Format
from slackwater.app.project import demo_text
from slackwater.app.run import Conditions, run
from slackwater.lang import parse_script

EXAMPLES = Path(__file__).parents[3] / "examples"
OVERLAP = """
CREATE STREAM Traffic (vehID INT, segment INT, speed DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (stream 'vehicles') TIMESTAMP BY timestamp ARRIVAL BY received;
SELECT segment, MAX(speed) AS top FROM Traffic [RANGE 60 seconds SLIDE 1 second] WHERE speed > 30 GROUP BY segment;
"""
EDITS = """
CREATE STREAM Edits (op STRING, id INT, v INT, ts TIMESTAMP, PRIMARY KEY (id))
USING json OPTIONS (path '{folder}') TIMESTAMP BY ts CHANGELOG BY op;
SELECT id, v FROM Edits EMIT CHANGES;
SELECT id, refusal FROM query$refused;
"""


def test_the_toll_query_is_native_and_reads_its_windows_twice(spark):
    shown = json.loads(write_plans(parse_script(demo_text("tolls")), Format.JSON, physical=True))["toll"]
    assert shown["host"] == "native"
    by = {each["operator"]: each["run_by"] for each in shown["operators"]}
    assert by | {"Join": "native", "Aggregate": "native", "Disorder": "control", "Scan": "scan"} == by
    assert "second reading" in shown["operators"][0]["how"]
    assert "EventTimeWatermark" in shown["spark"]


def test_overlapping_extents_are_handed_over_and_the_selection_is_below_control(spark):
    text = write_plans(parse_script(OVERLAP), Format.TEXT, physical=True)
    assert "fused: a row is in 60 extents" in text
    assert "Select speed > 30" in text
    assert "moved below control" in text
    assert "transformWithState" in text or "TransformWithState" in text


def test_queries_over_late_and_rejected_rows_are_outputs_of_the_query_that_these_are_of(spark):
    sides = "SELECT vehID, late_by FROM query$late WHERE late_by > 5; SELECT raw FROM Traffic$rejected;"
    shown = json.loads(write_plans(parse_script(OVERLAP + sides), Format.JSON, physical=True))
    assert (
        shown["query2"]["reason"]
        == shown["query3"]["reason"]
        == "an output of the query of 'query', of the same batches"
    )
    assert shown["query2"]["operators"][-1]["how"] == "'Traffic' read once more, told by the punctuation of each batch"
    assert "late_by" in shown["query2"]["spark"]


@pytest.mark.slow
def test_the_toll_query_runs(spark, tmp_path: Path):
    script = parse_script(demo_text("tolls"))
    ending = {"rows": "3000", "pace": "max", "batch": "8 seconds"}
    streams = tuple(replace(each, options={**each.options, **ending}) for each in script.streams)
    sink = SinkDef("toll", "parquet", {"path": str(tmp_path / "out")})
    pipelines = tuple(replace(each, sink=sink) for each in script.pipelines)
    conditions = Conditions(tmp_path / "checkpoint", "local[2]", available_now=True)
    run(replace(script, streams=streams, pipelines=pipelines), conditions, Watch(Console(file=StringIO())))
    rows = spark.read.parquet(str(tmp_path / "out"))
    billed = {row.window_end for row in rows.where("NOT _sync").collect()}
    synced = [row.window_end for row in rows.where("_sync").collect()]
    assert billed
    assert billed <= set(synced)
    assert len(synced) == len(set(synced))
    assert rows.where("NOT _sync").dropDuplicates().count() == rows.where("NOT _sync").count()
    assert rows.where("_sync AND (vehID IS NOT NULL OR segment IS NOT NULL)").count() == 0


def test_a_plan_that_could_be_a_chain_of_operators_says_so(spark):
    nested = "AVG(n) AS mean FROM (SELECT segment, COUNT(*) AS n FROM Traffic [RANGE 9 seconds] GROUP BY segment) AS P"
    text = OVERLAP[: OVERLAP.index("segment, MAX")] + f"{nested} [RANGE 5 TUPLES];"
    told = " ".join(write_plans(parse_script(text), Format.TEXT, physical=True).split())
    assert "one operator, in one bucket: RANGE 5 tuples every 1 tuple counts every row" in told
    assert "SET spark.slackwater.fused.chain = true makes it 2 operators in a chain" in told
    assert "in buckets by segment" in told


def test_queries_over_refused_rows_are_outputs_of_the_operator_that_refuses_them(spark, tmp_path):
    (tmp_path / "edits.json").write_text('{"op": "insert", "id": 1, "v": 1, "ts": "2024-01-01T00:00:05Z"}')
    script = parse_script(EDITS.format(folder=tmp_path))
    shown = json.loads(write_plans(script, Format.JSON, physical=True))["query2"]
    assert shown["reason"] == "an output of the query of 'query', of the same batches"
    assert shown["operators"][-1]["how"] == "an output of the operator of 'query', which refuses them"
    assert "TransformWithState" in shown["spark"]
    assert list(dry_run(script))[-1] == "pipeline query2: id int, refusal string"


def test_a_view_is_computed_and_not_answered_from_itself(spark):
    script = parse_script(OVERLAP.replace("SELECT segment", "CREATE VIEW Tops AS SELECT segment"))
    shown = json.loads(write_plans(script, Format.JSON, physical=True))["Tops"]
    assert "share" in " ".join(each["parameters"] for each in shown["operators"])
    assert "View" not in [each["operator"] for each in shown["operators"]]


def test_explain_physical_is_of_its_own_query(spark):
    script = parse_script(OVERLAP + OVERLAP[OVERLAP.index("SELECT") :].replace("SELECT", "EXPLAIN PHYSICAL SELECT"))
    own, asked = write_plans(script, Format.TEXT).split("EXPLAIN 1")
    assert "Spark's plan" not in own
    assert "fused: a row is in 60 extents" in asked
    assert "Spark's plan" in asked
    (told,) = json.loads(write_plans(script, Format.JSON))["explains"]
    assert (told["name"], told["what"], told["host"]) == ("EXPLAIN 1", "physical", "fused")
