"""Fused plans on Spark answer what the interpreter answers, late rows and all."""

from __future__ import annotations

import pytest
from tests.spark.conformance import expected
from tests.spark.fused.running import found

from slackwater.algebra.nodes import Plan
from slackwater.lang import bind_query
from slackwater.rewrite import rewrite
from slackwater.testing.catalog import CATALOG
from slackwater.testing.choices import Seeded
from slackwater.testing.streams import make_feed

SECOND = 1_000_000
KINDS = {
    "windows at every row": {
        "time": "SELECT id, COUNT(*) AS n, SUM(v) AS total, AVG(x) AS mean, row_time "
        "FROM Readings [RANGE 5 seconds] WHERE v > 0 OR id = 1 GROUP BY id HAVING COUNT(*) > 1",
        "tuples": "SELECT MAX(v) - MIN(v) AS spread, COUNT(DISTINCT kind) AS kinds FROM Readings [RANGE 4 TUPLES]",
        "tuples by part": "SELECT id, kind, v, row_number FROM Readings "
        "[RANGE 3 TUPLES, FREQUENCY 1 TUPLE PARTITIONED BY id]",
    },
    "jumping windows": {
        "tuples": "SELECT kind, AVG(x) AS mean FROM Readings [RANGE 7 TUPLES, FREQUENCY 3 TUPLES] GROUP BY kind",
        "a time, every so many tuples": "SELECT id, COUNT(*) AS n FROM Readings "
        "[RANGE 6 seconds, FREQUENCY 4 TUPLES] GROUP BY id",
        "tuples every so often": "SELECT kind, v, window_end FROM Readings "
        "[RANGE 3 TUPLES, FREQUENCY 4 seconds PARTITIONED BY kind]",
    },
    "frequencies": {
        "of the input": "SELECT id, v FROM Readings [FREQUENCY 3 TUPLES] WHERE v > 0",
        "of the input, by part": "SELECT * FROM Readings [FREQUENCY 3 seconds PARTITIONED BY id]",
        "of the result": "SELECT kind, COUNT(*) AS n [FREQUENCY 2 TUPLES] "
        "FROM Readings [RANGE 5 seconds] GROUP BY kind",
        "of both, by part": "SELECT id, v [FREQUENCY 4 seconds PARTITIONED BY id] "
        "FROM Readings [FREQUENCY 2 TUPLES PARTITIONED BY id]",
    },
    "nested": {
        "one partitioning": "SELECT id, AVG(n) AS mean [FREQUENCY 4 seconds PARTITIONED BY id] FROM "
        "(SELECT id, COUNT(*) AS n [FREQUENCY 2 TUPLES PARTITIONED BY id] FROM Readings [RANGE 4 seconds] GROUP BY id) "
        "AS P [RANGE 20 seconds, FREQUENCY 1 TUPLE] GROUP BY id",
        "two partitionings": "SELECT kind, MAX(n) AS most FROM "
        "(SELECT id, LAST(kind) AS kind, COUNT(*) AS n FROM Readings [RANGE 4 seconds] GROUP BY id) AS P "
        "[RANGE 5 TUPLES, FREQUENCY 1 TUPLE PARTITIONED BY kind] GROUP BY kind",
    },
}


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
