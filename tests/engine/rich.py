"""Expressions that the engine leaves to Spark, evaluated by the interpreter in the middle of an operator.

A law about the engine is about its operators. So that it holds for plans with any expression without cutting them, as
the planner does, the interpreter evaluates here what Spark would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import pyarrow as pa
from sqlglot import exp
from tests.engine.running import plain_rows

from slackwater.algebra.expressions import Tree, name_of, parse_expr, text, type_of
from slackwater.algebra.schema import PSEUDO_COLUMNS, Expr, Field, Schema
from slackwater.engine import expressions
from slackwater.engine.columns.arrays import arrow_type
from slackwater.semantics.expressions import value_of
from slackwater.semantics.rows import Row
from slackwater.spark.planner.fused import chains, relational
from slackwater.spark.planner.fused.expressions import is_small, tree_of

RICH = "rich"


@contextmanager
def rich_expressions() -> Iterator[None]:
    """Let plans be lowered as a whole: an expression that is not small has a tree of its own kind."""
    with ExitStack() as stack:
        for module in (chains, relational):
            stack.enter_context(mock.patch.object(module, "is_small", lambda tree, schema: True))
            stack.enter_context(mock.patch.object(module, "tree_of", rich_tree))
        stack.enter_context(mock.patch.dict(expressions.SPECIAL, {RICH: _rich}))
        yield


def rich_tree(expr: Expr | Tree, schema: Schema) -> tuple[Any, ...]:
    tree = parse_expr(expr.sql) if isinstance(expr, Expr) else expr
    if is_small(tree, schema):
        return tree_of(tree, schema)
    inputs: dict[str, tuple[Any, ...]] = {}

    def spell(node: Tree) -> Tree:
        if not isinstance(node, exp.Column):
            return node
        reference = name_of(node)
        is_mark = not schema.matching(reference) and reference.lower() in PSEUDO_COLUMNS
        source = ("mark", reference.lower()) if is_mark else ("column", schema.find(reference).name)
        name = next((each for each, (known, _) in inputs.items() if known == source), f"i{len(inputs)}")
        inputs[name] = source, type_of(node, schema)
        return exp.column(name)

    kind = type_of(tree, schema)
    return (RICH, text(tree.transform(spell)), kind, *inputs.items())


def _rich(arguments: Sequence[Any], rows: expressions.Columns) -> pa.Array:
    sql, kind, *inputs = arguments
    schema = Schema(tuple(Field(name, kind) for name, (_, kind) in inputs))
    columns = [expressions.evaluate(source, rows) for _, (source, _) in inputs]
    given = plain_rows(pa.record_batch(columns, schema.names)) if columns else [()] * len(rows)
    values = [value_of(Expr(sql, kind), schema, Row(row, 0)) for row in given]
    if kind == "double":  # the interpreter has a DECIMAL for FLOOR(x) * 1.0D
        values = [None if value is None else float(value) for value in values]
    return pa.array(values, arrow_type(kind))
