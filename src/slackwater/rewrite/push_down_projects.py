"""π[a](...(S)) = π[a](...(π[b](S))), b being what is read above: columns that nobody reads are not kept."""

from __future__ import annotations

from collections import Counter

from slackwater.algebra.columns import schema_of
from slackwater.algebra.nodes import Aggregate, Plan, Project
from slackwater.rewrite.change import Change, Context
from slackwater.rewrite.narrowing import Narrowing, is_stream, leaves, over, read_by


def push_down_projects(plan: Plan, context: Context) -> Change | None:
    """Below a select list or an aggregate: a narrower stream, a shorter select list inside, fewer aggregates.

    The list goes above disorder control, so that late rows are whole, and keeps the columns that tell a row's time,
    arrival, sender, change type and key. A changelog tells when a value changed: lists below it are left as they are.
    """
    if not isinstance(plan, (Project, Aggregate)) or is_stream(plan.child):
        return None
    there = [field for leaf in leaves(plan.child) for field in schema_of(leaf)]
    narrowing = Narrowing(Counter(field.name.lower() for field in there), streams_only=not context.final)
    narrow = narrowing.narrowed(plan.child, read_by(plan, schema_of(plan.child)))
    if narrow is None:
        return None
    dropped = list(dict.fromkeys(field.name for field in there if field not in narrow.moved))
    return Change(over(plan, (narrow,)), f"{', '.join(dropped)} {'are' if len(dropped) > 1 else 'is'} not read above")
