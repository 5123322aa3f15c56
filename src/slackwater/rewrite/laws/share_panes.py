"""γ(W[r, s](S)) over overlapping extents: a row enters one pane of length gcd(r, s), which all its extents share."""

from __future__ import annotations

from dataclasses import replace
from math import gcd

from sqlglot import exp

from slackwater.algebra.aggregates import MERGEABLE
from slackwater.algebra.expressions import parse_expr
from slackwater.algebra.lengths import Kind, Length
from slackwater.algebra.nodes import Aggregate, Plan, Select, Window, expressions_of
from slackwater.algebra.properties.columns import schema_of
from slackwater.rewrite.change import Context, Replacement
from slackwater.rewrite.references import is_pure

FINEST = 100
"""The most panes per slide. With more, merging panes costs more than the overlap saves."""


def share_panes(plan: Plan, context: Context) -> Replacement | None:
    """Let an aggregate over overlapping extents share panes.

    Every aggregate must be mergeable, and no expression may depend on the extent in which it is evaluated.
    """
    if not isinstance(plan, Aggregate) or plan.pane is not None or not _mergeable(plan):
        return None
    window = plan.child
    while isinstance(window, Select):
        window = window.child
    if not isinstance(window, Window) or not _overlaps(window):
        return None
    pane = gcd(window.range.amount, window.every.amount)
    if window.every.amount > FINEST * pane:
        return None
    overlap = window.range.amount / window.every.amount
    why = f"a row is in {overlap:.3g} extents, but in one pane of {Length(pane, Kind.TIME)}"
    return Replacement(replace(plan, pane=pane), why)


def _overlaps(window: Window) -> bool:
    return window.range.is_time and window.every.is_time and window.range.amount > window.every.amount


def _mergeable(aggregate: Aggregate) -> bool:
    calls = [parse_expr(item.expr.sql) for item in aggregate.aggregates]
    if not all(isinstance(call, MERGEABLE) and not call.find(exp.Distinct) for call in calls):
        return False
    below: Plan = aggregate
    while isinstance(below, (Aggregate, Select)):
        if not all(is_pure(expr, schema_of(below.child)) for expr in expressions_of(below)):
            return False
        below = below.child
    return True
