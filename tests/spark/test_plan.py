"""Plans of native operators on Spark answer what the interpreter answers, late rows and all."""

import pytest
from tests.spark.conformance import expected, found

from slackwater.algebra.nodes import Plan
from slackwater.errors import QueryError
from slackwater.lang import bind_query
from slackwater.rewrite import rewrite
from slackwater.spark.plan import compile_plan
from slackwater.testing.catalog import CATALOG, READINGS
from slackwater.testing.choices import Seeded
from slackwater.testing.streams import make_feeds

SECOND = 1_000_000
QUERIES = {
    "tumbling": """
        SELECT kind, COUNT(*) AS n, SUM(v) AS total, window_start, window_end
        FROM Readings [RANGE 5 seconds SLIDE 5 seconds] WHERE v > 0 OR id = 1 GROUP BY kind""",
    "overlapping, having": """
        SELECT id, AVG(x) AS mean, MAX(v) - MIN(v) AS spread, row_time
        FROM Readings [RANGE 6 seconds SLIDE 2 seconds] GROUP BY id HAVING COUNT(*) > 1""",
    "a range that the slide does not divide": """
        SELECT COUNT(v) AS n, window_start, window_end FROM Readings [RANGE 5 seconds SLIDE 3 seconds]""",
    "gaps between extents": """
        SELECT kind, COUNT(*) AS n, window_start, window_end
        FROM Readings [RANGE 2 seconds SLIDE 5 seconds] GROUP BY kind""",
    "a bare column": """
        SELECT id, v, COUNT(*) AS n FROM Readings [RANGE 6 seconds SLIDE 3 seconds] GROUP BY id HAVING SUM(v) > 0""",
    "rows as they are": """
        SELECT id, v * 2 AS doubled, window_end FROM Readings [RANGE 4 seconds SLIDE 2 seconds] WHERE v > 1""",
    "distinct": """
        SELECT DISTINCT kind, window_end FROM Readings [RANGE 6 seconds FREQUENCY 3 seconds]""",
}


def bound(text: str) -> Plan:
    return bind_query(text, CATALOG)


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_answers_as_the_interpreter_does(spark, tmp_path, name):
    plan = bound(QUERIES[name])
    feeds = make_feeds(Seeded(len(name)), ["Readings"], punctuation="trailing", unit=SECOND, max_rows=60)
    answer = expected(plan, feeds)
    assert answer
    assert found(spark, rewrite(plan).plan, feeds, CATALOG, tmp_path) == answer


@pytest.mark.parametrize(
    "text",
    [
        "SELECT MAX(v) FROM Readings [RANGE 30 seconds]",
        "SELECT id FROM Readings [RANGE 10 tuples, FREQUENCY 5 seconds]",
        "SELECT id, COUNT(*) FROM Readings GROUP BY id EMIT CHANGES",
    ],
)
def test_what_needs_another_operator_is_refused_by_name(spark, text):
    columns = ", ".join(f"{field.name} {field.type}" for field in READINGS.fields)
    with pytest.raises(QueryError) as caught:
        compile_plan(bound(text), {"Readings": spark.createDataFrame([], columns)})
    assert caught.value.code == "SW-301"
