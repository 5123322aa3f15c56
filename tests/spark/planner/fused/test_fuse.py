"""Fused plans on Spark: they answer what the interpreter answers (late rows: sinks/test_sides)."""

from __future__ import annotations

from collections import Counter

import pytest
from pyspark.sql import functions as F  # noqa: N812
from tests.spark import conformance
from tests.spark.conformance import expected
from tests.spark.planner.fused.running import found

from slackwater.algebra.nodes import Plan
from slackwater.lang import bind_query
from slackwater.rewrite import rewrite
from slackwater.semantics import Feed, FeedBatch
from slackwater.spark.operator.blobs import BUCKETS
from slackwater.spark.planner.fused.fuse import fuse, reason
from slackwater.testing.catalog import CATALOG
from slackwater.testing.choices import Seeded
from slackwater.testing.streams import make_feed

SECOND = 1_000_000
KINDS = {
    "windows at every row": {
        "time": "SELECT id, COUNT(*) AS n, SUM(v) AS total, AVG(x) AS mean, row_time "
        "FROM Readings [RANGE 5 seconds] WHERE v > 0 OR id = 1 GROUP BY id HAVING COUNT(*) > 1",
        "tuples": "SELECT id, MAX(v) - MIN(v) AS spread, COUNT(DISTINCT kind) AS kinds, MAX_BY(kind, x) AS of, "
        "BIT_AND(v) AS bits FROM Readings "
        "[RANGE 3 TUPLES, FREQUENCY 1 TUPLE PARTITIONED BY id] GROUP BY id",
        "numbers": "SELECT kind, v, row_number FROM Readings [RANGE 3 TUPLES] WHERE v > 0",
    },
    "mixed jumping windows": {
        "time, every so many tuples": "SELECT id, COUNT(*) AS n FROM Readings "
        "[RANGE 6 seconds, FREQUENCY 4 TUPLES] GROUP BY id",
        "tuples, every so often": "SELECT kind, v, window_end FROM Readings "
        "[RANGE 3 TUPLES, FREQUENCY 4 seconds PARTITIONED BY kind]",
    },
    "frequencies": {
        "of the input": "SELECT id, v FROM Readings [FREQUENCY 3 TUPLES] WHERE v > 0",
        "nested": "SELECT id, AVG(n) AS mean [FREQUENCY 4 seconds PARTITIONED BY id] FROM "
        "(SELECT id, COUNT(*) AS n [FREQUENCY 2 TUPLES PARTITIONED BY id] FROM Readings [RANGE 4 seconds] GROUP BY id) "
        "AS P [RANGE 20 seconds, FREQUENCY 1 TUPLE] GROUP BY id",
    },
}
"""Frequencies of results, and of both, by part and not: see the printed queries in test_examples."""


def bound(text: str) -> Plan:
    return bind_query(text, CATALOG)


@pytest.mark.parametrize("kind", KINDS)
def test_queries_answer_as_the_interpreter_does(spark, tmp_path, kind):
    feed = make_feed(
        Seeded(len(kind)), CATALOG.streams[0], punctuation="trailing", unit=SECOND, max_rows=60, max_batches=4
    )
    plans = {name: bound(text) for name, text in KINDS[kind].items()}
    answers = {name: expected(plan, {"Readings": feed}) for name, plan in plans.items()}
    assert all(answers.values())
    assert found(spark, {name: rewrite(plan).plan for name, plan in plans.items()}, feed, tmp_path) == answers


def test_a_bucket_wakes_when_the_punctuation_moves_by_a_millisecond(spark, tmp_path):
    plan = bound("SELECT id, v FROM Readings [RANGE 5 TUPLES]")
    row = {"id": 1, "kind": "a", "v": 2, "x": 0.5, "ts": 5_000, "arrived": 5_000, "host": "h"}
    feed = Feed((FeedBatch((row,), 5_000), FeedBatch((), 6_000)))
    assert found(spark, {"it": plan}, feed, tmp_path) == {"it": Counter([(1, 2)])}


def test_a_row_before_1970_is_late_whoever_runs_the_query(spark, tmp_path):
    """Spark's watermark starts in 1970, as if a punctuation had acted before the first row."""
    times = (-5, -1, 2, 4)
    row = {"id": 1, "kind": "a", "v": 2, "x": 0.5, "host": "h"}
    rows = [row | {"ts": each * SECOND, "arrived": each * SECOND} for each in times]
    feed = Feed((FeedBatch(tuple(rows[:3]), 3 * SECOND), FeedBatch((rows[3],), 20 * SECOND)))
    since = Feed((FeedBatch((), 0), FeedBatch((), 0), *feed.batches))
    plans = {
        "rows": bound("SELECT id, COUNT(*) AS n, row_time FROM Readings [RANGE 5 TUPLES] GROUP BY id"),
        "extents": bound("SELECT COUNT(*) AS n, window_end FROM Readings [RANGE 6 seconds SLIDE 3 seconds]"),
    }
    answers = {name: expected(plan, {"Readings": since}) for name, plan in plans.items()}
    assert answers["rows"] == Counter([(1, 1, 2 * SECOND), (1, 2, 4 * SECOND)])
    assert (2, 3 * SECOND) in answers["extents"]  # one of the two rows before 1970 is late and not lost
    assert found(spark, plans, feed, tmp_path / "fused") == answers
    native = conformance.found(spark, plans["extents"], {"Readings": feed}, CATALOG, tmp_path / "native")
    assert native == answers["extents"]


def test_a_batch_dataframe_is_answered_as_a_whole(spark):
    rows = [(1, 2, 0), (2, 5, 1), (1, 3, 4), (1, 4, 20)]
    df = spark.createDataFrame(rows, "id int, v int, s int").selectExpr(
        "id",
        "'a' AS kind",
        "v",
        "1.0D AS x",
        "timestamp_seconds(s) AS ts",
        "timestamp_seconds(s) AS arrived",
        "'h' AS host",
    )
    plan = bound("SELECT id, SUM(v) AS total FROM Readings [RANGE 5 seconds] GROUP BY id")
    assert sorted(map(tuple, fuse(plan, {"Readings": df}).collect())) == [(1, 2), (1, 4), (1, 5), (2, 5)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "SELECT id, COUNT(*) FROM Readings [RANGE 5 seconds SLIDE 5 seconds] GROUP BY id EMIT FINAL WITH SYNC",
            "SYNC",
        ),
        ("SELECT R.id FROM Readings R [RANGE 5 seconds], Events E [RANGE 5 seconds] WHERE R.id = E.id", "two streams"),
        ("SELECT MEDIAN(v) FROM Readings [RANGE 5 TUPLES]", "median"),
        ("SELECT soundex(kind) AS s, MAX(v) FROM Readings [RANGE 5 TUPLES] GROUP BY soundex(kind)", None),
        ("SELECT MAX(v) FROM Readings [RANGE 5 TUPLES]", None),
    ],
)
def test_a_reason_says_why_a_plan_cannot_be_fused(text, why):
    found = reason(bound(text))
    assert found is None if why is None else found is not None and why.lower() in found.lower()


def test_buckets_are_spread_evenly_over_partitions(spark):
    df = spark.createDataFrame([(each,) for each in BUCKETS], "bucket int")
    for partitions in (1, 2, 4, 8):
        spread = df.groupBy(F.expr(f"pmod(hash(bucket), {partitions})")).count().collect()
        assert [row["count"] for row in spread] == [len(BUCKETS) // partitions] * partitions
