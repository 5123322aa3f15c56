"""Expressions over whole columns against Spark itself: casts of every kind, and arithmetic at the ends of types."""

from __future__ import annotations

import math
from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from slackwater.algebra.expressions import parse_expr, type_expr
from slackwater.algebra.schema import Field, Schema
from slackwater.engine.columns.types import arrow_type
from slackwater.engine.expressions.casts import cast
from slackwater.engine.expressions.evaluate import evaluate
from slackwater.errors import QueryError, RunError
from slackwater.spark.planner.fused.trees import tree_of

NUMBERS = ["boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string"]
NUMBERS += ["decimal(10,2)", "decimal(38,10)", "decimal(5,0)"]
TIMES = ["string", "date", "timestamp", "timestamp_ntz"]
TEXTS = [
    *("7", " 12 ", "\t3\n", "+5", "-0", "007", "300", "1.9", "1.", "-.5", ".", "1e3", "1E-2", "12.345", "1e-300"),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775808", "1234567890.123", "1" * 38, "1" * 39),
    *("x", "", "1_000", "1L", "0x1F", "1.5f", "2d", "NaN", "nan", "Infinity", "-inf", "+Infinity", "1e400"),
    *("true", "T", "yes", "N", "0", "1", "off", "TRUE "),
    *("2024-01-02", "2024-1-2", " 2024-01-02 ", "2024-01", "2024", "2024-02-30", "2024-13-01", "2024-01-02x"),
    *("2024-01-02 03:04:05", "2024-01-02T03:04:05", "2024-01-02 3:4", "2024-01-02T03", "2024-01-02T", "2024-01-02 x"),
    *("2024-01-02 03:04:05.123456", "2024-01-02 03:04:05.1234567", "2024-01-02 24:00:00", "2024-01-02 03:60:00"),
    *("2024-01-02T03:04:05Z", "2024-01-02T03:04:05+01:00", "2024-01-02 03:04:05-05:30", "2024-01-02 03:04:05 UTC"),
    *("2024-07-02 03:04:05 Europe/Paris", "2024-01-02 03:04:05 Mars/Olympus", "1969-12-31 23:59:59.5", "0001-01-01"),
    *("20240102", "12345-01-02", "-0001-01-02"),
]
WHOLE = [0, 1, -1, 127, 128, 1_700_000_000, -(2**31), 2**31 - 1]
LONG = [*WHOLE, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), 9_223_372_036_854, 9_223_372_036_855, -9_223_372_036_855]
FLOATS = [
    *(0.0, -0.0, 1.5, -1.9, 127.9, 128.0, 0.005, 1.005, 2147483647.5, 2147483648.0, -2147483648.9, 1234567.891),
    *(1e-3, 1e-4, 1e7, 123456789.5, 1700000000.123456, -1.5e-6, 1e13, 9.2e18, 2.0**63, 1e20, 1e-300, 5.5e-30),
    *(math.nan, math.inf, -math.inf),
]
DECIMALS = [Decimal(each) for each in ("0", "1.500", "-1.999", "127.999", "128", "0.005", "99999999999999999.999")]
MOMENTS = [0, 1_704_164_645_123_456, -500_000, 1_704_153_600_000_000, 2_209_075_200_100_000, 60_500_000]
CASTS = {
    "string": (TEXTS, [*NUMBERS, *TIMES, "binary"]),
    "boolean": ([True, False], NUMBERS),
    "tinyint": ([0, 1, -128, 127], [*NUMBERS, "timestamp"]),
    "int": (WHOLE, [*NUMBERS, "timestamp"]),
    "bigint": (LONG, [*NUMBERS, "timestamp"]),
    "float": ([0.0, 1.5, -1.9, 0.1, 16777216.0, 1e10, 2.0**63, math.nan], [*NUMBERS, "timestamp"]),
    "double": (FLOATS, [*NUMBERS, "timestamp"]),
    "decimal(20,3)": (DECIMALS, NUMBERS),
    "date": ([0, -1, 19_724], TIMES),
    "timestamp": (MOMENTS, [*NUMBERS[1:], *TIMES]),
    "timestamp_ntz": (MOMENTS, TIMES),
}


def as_spark_says(spark: SparkSession, rows: pa.Table, expressions: list[str]) -> list[pa.Array]:
    """Return Spark's value of each expression over the rows, in their order."""
    found = spark.createDataFrame(rows).coalesce(1).selectExpr(*(f"{sql} AS c{n}" for n, sql in enumerate(expressions)))
    return [column.combine_chunks() for column in found.toArrow().columns]


@pytest.mark.parametrize("source", CASTS)
def test_a_cast_is_sparks_and_what_spark_cannot_cast_is_null_or_an_error(spark: SparkSession, source: str):
    values, targets = CASTS[source]
    column = pa.array([*values, None], arrow_type(source))
    wanted = as_spark_says(spark, pa.table({"x": column}), [f"TRY_CAST(x AS {target})" for target in targets])
    for target, expected in zip(targets, wanted, strict=True):
        found = cast(column, arrow_type(target), tries=True)
        assert same(found, expected.cast(found.type)), (target, differences(column, found, expected))
        if expected.null_count > 1:
            with pytest.raises(RunError, match="SW-582"):
                cast(column, arrow_type(target))
        possible = column.filter(expected.is_valid())
        assert same(cast(possible, arrow_type(target)), expected.drop_null().cast(found.type)), target


ENDS = [0, 1, -1, 3, -3, 7, -7]
TYPED = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
ARITHMETIC = ["pmod(a, b)", "a % b", "a & b", "a | b", "a & 3 | b"]


@pytest.mark.parametrize("kind", TYPED)
def test_arithmetic_of_whole_numbers_is_sparks_up_to_the_ends_of_the_type(spark: SparkSession, kind: str):
    most = 2 ** (TYPED[kind] - 1) - 1
    ends = [*ENDS, most, most - 1, -most, -most - 1]
    pairs = [(a, b) for a in [*ends, None] for b in [*ends, None] if b != 0]
    a, b = (pa.array(column, arrow_type(kind)) for column in zip(*pairs, strict=True))
    rows = pa.table({"a": a, "b": b})
    schema = Schema((Field("a", kind), Field("b", kind)))
    expressions = [*ARITHMETIC, "a div b"] if kind != "bigint" else [*ARITHMETIC, "IF(b = -1, a, a div b)"]
    for sql, expected in zip(expressions, as_spark_says(spark, rows, expressions), strict=True):
        found = evaluate(tree_of(type_expr(parse_expr(sql), schema), schema), rows.combine_chunks().to_batches()[0])
        assert found.equals(expected.cast(found.type)), (sql, kind, differences(a, found, expected))


def test_a_quotient_that_is_no_bigint_is_an_error_as_in_spark(spark: SparkSession):
    rows = pa.table({"a": [-(2**63)], "b": [-1]})
    with pytest.raises(Exception, match="ARITHMETIC_OVERFLOW"):
        as_spark_says(spark, rows, ["a div b"])
    with pytest.raises(RunError, match="SW-581"):
        evaluate(("div", ("column", "a"), ("column", "b")), rows.to_batches()[0])


def test_values_are_joined_to_text_as_spark_writes_them(spark: SparkSession):
    rows = pa.table({"s": ["a", None], "x": [20.0, 1.0], "t": pa.array([60_500_000, 0], arrow_type("timestamp"))})
    schema = Schema((Field("s", "string"), Field("x", "double"), Field("t", "timestamp")))
    sql = "s || '/' || x || '/' || t"
    (expected,) = as_spark_says(spark, rows, [sql])
    assert evaluate(tree_of(type_expr(parse_expr(sql), schema), schema), rows.to_batches()[0]).equals(expected)
    assert expected.to_pylist() == ["a/20.0/1970-01-01 00:01:00.5", None]


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
n > 9 ; 9 < n ; n = 10 ; n <> id ; n <=> id ; n >= 9.5 ; n < x ; n >= d ; n IN (8, 9) ; id IN ('9', 10)
n BETWEEN 8 AND 9 ; id BETWEEN '1' AND '9' ; NULLIF(id, '10') ; n = '10'
CASE n WHEN 10 THEN 'ten' ELSE 'other' END ; p = 'true' ; 'no' = p
ts >= '2024-01-01T12:00:01Z' ; ts = t ; day < '2024-01-02' ; day = t ; day >= ts ; day = '2024-01-01 10:00:00'
s = 'aXa' AND id > 9 ; s <> 'aXa' AND n > 9 ; n RLIKE '^ ?[0-9]' AND n > 9 ; p AND t > ts
SUBSTRING(s, pos, 1) ; SUBSTRING(s, pos) ; SUBSTRING(s, 2, many) ; SUBSTRING(s, -9, 7) ; SUBSTRING(s, pos, many)
LTRIM(s) ; RTRIM(s) ; TRIM(s) ; LTRIM(' ab ') ; RTRIM(' ab ') ; TRIM(BOTH 'a' FROM s) ; TRIM(LEADING 'aX' FROM s)
TRIM(TRAILING ' a' FROM s) ; UPPER(s) ; LOWER(s) ; UPPER('Straße')
GREATEST(x, nan) ; GREATEST(x, 1e0) ; LEAST(x, nan) ; LEAST(x, r, q) ; GREATEST(s, n) ; LEAST(ts, ts)
ROUND(x, 2) ; ROUND(1.005e0, 2) ; ROUND(r, 2) ; ROUND(q) ; ROUND(q, 2) ; ROUND(r, -1) ; ROUND(f, 2)
ROUND(f) ; ROUND(r, 20) ; ROUND(id, 1) ; ROUND(x)
ROUND(e, 1) ; ROUND(e) ; CAST(e AS INT) ; CAST(h AS INT) ; CAST(w AS BIGINT) ; CAST(h AS BIGINT) ; d > 9 ; e < d ; h > n
CAST(d AS INT) ; CAST(d AS BIGINT) ; CAST(d AS TINYINT) ; TIMESTAMP '2024-01-01 12:00:00' ; DATE '2024-01-01'
ts > TIMESTAMP '2024-01-01 12:00:00' ; ts + INTERVAL 1 DAY ; -9223372036854775808 ; -2147483648 ; -id ; -x
"""


@pytest.mark.parametrize("line", ALIKE.strip().splitlines())
def test_an_expression_is_sparks(spark: SparkSession, line: str):
    rows = pa.table({name: pa.array(values, arrow_type(kind)) for name, (kind, values) in SPECIAL.items()})
    schema = Schema(tuple(Field(name, kind) for name, (kind, _) in SPECIAL.items()))
    expressions = [sql.strip() for sql in line.split(" ; ")]
    none = pa.RecordBatch.from_pylist([], rows.schema)
    for sql, expected in zip(expressions, as_spark_says(spark, rows, expressions), strict=True):
        found = evaluate(tree_of(type_expr(parse_expr(sql), schema), schema), rows.combine_chunks().to_batches()[0])
        assert same(found, expected.cast(found.type)), (sql, found.to_pylist(), expected.to_pylist())
        some = evaluate(
            tree_of(type_expr(parse_expr(sql), schema), schema),
            rows.combine_chunks().to_batches()[0].slice(2, 2),
        )
        assert same(some, found.slice(2, 2)), sql
        assert evaluate(tree_of(type_expr(parse_expr(sql), schema), schema), none).type == found.type, sql


@pytest.mark.parametrize("sql", ["COALESCE(n, 0)", "GREATEST(n, id)", "CASE WHEN p THEN n ELSE 3 END", "id = p"])
def test_text_beside_a_number_is_refused_where_it_would_be_the_answer(sql: str):
    """In Spark the answer is a number; here a query has its types before Spark is asked."""
    schema = Schema(tuple(Field(name, kind) for name, (kind, _) in SPECIAL.items()))
    none = pa.schema([(name, arrow_type(kind)) for name, (kind, _) in SPECIAL.items()]).empty_table()
    with pytest.raises(QueryError, match="SW-351"):
        evaluate(tree_of(type_expr(parse_expr(sql), schema), schema), pa.RecordBatch.from_pylist([], none.schema))


NOT_HERE = [
    "ts + INTERVAL 1 MONTH",
    "99999999999999999999 + id",
    "s LIKE n",
    "s RLIKE n",
    "ROUND(x, id)",
    "ROUND(x, 99)",
]


@pytest.mark.parametrize("sql", [*NOT_HERE, "TRIM(BOTH n FROM s)"])
def test_what_is_not_evaluated_as_spark_does_is_refused(sql: str):
    schema = Schema(tuple(Field(name, kind) for name, (kind, _) in SPECIAL.items()))
    with pytest.raises(QueryError, match="SW-352"):
        tree_of(type_expr(parse_expr(sql), schema), schema)


def test_text_that_is_no_number_is_an_error_beside_one_as_in_spark(spark: SparkSession):
    rows = pa.table({"s": ["10", "x"]})
    with pytest.raises(Exception, match="CAST_INVALID_INPUT"):
        as_spark_says(spark, rows, ["s > 9"])
    with pytest.raises(RunError, match="SW-582"):
        evaluate((">", ("column", "s"), ("literal", 9, "int")), rows.to_batches()[0])


def same(one: pa.Array, two: pa.Array) -> bool:
    if not pa.types.is_floating(one.type):
        return bool(one.equals(two))
    return [repr(each) for each in one.to_pylist()] == [repr(each) for each in two.to_pylist()]


def differences(given: pa.Array, found: pa.Array, expected: pa.Array) -> list[tuple[str, str, str]]:
    shown = [each.cast(pa.int64()) if pa.types.is_timestamp(each.type) else each for each in (given, found, expected)]
    rows = zip(*(map(str, each) for each in shown), strict=True)
    return [row for row in rows if row[1] != row[2]]
