"""σ[g](γ[G](R)) = γ[G](σ[g'](R)) where g reads group columns alone: whole groups are dropped before they are built."""

from __future__ import annotations

from dataclasses import replace

from slackwater.algebra.nodes import Aggregate, Plan, Select
from slackwater.rewrite.change import Context, Replacement
from slackwater.rewrite.passage import passes
from slackwater.rewrite.references import substitute


def push_selects_below_aggregates(plan: Plan, context: Context) -> Replacement | None:
    """Turn a HAVING on grouping columns into a WHERE."""
    match plan:
        case Select(child=Aggregate(child=child, group=group) as aggregate, condition=condition):
            if not passes(condition, aggregate, context):
                return None
            below = Select(child, substitute(condition, group))
            return Replacement(replace(aggregate, child=below), f"{condition} drops whole groups")
    return None
