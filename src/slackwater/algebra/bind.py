"""Bind a plan written in Python or JSON: look up its streams, resolve and type its expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from slackwater.algebra.expressions import parse_expr, type_expr
from slackwater.algebra.nodes import (
    Aggregate,
    Emit,
    Frequency,
    Item,
    Join,
    Minus,
    Plan,
    Project,
    Scan,
    Select,
    Union,
    View,
    Window,
    inputs,
    with_inputs,
)
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.properties.widening import with_common_types
from slackwater.algebra.schema import Expr, Schema

Lookup = Callable[[Scan], Scan]
"""Returns a scan with the columns and clocks of its stream filled in; the argument names the stream only."""


def bind(plan: Plan, lookup: Lookup) -> Plan:
    """Return the plan under an `Emit`, with every scan filled in and every expression resolved and typed.

    Expressions are rewritten to canonical text.
    """
    return _bound(plan if isinstance(plan, Emit) else Emit(plan), lookup)


def _bound(plan: Plan, lookup: Lookup) -> Plan:
    if isinstance(plan, Scan):
        return plan if plan.fields else lookup(plan)
    plan = with_inputs(plan, tuple(_bound(each, lookup) for each in inputs(plan)))
    here = Schema(tuple(field for each in inputs(plan) for field in schema_of(each)))
    match plan:
        case Select(condition=condition):
            return replace(plan, condition=_typed(condition, here))
        case Project(items=items):
            return replace(plan, items=_items(items, here))
        case Aggregate(group=group, aggregates=aggregates):
            return replace(plan, group=_items(group, here), aggregates=_items(aggregates, here))
        case Join(condition=Expr() as condition):
            return replace(plan, condition=_typed(condition, here))
        case Window(by=by) | Frequency(by=by):
            return replace(plan, by=tuple(here.reference(here.find(column)) for column in by))
        case Union() | Minus():
            return with_common_types(plan)
        case View(declared_key=key):
            return replace(plan, declared_key=tuple(_typed(expr, here) for expr in key))
        case _:
            return plan


def _typed(expr: Expr, schema: Schema) -> Expr:
    return type_expr(parse_expr(expr.sql), schema)


def _items(items: tuple[Item, ...], schema: Schema) -> tuple[Item, ...]:
    return tuple(Item(item.name, _typed(item.expr, schema)) for item in items)
