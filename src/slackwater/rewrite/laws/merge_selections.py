"""σ[c1](σ[c2](R)) = σ[c2 and c1](R): adjacent selections that cannot move further down become one."""

from __future__ import annotations

from slackwater.algebra.expressions import conjunction, conjuncts
from slackwater.algebra.nodes import Plan, Select
from slackwater.rewrite.change import Context, Replacement
from slackwater.rewrite.passage import passes


def merge_selections(plan: Plan, context: Context) -> Replacement | None:
    """Merge two selections if no conjunct of the inner one can move further down: the inverse of splitting."""
    match plan:
        case Select(child=Select(child=child, condition=inner), condition=outer):
            if any(passes(part, child, context.under(plan)) for part in conjuncts(inner)):
                return None
            both = conjunction((*conjuncts(inner), *conjuncts(outer)))
            return Replacement(Select(child, both), "two selections in a row are one")
    return None
