"""W(S) = S where only rows pass: a window at every row emits that row, and nobody reads what else it holds."""

from __future__ import annotations

from slackwater.algebra.lengths import ONE_TUPLE
from slackwater.algebra.nodes import Aggregate, Distinct, Frequency, Join, Minus, Plan, Window
from slackwater.rewrite.change import Change, Context

READERS = (Aggregate, Distinct, Join, Minus)
"""Operators that read the relation of a window, and not only the row that is new in it."""


def drop_idle_windows(plan: Plan, context: Context) -> Change | None:
    """CSQL query 1 (b), (c): a RANGE under a select list without aggregates. A changelog would read its lifetimes."""
    if not isinstance(plan, Window) or plan.every != ONE_TUPLE or not context.final:
        return None
    if isinstance(context.parent, Frequency) or any(isinstance(each, READERS) for each in context.level):
        return None
    if plan.by and context.names("row_number"):
        return None
    return Change(plan.child, f"without an aggregate each row is its own answer: nothing of RANGE {plan.range} is read")
