"""Expressions over whole columns against the interpreter, row by row."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.running import close, plain_rows

from slackwater.algebra.expressions import parse_expr, type_expr
from slackwater.algebra.schema import Field, Schema
from slackwater.engine.columns.types import arrow_type
from slackwater.engine.expressions.evaluate import evaluate
from slackwater.errors import QueryError, RunError
from slackwater.semantics.expressions import value_of
from slackwater.semantics.rows import Row
from slackwater.spark.planner.fused.trees import tree_of

SCHEMA = Schema(
    (
        Field("a", "int"),
        Field("b", "int"),
        Field("x", "double"),
        Field("s", "string"),
        Field("p", "boolean"),
        Field("ts", "timestamp"),
    )
)
VALUES = {
    "a": st.integers(-4, 4),
    "b": st.integers(-4, 4),
    "x": st.sampled_from([0.0, -0.0, 1.5, -2.5, math.nan, math.inf, 2.675]),
    "s": st.sampled_from(["", "a", "ab", " b ", "12", "%x", "aXb", "-7.25", " true", "N", "2024-01-02 03:04:05"]),
    "p": st.booleans(),
    "ts": st.integers(-5_000_000, 5_000_000),
}
ROWS = st.lists(
    st.fixed_dictionaries({name: st.none() | each for name, each in VALUES.items()}), min_size=1, max_size=6
)
EXPRESSIONS = """
a + b ; a - b * 2 ; -a ; ABS(a) ; a & 3 | a ; a + x ; x * 2 ; a / 2 ; x / 4 ; b % 3 ; a div 2 ; pmod(a, 3)
try_divide(a, b) ; a / NULLIF(b, 0) ; CASE WHEN b <> 0 THEN a / b END
a > b ; a >= b ; a = b ; a <> b ; a < x ; x = x ; x > 1 ; a <=> b ; x <=> x ; s <=> NULL ; NOT a = b
a > 1 AND b > 1 ; a > 1 OR p ; p ; NOT p ; p IS TRUE ; p IS NOT FALSE ; a IS NULL ; s IS NOT NULL
a IN (1, 2, NULL) ; a IN (b, 3) ; s IN ('a', 'ab') ; a BETWEEN b AND 3 ; a NOT BETWEEN 0 AND 2
CASE a WHEN 1 THEN 'one' WHEN b THEN 'b' ELSE s END ; CASE WHEN a > 0 THEN 1 WHEN a < 0 THEN -1 END ; IF(p, a, b)
COALESCE(a, b, 0) ; COALESCE(s, 'none') ; NULLIF(a, b) ; GREATEST(a, b) ; LEAST(a, b, 2)
UPPER(s) ; LOWER(s) ; TRIM(s) ; LENGTH(s) ; CONCAT(s, '!', s) ; s LIKE 'a%' ; s LIKE '_'
s LIKE '\\\\%x' ; s RLIKE 'a.b'
SUBSTRING(s, 2) ; SUBSTRING(s, 1, 1) ; SUBSTRING(s, -1) ; s || 'z'
FLOOR(a / 2) ; CEIL(a / 2) ; SQRT(ABS(a)) ; POW(a, 2) ; ROUND(a / 3, 1)
CAST(a AS DOUBLE) ; CAST(a AS STRING) ; CAST(a AS BOOLEAN) ; CAST(p AS INT) ; TRY_CAST(s AS INT) ; CAST(ts AS BIGINT)
CAST(a AS BIGINT) * 4000000000 ; a > 1.5 ; x > 1.25 ; a + 0.5 > 1.0 ; ts + INTERVAL 1 SECOND > ts
a | b ; a | 8 & b ; s || s || '!' ; pmod(a, -3) ; pmod(-a, 3) ; -a div 3
CAST(a AS TIMESTAMP) > ts ; CAST(a * 400000000 AS TIMESTAMP) ; CAST(x AS STRING) ; CAST(ts AS STRING)
TRY_CAST(x AS INT) ; TRY_CAST(x AS BIGINT) ; TRY_CAST(x AS TIMESTAMP) ; TRY_CAST(x AS DECIMAL(3, 2))
TRY_CAST(x AS BOOLEAN) ; TRY_CAST(a * 100 AS TINYINT) ; TRY_CAST(a AS DECIMAL(2, 1)) ; TRY_CAST(p AS STRING)
TRY_CAST(ts AS INT)
LTRIM(s) ; RTRIM(s) ; TRIM(BOTH 'a' FROM s) ; TRIM(LEADING 'a' FROM s) ; UPPER(s || 'ß') ; SUBSTRING(s, a, b)
SUBSTRING(s, a) ; SUBSTRING(s, -9, a + 8) ; GREATEST(x, 1e0) ; LEAST(x, 1e0, -x) ; ROUND(x, 2) ; ROUND(x, -1) ; ROUND(x)
a > '1' ; '-2' <= a ; x < '1.5' ; a = '2' ; ts >= '1970-01-01T00:00:01Z' ; NULLIF(a, '1') ; a BETWEEN '0' AND 3
a IN (1, '2') ; p = 'true' ; CASE a WHEN '1' THEN 'one' END ; a <=> '1' ; s = '12' AND s > 9 ; s <> '12' OR s > 9
TRY_CAST(s AS DOUBLE) ; TRY_CAST(s AS BOOLEAN) ; TRY_CAST(s AS TIMESTAMP) ; TRY_CAST(s AS DECIMAL(3, 1))
""".replace("\n", ";").split(";")
TRIED = {text.strip(): type_expr(parse_expr(text), SCHEMA) for text in EXPRESSIONS if text.strip()}
TREES = {text: tree_of(expr, SCHEMA) for text, expr in TRIED.items()}
KINDS = pa.schema([(each.name, arrow_type(each.type)) for each in SCHEMA])


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_trees_have_the_values_of_their_expressions(rows: list[dict[str, object]]):
    batch = pa.RecordBatch.from_pylist(rows, KINDS)
    for sql, expr in TRIED.items():
        wanted = [value_of(expr, SCHEMA, Row(tuple(row[name] for name in KINDS.names), 0)) for row in rows]
        found = [row[0] for row in plain_rows(pa.record_batch({"it": evaluate(TREES[sql], batch)}))]
        assert close(found, wanted), (sql, found, wanted)


@pytest.mark.parametrize("sql", ["a & 3 | a", "a | b", "s || 'z'", "CAST(a * 400000000 AS TIMESTAMP)"])
def test_what_holds_the_sign_of_an_operator_is_tried_whole(sql: str):
    assert sql in TRIED


def over_integers(sql: str, a: list[int | None], b: list[int | None]) -> list[object]:
    rows = pa.record_batch({"a": pa.array(a, pa.int32()), "b": pa.array(b, pa.int32())})
    found: list[object] = evaluate(tree_of(type_expr(parse_expr(sql), SCHEMA), SCHEMA), rows).to_pylist()
    return found


@pytest.mark.parametrize("sql", ["a / b", "a % b", "a div b"])
def test_a_division_by_zero_is_an_error_where_it_is_evaluated(sql: str):
    with pytest.raises(RunError, match="SW-580"):
        over_integers(sql, [1, 1], [1, 0])
    assert over_integers(sql, [None], [0]) == [None]


def test_the_right_side_is_evaluated_only_where_the_left_has_not_decided():
    """As Spark does: a guard before a division protects it."""
    assert over_integers("b <> 0 AND a / b > 1", [4, 4, 1, None], [2, 0, 2, 0]) == [True, False, False, False]
    assert over_integers("b = 0 OR a % b = 0", [4, 4, 1, None], [2, 0, 2, 0]) == [True, True, False, True]


def test_a_value_that_does_not_fit_is_an_error():
    with pytest.raises(RunError, match="SW-581"):
        evaluate(("*", ("column", "a"), ("literal", 2**40, "bigint")), pa.record_batch({"a": [2**40]}))
    with pytest.raises(RunError, match="SW-581"):
        evaluate(("div", ("column", "a"), ("literal", -1, "bigint")), pa.record_batch({"a": [-(2**63)]}))
    with pytest.raises(RunError, match="'x' cannot be cast to int32") as caught:
        evaluate(("cast", ("column", "s"), "int"), pa.record_batch({"s": ["7", "x"]}))
    assert caught.value.code == "SW-582"


def test_a_whole_number_is_a_time_in_seconds_whatever_its_width():
    """As Spark has it: INT is not too narrow for today, and a BIGINT too large is the last moment that there is."""
    seconds = pa.array([1_700_000_000, -1, None], pa.int32())
    found = evaluate(("cast", ("column", "a"), "timestamp"), pa.record_batch({"a": seconds}))
    assert found.cast(pa.int64()).to_pylist() == [1_700_000_000_000_000, -1_000_000, None]
    ends = evaluate(("cast", ("column", "a"), "timestamp"), pa.record_batch({"a": [9_223_372_036_855, -(2**62)]}))
    assert ends.cast(pa.int64()).to_pylist() == [2**63 - 1, -(2**63)]


def test_pmod_at_the_ends_of_an_int():
    assert over_integers("pmod(a, b)", [2**31 - 2, -7, 7, -(2**31)], [2**31 - 1, -3, -3, -1]) == [2**31 - 2, -1, 1, 0]


def test_what_is_not_known_is_an_error_that_names_it():
    with pytest.raises(QueryError, match="'soundex' cannot be evaluated"):
        evaluate(("soundex", ("column", "s")), pa.record_batch({"s": ["x"]}))


def test_nan_is_equal_to_itself_and_greater_than_all():
    rows = pa.record_batch({"x": [math.nan, 1.0, None], "y": [math.nan, math.inf, 1.0]})
    found = {
        name: evaluate((name, ("column", "x"), ("column", "y")), rows).to_pylist() for name in ("=", ">=", "<", "<>")
    }
    assert found == {
        "=": [True, False, None],
        ">=": [True, False, None],
        "<": [False, True, None],
        "<>": [False, True, None],
    }


def test_a_million_rows_are_evaluated_at_once():
    rows = pa.record_batch({"a": np.arange(1_000_000), "b": np.arange(1_000_000) % 2})
    tree = ("case", (("<>", ("column", "b"), ("literal", 0, "int")), ("/", ("column", "a"), ("column", "b"))), None)
    found = evaluate(tree, rows)
    assert found.null_count == 500_000
    assert found[999_999].as_py() == 999_999.0
