"""W(S) = S if no operator reads the window: a window at every row emits that row."""

from __future__ import annotations

from slackwater.algebra.lengths import ONE_TUPLE
from slackwater.algebra.nodes import Aggregate, Distinct, Frequency, Join, Minus, Plan, Window
from slackwater.rewrite.change import Context, Replacement

READERS = (Aggregate, Distinct, Join, Minus)
"""Operators that read the whole relation of a window, and not only its newest row."""


def drop_idle_windows(plan: Plan, context: Context) -> Replacement | None:
    """Drop a RANGE under a select list without aggregates (CSQL query 1 b, c), unless a changelog needs lifetimes."""
    if not isinstance(plan, Window) or plan.every != ONE_TUPLE or not context.final:
        return None
    if isinstance(context.parent, Frequency) or any(isinstance(each, READERS) for each in context.level):
        return None
    if plan.by and context.names("row_number"):
        return None
    return Replacement(
        plan.child, f"without an aggregate each row is its own answer: nothing of RANGE {plan.range} is read"
    )
