"""Functions, UDFs, decimals and time zones around the engine: what Spark evaluates is what Spark says."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from tests.spark.planner.fused.running import found

from slackwater.lang import bind_query, parse_script
from slackwater.rewrite import rewrite
from slackwater.semantics import Feed, FeedBatch
from slackwater.spark.operator.writing import DEFAULT, Form
from slackwater.spark.planner.fused.fuse import fuse
from slackwater.spark.planner.ways import Host, way_of
from slackwater.testing.catalog import CATALOG

COLUMNS = "id INT, kind STRING, v INT, x DOUBLE, d DECIMAL(10,2), ts TIMESTAMP"
ROWS = [
    (1, "Straße", 3, 1.25, "1.10", 1_704_110_400),
    (2, "ab", -7, 2.675, "2.05", 1_704_110_460),
    (1, "Straße", 4, -0.5, "3.33", 1_704_153_601),
    (2, None, 0, 9.75, None, 1_704_153_662),
    (3, "AB", 12, 2.5, "-1.00", 1_704_240_000),
]


def rows(spark: SparkSession, *more: str) -> DataFrame:
    plain = spark.createDataFrame(ROWS, "id int, kind string, v int, x double, d string, s bigint")
    typed = plain.selectExpr("id", "kind", "v", "x", "CAST(d AS DECIMAL(10,2)) AS d", "timestamp_seconds(s) AS ts")
    return typed.selectExpr("*", *more)


def answer(df: DataFrame, text: str, form: Form = DEFAULT) -> Counter[tuple[Any, ...]]:
    declared = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in df.schema)
    script = f"CREATE STREAM S ({declared}) USING rate OPTIONS (a '1') TIMESTAMP BY ts"
    plan = rewrite(bind_query(text, parse_script(script).catalog)).plan
    assert way_of(plan).host is Host.FUSED
    return Counter(map(tuple, fuse(plan, {"S": df}, form=form).collect()))


REFUSED_BEFORE = {
    "a formatted date as the group": (
        "SELECT {0} AS day, COUNT(*) AS n FROM S GROUP BY {0} EMIT CHANGES",
        "date_format(ts, 'yyyy-MM-dd')",
    ),
    "the argument of an aggregate": (
        "SELECT id, MAX({0}) AS most FROM S [RANGE 1 DAY] GROUP BY id EMIT CHANGES",
        "year(ts) * 100 + month(ts)",
    ),
    "a condition and a join": (
        "SELECT a.id, b.v FROM S a [RANGE 1 DAY], S b [RANGE 1 DAY] WHERE a.{0} = b.{0} EMIT CHANGES",
        "soundex(kind)",
    ),
    "a decimal": (
        "SELECT kind, SUM({0}) AS total FROM S [RANGE 2 DAYS] GROUP BY kind EMIT CHANGES",
        "d * 1.005 + CAST(x AS DECIMAL(8,3))",
    ),
    "a UDF": (
        "SELECT {0} AS k, SUM(v) AS total FROM S [RANGE 3 TUPLES] GROUP BY {0} EMIT CHANGES",
        "backwards(kind)",
    ),
}


@pytest.mark.parametrize("name", REFUSED_BEFORE)
def test_a_function_is_as_good_as_a_column(spark: SparkSession, name: str):
    spark.udf.register("backwards", lambda text: None if text is None else text[::-1], "string")
    query, expression = REFUSED_BEFORE[name]
    every = Form(net=False)
    wanted = answer(rows(spark, f"{expression} AS told"), query.format("told"), every)
    spoken = query.replace("a.{0} = b.{0}", "soundex(a.kind) = soundex(b.kind)").format(expression)
    assert len(wanted) > 2
    assert answer(rows(spark), spoken, every) == wanted


GROUPS = "SELECT id, MAX(kind) AS k, MAX(ts) AS t, SUM(d) AS s FROM S GROUP BY id"
BETWEEN_OPERATORS = {
    "one side of a join": "SELECT P.told, r.v FROM (SELECT id, soundex(k) AS told FROM (GROUPS) AS I) AS P, S AS r "
    "WHERE P.id = r.id",
    "a UDF beside the stream itself": "SELECT P.told, r.v FROM (SELECT id, backwards(k) AS told FROM (GROUPS) AS I) "
    "AS P, S AS r WHERE P.id = r.id",
    "the equality of a join": "SELECT P.s, r.v FROM (GROUPS) AS P, S AS r WHERE hour(P.t) = hour(r.ts)",
    "a condition over both sides": "SELECT P.k, r.v FROM (GROUPS) AS P, S AS r WHERE backwards(P.k) > r.kind",
    "one side of UNION ALL": "SELECT told, COUNT(*) AS n FROM (SELECT date_format(t, 'dd') AS told FROM (GROUPS) AS I "
    "UNION ALL SELECT kind AS told FROM S) AS P GROUP BY told",
    "a decimal": "SELECT round(s * 1.005, 1) AS told, COUNT(*) AS n FROM (GROUPS) AS P GROUP BY round(s * 1.005, 1)",
}


@pytest.mark.parametrize("name", BETWEEN_OPERATORS)
def test_what_stands_between_two_operators_of_a_changelog_is_sparks(spark: SparkSession, name: str):
    spark.udf.register("backwards", lambda text: None if text is None else text[::-1], "string")
    query = BETWEEN_OPERATORS[name].replace("GROUPS", GROUPS)
    rows(spark).createOrReplaceTempView("S")
    wanted = Counter(map(tuple, spark.sql(query).collect()))
    spark.catalog.dropTempView("S")
    found = answer(rows(spark), f"{query} EMIT CHANGES")
    assert Counter(row[3:] for row in found.elements()) == wanted and len(wanted) > 1


def test_the_select_list_of_a_changelog_is_sparks(spark: SparkSession):
    """Of two averages that are rounded to the same number nothing is told: the net change is that of the result."""
    inner = "SELECT id, AVG(x) AS mean FROM S GROUP BY id EMIT CHANGES"
    plain = answer(rows(spark), inner)
    told = answer(
        rows(spark),
        "SELECT id, format_number(ROUND(AVG(x), 1), 2) AS mean FROM S GROUP BY id HAVING ABS(AVG(x)) > 1 EMIT CHANGES",
    )
    wanted = Counter((*row[:4], f"{round(row[4] + 1e-9, 1):.2f}") for row in plain if abs(row[4]) > 1)
    assert told == wanted


def test_a_session_in_another_time_zone_says_its_own_hours(spark: SparkSession):
    zone = spark.conf.get("spark.sql.session.timeZone")
    try:
        spark.conf.set("spark.sql.session.timeZone", "America/New_York")
        df = rows(spark)
        hours = "CAST(ts AS STRING), hour(ts), CAST(ts AS DATE)"
        plain = Counter(map(tuple, df.selectExpr(*hours.split(", "), "id").collect()))
        told = answer(df, "SELECT HOURS, id, row_number FROM S [RANGE 3 TUPLES]".replace("HOURS", hours))
        assert Counter(row[:-1] for row in told.elements()) == plain
        days = Counter(map(tuple, df.groupBy(F.expr("CAST(ts AS DATE)")).count().collect()))
        told = answer(df, "SELECT CAST(ts AS DATE) AS day, COUNT(*) AS n FROM S GROUP BY CAST(ts AS DATE) EMIT CHANGES")
        assert Counter(row[3:] for row in told.elements()) == days
        late = answer(df, "SELECT id, v, row_number FROM S [RANGE 3 TUPLES] WHERE ts >= '2024-01-01 19:00:00'")
        wanted = Counter(map(tuple, df.where("ts >= '2024-01-01 19:00:00'").select("id", "v").collect()))
        assert Counter(row[:-1] for row in late.elements()) == wanted
        assert 0 < len(wanted) < len(ROWS)
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)


def test_functions_run_on_a_stream_and_are_guarded_by_where(spark: SparkSession, tmp_path):
    texts = {
        "guarded": "SELECT upper(kind) AS k, SUM(12 / v) AS s FROM Readings [RANGE 9 TUPLES] WHERE v <> 0 "
        "GROUP BY upper(kind)",
        "changes": "SELECT concat(lower(kind), '!') AS k, round(AVG(x / 3), 1) AS s FROM Readings GROUP BY kind "
        "HAVING COUNT(*) > 1 EMIT CHANGES",
    }
    given = [("a", 0, 3.0), ("A", 2, 1.5), ("a", 3, 6.0), ("a", 0, 9.0)]
    batch = tuple(
        {"id": 1, "kind": kind, "v": v, "x": x, "ts": second * 1_000_000, "arrived": second * 1_000_000, "host": "h"}
        for second, (kind, v, x) in enumerate(given)
    )
    feed = Feed((FeedBatch(batch, 10_000_000), FeedBatch((), 20_000_000)))
    plans = {name: rewrite(bind_query(text, CATALOG)).plan for name, text in texts.items()}
    answers = found(spark, plans, feed, tmp_path)
    assert answers["guarded"] == Counter([("A", 6.0), ("A", 10.0)])
    assert [row[3:] for row in answers["changes"]] == [("a!", 2.0)]
