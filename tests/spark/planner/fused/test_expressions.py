"""Small expressions over whole columns against Spark itself; all others are left to Spark."""

from __future__ import annotations

import math
from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from slackwater.algebra.expressions import parse_expr, type_expr
from slackwater.algebra.schema import Field, Schema
from slackwater.engine.columns.arrays import arrow_type
from slackwater.engine.expressions import evaluate
from slackwater.errors import QueryError
from slackwater.spark.planner.fused.expressions import is_small, tree_of


def as_spark_says(spark: SparkSession, rows: pa.Table, expressions: list[str]) -> list[pa.Array]:
    """Return Spark's value of each expression over the rows, in their order."""
    found = spark.createDataFrame(rows).coalesce(1).selectExpr(*(f"{sql} AS c{n}" for n, sql in enumerate(expressions)))
    return [column.combine_chunks() for column in found.toArrow().columns]


ENDS = [0, 1, -1, 3, -3, 7, -7]
TYPED = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
COMPARED = ["a < b", "a = b", "a <=> b", "a >= b", "NOT a <> b", "a > 3 OR b IS NULL"]


@pytest.mark.parametrize("kind", TYPED)
def test_whole_numbers_are_compared_as_in_spark_up_to_the_ends_of_the_type(spark: SparkSession, kind: str):
    most = 2 ** (TYPED[kind] - 1) - 1
    ends = [*ENDS, most, most - 1, -most, -most - 1, None]
    a, b = (pa.array(column, arrow_type(kind)) for column in zip(*((a, b) for a in ends for b in ends), strict=True))
    rows = pa.table({"a": a, "b": b})
    schema = Schema((Field("a", kind), Field("b", kind)))
    for sql, expected in zip(COMPARED, as_spark_says(spark, rows, COMPARED), strict=True):
        found = evaluate(tree_of(type_expr(parse_expr(sql), schema), schema), rows.combine_chunks().to_batches()[0])
        assert found.equals(expected), (sql, kind)


SPECIAL = {
    "n": ("string", ["10", "9", " 8 ", "-1", None]),
    "id": ("int", [1, 9, 10, -1, None]),
    "x": ("double", [1.005, math.nan, 9.0, -2.5, None]),
    "d": ("decimal(10,2)", [Decimal("9.99"), Decimal("-9.99"), Decimal("10.00"), Decimal("0.50"), None]),
    "s": ("string", [" ab ", "Straße", "aXa", "ὈΔΥΣΣΕΎΣ ŉ ﬁ İ", None]),
    "pos": ("int", [1, 3, -2, 0, None]),
    "many": ("int", [1, 2, 1, -1, 3]),
    "t": ("string", ["2024-01-01T12:00:01Z", "2024-01-01", "2024-01-02 00:00:00", "1999", None]),
    "ts": ("timestamp", [1_704_110_401_000_000, 1_704_067_200_000_000, 0, 1_704_110_400_999_999, None]),
    "day": ("date", [19_723, 19_724, 0, -1, None]),
    "p": ("boolean", [True, False, True, False, None]),
    "r": ("double", [2.675, -1.005, 0.285, 1e308, -0.3]),
    "q": ("double", [0.5, 1.5, 123456789.125, 5e-324, math.inf]),
    "nan": ("double", [math.nan] * 5),
    "e": ("decimal(3,2)", [Decimal("9.99"), Decimal("-9.95"), Decimal("0.05"), Decimal("0.00"), None]),
    "h": ("decimal(38,18)", [Decimal("9.990000000000000001"), Decimal("-2147483648.5"), Decimal(7), Decimal(0), None]),
    "w": ("decimal(38,0)", [Decimal(2**63 - 1), Decimal(-(2**63)), Decimal(7), Decimal(0), None]),
    "f": ("float", [1.005, 2.5, -0.5, 16777216.0, math.nan]),
}
ALIKE = """
n = '10' ; n <> s ; n <=> t ; s < 'b' ; n >= t ; id > 9 ; id <= x ; d > 9 ; e < d ; x > 1.25 ; id < 9.5 ; x = nan
s = 'aXa' AND id > 9 ; s <> 'aXa' AND id < 9 ; p AND id > 1 ; p OR x > 1 ; NOT p ; p IS NOT TRUE ; s IS NULL ; p = TRUE
id + pos ; id * many - pos ; x + r ; x * 2 ; -id ; -x ; x - id ; id * 2 > x ; -2147483648 ; f = f
id IN (9, 10, NULL) ; id NOT IN (1, pos) ; n IN ('10', s) ; id BETWEEN pos AND 9 ; x NOT BETWEEN -3 AND id
f > x ; ts > ts ; day = day ; ts <=> ts ; day >= day
"""
RICH = """
n > 9 ; n <> id ; id IN (9, '10') ; n BETWEEN 1 AND 9 ; NULLIF(id, 10) ; CASE n WHEN 10 THEN 'ten' END ; p = 'true'
ts >= '2024-01-01T12:00:01Z' ; day >= ts ; SUBSTRING(s, pos, 1) ; TRIM(s) ; UPPER(s) ; GREATEST(x, nan) ; ROUND(x, 2)
CAST(d AS INT) ; ts + INTERVAL 1 DAY ; d * 2 ; id / 2 ; id % 2 ; COALESCE(n, 0) ; s LIKE n ; s RLIKE 'a' ; d + id
soundex(s) ; 99999999999999999999 + id ; id & 3 ; s || 'z' ; LENGTH(s) ; -d ; IF(p, 1, 2) ; id = p
"""


@pytest.mark.parametrize("line", ALIKE.strip().splitlines())
def test_an_expression_is_sparks(spark: SparkSession, line: str):
    rows = pa.table({name: pa.array(values, arrow_type(kind)) for name, (kind, values) in SPECIAL.items()})
    schema = Schema(tuple(Field(name, kind) for name, (kind, _) in SPECIAL.items()))
    expressions = [sql.strip() for sql in line.split(" ; ")]
    none = pa.RecordBatch.from_pylist([], rows.schema)
    assert all(is_small(parse_expr(sql), schema) for sql in expressions)
    for sql, expected in zip(expressions, as_spark_says(spark, rows, expressions), strict=True):
        found = evaluate(tree_of(type_expr(parse_expr(sql), schema), schema), rows.combine_chunks().to_batches()[0])
        assert same(found, expected.cast(found.type)), (sql, found.to_pylist(), expected.to_pylist())
        some = evaluate(
            tree_of(type_expr(parse_expr(sql), schema), schema),
            rows.combine_chunks().to_batches()[0].slice(2, 2),
        )
        assert same(some, found.slice(2, 2)), sql
        assert evaluate(tree_of(type_expr(parse_expr(sql), schema), schema), none).type == found.type, sql


@pytest.mark.parametrize("sql", [sql.strip() for line in RICH.strip().splitlines() for sql in line.split(" ; ")])
def test_what_is_not_small_is_left_to_spark(sql: str):
    """Of most the engine has no tree; the rest has types that it would have to treat as Spark does."""
    schema = Schema(tuple(Field(name, kind) for name, (kind, _) in SPECIAL.items()))
    assert not is_small(parse_expr(sql), schema)


@pytest.mark.parametrize("sql", ["UPPER(s)", "id / 2", "soundex(s)", "99999999999999999999 + id"])
def test_the_engine_has_no_tree_of_what_it_cannot_evaluate(sql: str):
    schema = Schema(tuple(Field(name, kind) for name, (kind, _) in SPECIAL.items()))
    with pytest.raises(QueryError, match="SW-352"):
        tree_of(type_expr(parse_expr(sql), schema), schema)


def same(one: pa.Array, two: pa.Array) -> bool:
    if not pa.types.is_floating(one.type):
        return bool(one.equals(two))
    return [repr(each) for each in one.to_pylist()] == [repr(each) for each in two.to_pylist()]
