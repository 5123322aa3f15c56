"""Plans of native operators on Spark answer what the interpreter answers, late rows and all."""

from collections.abc import Mapping
from itertools import count, product

import pytest
from tests.spark.conformance import answered, expected, found, found_at_rest

from slackwater.algebra.lengths import Kind
from slackwater.algebra.nodes import Plan, Scan, walk
from slackwater.algebra.properties.widening import common_type
from slackwater.algebra.schema import Expr, Field, Schema
from slackwater.app.frames import sql
from slackwater.lang import bind_query
from slackwater.rewrite import rewrite
from slackwater.semantics import Feed, FeedBatch, interpret
from slackwater.spark.planner.joins import _equalities
from slackwater.spark.planner.ways import Host, way_of
from slackwater.testing.catalog import CATALOG
from slackwater.testing.choices import Seeded
from slackwater.testing.plans import Shape, seeded_case
from slackwater.testing.streams import make_feeds

SECOND = 1_000_000
STREAMED = {
    "overlapping, having, a bare column": """
        SELECT id, v, AVG(x) AS mean, MAX(v) - MIN(v) AS spread, FIRST(kind) AS kind, row_time
        FROM Readings [RANGE 6 seconds SLIDE 2 seconds] GROUP BY id HAVING COUNT(*) > 1""",
    "gaps between extents": """
        SELECT kind, COUNT(DISTINCT v) AS n, window_start, window_end
        FROM Readings [RANGE 2 seconds SLIDE 5 seconds] WHERE v > 0 OR id = 1 GROUP BY kind""",
    "a stream beside the rows of extents": """
        SELECT id, row_time FROM Readings WHERE v > 1
        UNION ALL SELECT id, window_end AS row_time FROM Events [RANGE 4 seconds SLIDE 2 seconds]""",
    "nested, sync": """
        SELECT COUNT(*) AS n, MAX(most) AS most
        FROM (SELECT id, MAX(v) AS most FROM Readings [RANGE 4 seconds SLIDE 2 seconds] GROUP BY id) AS q
             [RANGE 6 seconds SLIDE 3 seconds]
        HAVING COUNT(*) > 2 EMIT FINAL WITH SYNC""",
    "the toll query": """
        SELECT DISTINCT Active.id, Active.v, window_end AS billed
        FROM Readings AS Active [RANGE 3 seconds SLIDE 3 seconds],
             (SELECT v, AVG(x) AS average FROM Readings [RANGE 9 seconds SLIDE 3 seconds]
              GROUP BY v HAVING AVG(x) < 2) AS Slow
        WHERE Active.v = Slow.v EMIT FINAL WITH SYNC""",
    "three inputs, aggregated": """
        SELECT a.id, COUNT(*) AS n, SUM(c.v) AS total
        FROM Readings AS a [RANGE 4 seconds SLIDE 4 seconds], Events AS b [RANGE 8 seconds SLIDE 4 seconds],
             Pulses AS c [RANGE 4 seconds SLIDE 4 seconds]
        WHERE a.id = b.id AND b.id = c.id GROUP BY a.id""",
    "except": """
        SELECT id, v FROM Readings [RANGE 6 seconds SLIDE 3 seconds]
        EXCEPT SELECT id, v FROM Events [RANGE 3 seconds SLIDE 3 seconds]""",
    "overlapping so much that panes are used": """
        SELECT id, COUNT(*) AS n, MAX(v) AS most FROM Readings [RANGE 80 seconds SLIDE 2 seconds] GROUP BY id""",
}
AT_REST = {
    "a range that the slide does not divide": """
        SELECT COUNT(v) AS n, window_start, window_end FROM Readings [RANGE 5 seconds SLIDE 3 seconds]""",
    "bounds of extents above a subquery": """
        SELECT most, n, window_start, window_end FROM (
            SELECT MAX(n) AS most, COUNT(*) AS n FROM (
                SELECT id, COUNT(*) AS n FROM Readings [RANGE 6 seconds SLIDE 3 seconds] GROUP BY id) AS p) AS q
        WHERE window_start >= row_time - INTERVAL '7' SECOND""",
    "parts that are not groups": """
        SELECT COUNT(*) AS n, window_end FROM Readings [RANGE 4 seconds, FREQUENCY 2 seconds PARTITIONED BY id]""",
    "distinct in each part": """
        SELECT DISTINCT kind FROM Readings [RANGE 6 seconds, FREQUENCY 3 seconds PARTITIONED BY id]""",
    "distinct groups": """
        SELECT DISTINCT n
        FROM (SELECT COUNT(*) AS n FROM Readings [RANGE 6 seconds SLIDE 3 seconds] GROUP BY id) AS q""",
    "the first and the last": """
        SELECT id, FIRST(v) AS one, LAST(x) IGNORE NULLS AS two, COUNT(*) FILTER (WHERE v > 1) AS n,
               ANY_VALUE(kind) AS any, COLLECT_LIST(v) AS listed, MIN_BY(x, v) AS least,
               MAX_BY(x, kind) FILTER (WHERE v > 0) AS most
        FROM Readings [RANGE 6 seconds SLIDE 3 seconds] GROUP BY id""",
    "a union of two slides, read at boundaries": """
        SELECT COUNT(*) AS n, window_end FROM (
            SELECT id FROM Readings [RANGE 2 seconds SLIDE 2 seconds]
            UNION ALL SELECT id FROM Events [RANGE 3 seconds SLIDE 3 seconds]) AS q GROUP BY window_end""",
    "types that differ, in a set operation": """
        SELECT v, NULL AS at FROM Events [RANGE 4 seconds SLIDE 2 seconds]
        EXCEPT SELECT x, ts FROM Readings [RANGE 4 seconds SLIDE 2 seconds]
        UNION ALL SELECT CAST(x AS DECIMAL(9,3)), CAST(ts AS DATE) FROM Readings [RANGE 4 seconds SLIDE 2 seconds]""",
    "a stream in a subquery": """
        SELECT q.id, COUNT(*) AS n FROM (SELECT id FROM Readings WHERE v > 0) AS q [RANGE 4 seconds SLIDE 2 seconds]
        GROUP BY q.id""",
}
NATIVE = Shape(
    instants=("boundaries", "boundaries", "stream"),
    ranges=(Kind.TIME,),
    result_frequencies=False,
    ordered=False,
    unit=SECOND,
)
"""What Spark has operators for, but for joins of streams without boundaries: the seeds below draw none."""


def bound(text: str) -> Plan:
    return bind_query(text, CATALOG)


def in_one_batch(feeds: Mapping[str, Feed]) -> dict[str, Feed]:
    """Return the same rows at once, so that none is late."""
    return {name: Feed((FeedBatch(_rows(feed)),)) for name, feed in feeds.items()}


def disordered(plan: Plan) -> dict[str, Feed]:
    """Return feeds over which the plan has at least five answers, and some window misses a late row."""
    streams = sorted({node.stream for node in walk(plan) if isinstance(node, Scan)})
    for seed in count():
        options = {"punctuation": "trailing", "unit": SECOND, "max_rows": 60, "max_batches": 4}
        feeds = make_feeds(Seeded(seed), streams, **options)
        if interpret(plan, feeds).lost and expected(plan, feeds).total() >= 5:
            return feeds
    raise AssertionError


def _rows(feed: Feed) -> tuple[Mapping[str, object], ...]:
    return tuple(row for batch in feed.batches for row in batch.rows)


@pytest.mark.parametrize("name", STREAMED)
def test_a_query_answers_as_the_interpreter_does(spark, tmp_path, name):
    plan = bound(STREAMED[name])
    feeds = disordered(plan)
    assert found(spark, rewrite(plan).plan, feeds, CATALOG, tmp_path) == expected(plan, feeds)


@pytest.mark.parametrize("name", AT_REST)
def test_a_query_over_all_of_its_input_at_once(spark, name):
    plan = bound(AT_REST[name])
    made = make_feeds(Seeded(len(name)), ["Readings", "Events"], unit=SECOND, max_rows=60)
    feeds = in_one_batch(made)
    answer = answered(plan, interpret(plan, feeds, flush=True))
    assert answer
    assert found_at_rest(spark, rewrite(plan).plan, feeds, CATALOG) == answer


@pytest.mark.parametrize("seed", [102, 105, 111, 114, 115, 118])
def test_random_plans_over_disordered_streams_in_random_batches(spark, tmp_path, seed):
    case = seeded_case(seed, NATIVE, punctuation="trailing", max_rows=30, max_batches=4)
    plan = rewrite(case.plan).plan
    assert way_of(plan).host is Host.NATIVE
    answer = expected(case.plan, case.feeds)
    assert answer
    assert found(spark, plan, case.feeds, CATALOG, tmp_path) == answer


@pytest.mark.slow
def test_random_plans_over_all_of_their_input_at_once(spark):
    answers = 0
    for seed in [*range(10), *range(11, 20)]:
        case = seeded_case(seed, NATIVE, max_rows=30)
        feeds = in_one_batch(case.feeds)
        answer = answered(case.plan, interpret(case.plan, feeds, flush=True))
        plan = rewrite(case.plan).plan
        assert way_of(plan).host is Host.NATIVE, seed
        assert found_at_rest(spark, plan, feeds, CATALOG) == answer, seed
        answers += bool(answer)
    assert answers > 10


def test_rows_that_cannot_be_compared_are_held_all_the_same(spark):
    rows = spark.sql("SELECT map('a', id) AS m, timestamp_seconds(id) AS ts FROM range(0, 5)").union(
        spark.sql("SELECT map('a', 0L) AS m, timestamp_seconds(0) AS ts")
    )
    found = sql("SELECT m, window_end FROM S [RANGE 2 seconds SLIDE 2 seconds] WHERE m['a'] < 3", S=rows).collect()
    assert sorted((row.m["a"], row.window_end.timestamp()) for row in found) == [(0, 2), (0, 2), (1, 2), (2, 4)]


def test_rows_of_one_time_are_in_the_order_of_their_source(spark, tmp_path):
    """Of one file, and of the partitions of a DataFrame."""
    values = [(5, 1), (3, 1), (9, 1), (7, 2), (1, 2), (4, 2)]
    lines = "".join(f'{{"v": {v}, "ts": "1970-01-01T00:00:0{second}Z"}}\n' for v, second in values)
    (tmp_path / "rows.json").write_text(lines)
    of_file = spark.read.schema("v int, ts timestamp").json(str(tmp_path))
    of_partitions = spark.sql("SELECT CAST(id % 997 AS INT) AS v, timestamp_seconds(1) AS ts FROM range(0, 5000, 1, 7)")
    text = "SELECT FIRST(v) AS one, LAST(v) AS two, ANY_VALUE(v) AS three, v FROM S [RANGE 10 seconds SLIDE 10 seconds]"
    assert [tuple(row) for row in sql(text, S=of_file).collect()] == [(5, 4, 5, 4)]
    assert [tuple(row) for row in sql(text, S=of_partitions).collect()] == [(0, 4999 % 997, 0, 4999 % 997)]


def test_common_types_are_those_of_spark(spark):
    kinds = ["tinyint", "smallint", "int", "bigint", "float", "double", "decimal(10,2)", "decimal(5,5)"]
    kinds += ["decimal(38,0)", "decimal(38,30)", "date", "timestamp", "timestamp_ntz", "string", "boolean", "void"]
    pairs = [(one, two) for one, two in product(kinds, kinds) if common_type(one, two)]
    sides = [", ".join(f"CAST(NULL AS {kind})" for kind in side) for side in zip(*pairs, strict=True)]
    united = spark.sql(f"SELECT {sides[0]} UNION ALL SELECT {sides[1]}")
    assert [field.dataType.simpleString() for field in united.schema] == [common_type(*pair) for pair in pairs]


def test_columns_that_must_be_equal_are_found_in_parentheses():
    left, right = (Schema((Field("id", "int", side), Field("v", "int", side))) for side in ("A", "B"))
    condition = Expr("(A.id = B.id AND A.v > 1) AND B.v > 2", "boolean")
    assert list(_equalities(left, right, condition)) == [("A__id", "B__id")]
    assert list(_equalities(left, right, None)) == []
