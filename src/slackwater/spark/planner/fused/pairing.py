"""Which conditions of a join find its pairs: those that compare one side with the other."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from slackwater.algebra.expressions import Tree, columns, conjuncts, parse_expr
from slackwater.algebra.schema import Expr, Schema


def paired(conditions: Iterable[Expr], schema: Schema, cut: int) -> tuple[list[tuple[Tree, Tree]], list[Tree]]:
    """The sides of each equality between the inputs, left first, and all other conditions."""
    on, rest = [], []
    for part in [parse_expr(part.sql).unnest() for each in conditions for part in conjuncts(each)]:
        of = [_side(each, schema, cut) for each in part.iter_expressions()] if isinstance(part, exp.EQ) else []
        if sorted(of) == [0, 1]:
            on.append((part.this, part.expression) if of == [0, 1] else (part.expression, part.this))
        else:
            rest.append(part)
    return on, rest


def _side(tree: Tree, schema: Schema, cut: int) -> int:
    """0 for an expression over the left input, 1 over the right, 2 for anything else."""
    named = [schema.matching(reference) for reference in columns(tree)]
    if not named or any(len(each) != 1 for each in named):
        return 2
    places = {next(n for n, field in enumerate(schema.fields) if field is each[0]) >= cut for each in named}
    return int(places.pop()) if len(places) == 1 else 2
