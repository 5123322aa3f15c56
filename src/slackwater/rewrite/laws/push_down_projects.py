"""π[a](...(S)) = π[a](...(π[b](S))), where b are the columns read above: unused columns are not kept."""

from __future__ import annotations

from collections import Counter

from slackwater.algebra.nodes import Aggregate, Plan, Project
from slackwater.algebra.properties.columns import schema_of
from slackwater.rewrite.change import Context, Replacement
from slackwater.rewrite.narrowing import Narrowing, is_stream, leaves, over, read_by


def push_down_projects(plan: Plan, context: Context) -> Replacement | None:
    """Drop unused columns below a select list or an aggregate: from streams, inner select lists and aggregates.

    The new select list stands above disorder control, so that late rows stay whole. It keeps a row's event time,
    arrival, sender, change type and key. Under a changelog, inner select lists stay unchanged, because a change of any
    of their values ends a row.
    """
    if not isinstance(plan, (Project, Aggregate)) or is_stream(plan.child):
        return None
    there = [field for leaf in leaves(plan.child) for field in schema_of(leaf)]
    narrowing = Narrowing(Counter(field.name.lower() for field in there), streams_only=not context.final)
    narrow = narrowing.narrow(plan.child, read_by(plan, schema_of(plan.child)))
    if narrow is None:
        return None
    dropped = list(dict.fromkeys(field.name for field in there if field not in narrow.moved))
    return Replacement(
        over(plan, (narrow,)), f"{', '.join(dropped)} {'are' if len(dropped) > 1 else 'is'} not read above"
    )
