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
from slackwater.engine.columns.arrays import arrow_type
from slackwater.engine.expressions import evaluate
from slackwater.errors import QueryError, RunError
from slackwater.semantics.expressions import value_of
from slackwater.semantics.rows import Row
from slackwater.spark.planner.fused.expressions import tree_of

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
a + b ; a - b * 2 ; -a ; a + x ; x * 2 ; a + b - 1 ; -x ; - (a * b) ; a * 4000000000
a > b ; a >= b ; a = b ; a <> b ; a < x ; x = x ; x > 1 ; a <=> b ; x <=> x ; s <=> NULL ; NOT a = b ; s = 'ab'
ts > ts ; a > 1 AND b > 1 ; a > 1 OR p ; p ; NOT p ; p IS TRUE ; p IS NOT FALSE ; a IS NULL ; s IS NOT NULL
a + 1 > b OR p IS NULL ; a IN (1, 2, NULL) ; a IN (b, 3) ; s IN ('a', 'ab') ; a BETWEEN b AND 3 ; a NOT BETWEEN 0 AND 2
a > 1.5 ; x > 1.25 ; s < 'b' ; a = NULL ; TRUE ; 'x' ; 3 ; 2.5 ; 1e3 ; NULL
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


def over_integers(sql: str, a: list[int | None], b: list[int | None]) -> list[object]:
    rows = pa.record_batch({"a": pa.array(a, pa.int32()), "b": pa.array(b, pa.int32())})
    found: list[object] = evaluate(tree_of(type_expr(parse_expr(sql), SCHEMA), SCHEMA), rows).to_pylist()
    return found


def test_the_right_side_is_evaluated_only_where_the_left_has_not_decided():
    """As Spark does: a guard before a product protects it."""
    large = 2**31 - 1
    assert over_integers("b < 9 AND a * b > 1", [4, large, 1, None], [2, large, 1, 0]) == [True, False, False, None]
    assert over_integers("b > 9 OR a * b = 8", [4, large, 1, None], [2, large, 2, 0]) == [True, True, False, None]
    with pytest.raises(RunError, match="SW-581"):
        over_integers("a * b > 1", [large], [large])


def test_a_value_that_does_not_fit_is_an_error():
    with pytest.raises(RunError, match="SW-581"):
        evaluate(("*", ("column", "a"), ("literal", 2**40, "bigint")), pa.record_batch({"a": [2**40]}))


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
    product = ("*", ("column", "a"), ("column", "b"))
    tree = ("and", ("=", ("column", "b"), ("literal", 1, "int")), (">", product, ("literal", 9, "int")))
    assert sum(evaluate(tree, rows).to_pylist()) == 499_995
