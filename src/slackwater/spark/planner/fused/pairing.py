"""Which conditions of a join find its pairs: those that compare one side with the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlglot import exp

from slackwater.algebra.expressions import Tree, columns, conjuncts, parse_expr
from slackwater.algebra.schema import Expr, Schema
from slackwater.spark.planner.fused.edges import Named
from slackwater.spark.planner.fused.trees import tree_of


def paired(conditions: Iterable[Expr], sides: Named, cut: int) -> tuple[list[tuple[Any, Any]], list[Tree]]:
    """The sides of each equality between the inputs, under their own names, and all other conditions."""
    schema = Schema(sides.fields)
    on, rest = [], []
    for part in [parse_expr(part.sql).unnest() for each in conditions for part in conjuncts(each)]:
        pair = _equated(part, schema, sides, cut)
        if pair is None:
            rest.append(part)
        else:
            on.append(pair)
    return on, rest


def _equated(part: Tree, schema: Schema, sides: Named, cut: int) -> tuple[Any, Any] | None:
    """The two sides of an equality between the inputs, left first; None for any other condition."""
    if not isinstance(part, exp.EQ):
        return None
    of = [_side(each, schema, cut) for each in (part.this, part.expression)]
    if sorted(of) != [0, 1]:
        return None
    one, two = (tree_of(each, sides) for each in (part.this, part.expression))
    return (one, two) if of == [0, 1] else (two, one)


def _side(tree: Tree, schema: Schema, cut: int) -> int:
    """0 for an expression over the left input, 1 over the right, 2 for anything else."""
    named = [schema.matching(reference) for reference in columns(tree)]
    if not named or any(len(each) != 1 for each in named):
        return 2
    places = {next(n for n, field in enumerate(schema.fields) if field is each[0]) >= cut for each in named}
    return int(places.pop()) if len(places) == 1 else 2
