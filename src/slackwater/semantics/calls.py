"""Evaluate an aggregate call of a plan (`AVG(speed)`): choose its fold and compute its arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sqlglot import exp

from slackwater.algebra.expressions import Tree, text
from slackwater.errors import QueryError
from slackwater.semantics.aggregates import (
    Average,
    Count,
    CountIf,
    Deviation,
    Each,
    Extreme,
    FirstOrLast,
    Fold,
    Listed,
    Logic,
    Sum,
)
from slackwater.semantics.expressions import RowScope, evaluate
from slackwater.semantics.rows import Row, Value

FOLDS: dict[type, Callable[[], Fold]] = {
    exp.Count: Count,
    exp.CountIf: CountIf,
    exp.Sum: Sum,
    exp.Avg: Average,
    exp.Min: partial(Extreme, -1),
    exp.Max: partial(Extreme, 1),
    exp.ArgMin: partial(Extreme, -1),
    exp.ArgMax: partial(Extreme, 1),
    exp.First: FirstOrLast,
    exp.AnyValue: FirstOrLast,
    exp.Last: partial(FirstOrLast, True),
    exp.Stddev: Deviation,
    exp.StddevSamp: Deviation,
    exp.StddevPop: partial(Deviation, besides=0),
    exp.Variance: partial(Deviation, root=False),
    exp.VariancePop: partial(Deviation, besides=0, root=False),
    exp.LogicalAnd: Logic,
    exp.LogicalOr: partial(Logic, False),
    exp.ArrayAgg: Listed,
}


def new_fold(call: Tree) -> Fold:
    """Return an empty fold for an aggregate call."""
    match call:
        case exp.Filter():
            return new_fold(call.this)
        case exp.IgnoreNulls(this=exp.Last()):
            return FirstOrLast(last=True, ignore_nulls=True)
        case exp.IgnoreNulls():
            return FirstOrLast(ignore_nulls=True)
        case exp.AggFunc(this=exp.Distinct()):
            return Each(FOLDS[type(call)]())
    if type(call) not in FOLDS:
        raise QueryError(
            "SW-242",
            f"'{text(call)}' has no meaning in the reference interpreter",
            hint="use a simpler aggregate, or run the case on Spark",
        )
    return FOLDS[type(call)]()


def add_row(fold: Fold, call: Tree, scope: RowScope, row: Row) -> None:
    """Add a row to the fold of a call, unless its FILTER leaves the row out."""
    match call:
        case exp.Filter(this=inner, expression=exp.Where(this=condition)):
            if evaluate(condition, scope, row) is True:
                add_row(fold, inner, scope, row)
        case exp.IgnoreNulls(this=inner):
            add_row(fold, inner, scope, row)
        case _:
            fold.add(*arguments(call, scope, row))


def arguments(call: Tree, scope: RowScope, row: Row) -> tuple[Value, ...]:
    """Return the values of a call's arguments over a row; COUNT(*) has none."""
    if isinstance(call.this, exp.Star):
        return ()
    trees = call.this.expressions if isinstance(call.this, exp.Distinct) else list(call.iter_expressions())
    return tuple(evaluate(tree, scope, row) for tree in trees)
