"""Spark SQL's values, by hand: NULL, three-valued logic, numbers, strings, casts. The defaults are Spark 4's (ANSI)."""

import math
from decimal import Decimal

import pytest

from slackwater.algebra.expressions import parse_expr, type_expr
from slackwater.algebra.schema import Field, Schema
from slackwater.errors import QueryError, RunError
from slackwater.semantics.expressions import value_of
from slackwater.semantics.rows import Marks, Row
from slackwater.semantics.values import compare, order

SCHEMA = Schema(
    (
        Field("a", "int", "S"),
        Field("b", "int", "S"),
        Field("x", "double", "S"),
        Field("s", "string", "S"),
        Field("t", "timestamp", "S"),
        Field("nothing", "int", "S"),
        Field("flag", "boolean", "S"),
    )
)
ROW = Row((7, -2, 2.5, "tide", 90_000_000, None, True), 0, marks=Marks(row_time=5, row_number=3))


def value(sql: str):
    return value_of(type_expr(parse_expr(sql), SCHEMA), SCHEMA, ROW)


VALUES = [
    ("a + b", 5),
    ("a - nothing", None),
    ("a / 2", 3.5),
    ("a div b", -3),
    ("-a div 2", -3),
    ("a % 4", 3),
    ("-a % 4", -3),
    ("pmod(-a, 4)", 1),
    ("pmod(a, -4)", 3),
    ("pmod(-a, -4)", -3),
    ("a | 8", 15),
    ("1.5 + 1.5", Decimal("3.0")),
    ("x * 2", 5.0),
    ("1e3", 1000.0),
    ("a > 3 AND nothing > 3", None),
    ("a < 3 AND nothing > 3", False),
    ("a > 3 OR nothing > 3", True),
    ("a < 3 OR nothing > 3", None),
    ("NOT nothing > 3", None),
    ("nothing = nothing", None),
    ("nothing <=> nothing", True),
    ("a <=> nothing", False),
    ("nothing IS NULL", True),
    ("a IS NOT NULL", True),
    ("flag IS TRUE", True),
    ("a BETWEEN 1 AND 7", True),
    ("a BETWEEN 8 AND nothing", False),
    ("a BETWEEN 1 AND nothing", None),
    ("a IN (1, 7)", True),
    ("a IN (1, nothing)", None),
    ("a NOT IN (1, 2)", True),
    ("x = 2.5", True),
    ("s LIKE 't_d%'", True),
    ("s LIKE 'T%'", False),
    ("'50%' LIKE '50!%' ESCAPE '!'", True),
    ("s RLIKE 'id'", True),
    ("CASE WHEN nothing > 1 THEN 'yes' ELSE 'no' END", "no"),
    ("CASE a WHEN 6 THEN 'six' WHEN 7 THEN 'seven' END", "seven"),
    ("CASE a WHEN 6 THEN 'six' END", None),
    ("IF(a > 3, 'big', 'small')", "big"),
    ("COALESCE(nothing, b, a)", -2),
    ("NULLIF(a, 7)", None),
    ("GREATEST(a, nothing, b)", 7),
    ("LEAST(a, nothing, b)", -2),
    ("ABS(b)", 2),
    ("ROUND(x)", 3.0),
    ("ROUND(-x)", -3.0),
    ("FLOOR(-x)", -3),
    ("CEIL(x)", 3),
    ("SQRT(16)", 4.0),
    ("POWER(2, 10)", 1024.0),
    ("UPPER(s)", "TIDE"),
    ("LENGTH(s)", 4),
    ("CONCAT(s, '!', nothing)", None),
    ("CONCAT(s, a, x, flag)", "tide72.5true"),
    ("s || '!'", "tide!"),
    ("a || b", "7-2"),
    ("SUBSTRING(s, 2, 2)", "id"),
    ("SUBSTRING(s, -2)", "de"),
    ("TRY_DIVIDE(a, 0)", None),
    ("CAST(x AS INT)", 2),
    ("CAST('12' AS INT)", 12),
    ("TRY_CAST('twelve' AS INT)", None),
    ("TRY_CAST('1_000' AS INT)", None),
    ("TRY_CAST('NaN' AS DECIMAL(5, 1))", None),
    ("TRY_CAST(x * 1e300 AS TIMESTAMP)", None),
    ("CAST(a AS TIMESTAMP)", 7_000_000),
    ("CAST(9223372036855 AS TIMESTAMP)", 2**63 - 1),
    ("CAST(x * 1e20 AS STRING)", "2.5E20"),
    ("CAST(t AS DECIMAL(5, 1))", Decimal("90.0")),
    ("CAST(flag AS DECIMAL(5, 1))", Decimal("1.0")),
    ("CAST(a AS DOUBLE)", 7.0),
    ("CAST(a AS STRING)", "7"),
    ("CAST(flag AS STRING)", "true"),
    ("CAST(x AS DECIMAL(5, 1))", Decimal("2.5")),
    ("CAST('false' AS BOOLEAN)", False),
    ("CAST(t AS STRING)", "1970-01-01 00:01:30"),
    ("CAST(t AS BIGINT)", 90),
    ("t + INTERVAL 2 SECONDS", 92_000_000),
    ("t > TIMESTAMP '1970-01-01 00:01:00'", True),
    ("row_time", 5),
    ("row_number + 1", 4),
    ("window_end", None),
    ("S.a", 7),
]


@pytest.mark.parametrize(("sql", "expected"), VALUES, ids=[sql for sql, _ in VALUES])
def test_the_value_is_sparks(sql: str, expected: object):
    found = value(sql)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    "sql", ["a / 0", "a % 0", "a div 0", "9223372036854775807 + a", "CAST('x' AS INT)", "CAST(300 AS TINYINT)"]
)
def test_what_ansi_refuses_is_an_error(sql: str):
    with pytest.raises(RunError):
        value(sql)


@pytest.mark.parametrize("sql", ["levenshtein(s, s)", "CAST(a AS BINARY)", "absent + 1"])
def test_what_has_no_meaning_here_is_an_error(sql: str):
    with pytest.raises(QueryError):
        value(sql)


def test_nan_equals_itself_and_is_the_greatest():
    assert compare(math.nan, math.nan) == 0
    assert compare(math.nan, math.inf) == 1
    assert [order(each) for each in sorted([math.nan, 1.0, None], key=order)] == [(0,), (1, 1.0), (2,)]
