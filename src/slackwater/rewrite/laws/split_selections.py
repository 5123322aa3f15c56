"""σ[c1 and c2](R) = σ[c2](σ[c1](R)): a condition is split if one part can move further down than the other."""

from __future__ import annotations

from slackwater.algebra.expressions import conjunction, conjuncts
from slackwater.algebra.nodes import Plan, Select
from slackwater.rewrite.change import Context, Replacement
from slackwater.rewrite.passage import passes


def split_selections(plan: Plan, context: Context) -> Replacement | None:
    """Split a condition if at least one conjunct can move down and at least one cannot (CSQL section 5, splitting)."""
    if not isinstance(plan, Select):
        return None
    every = conjuncts(plan.condition)
    sinking = tuple(part for part in every if passes(part, plan.child, context))
    staying = tuple(part for part in every if part not in sinking)
    if not sinking or not staying:
        return None
    split = Select(Select(plan.child, conjunction(sinking)), conjunction(staying))
    return Replacement(split, f"{conjunction(sinking)} can be tested earlier than {conjunction(staying)}")
