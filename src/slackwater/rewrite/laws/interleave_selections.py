"""σ[c](R × S) = R ⋈[c] S where c reads both sides: the condition is tested while pairs are made."""

from __future__ import annotations

from dataclasses import replace

from slackwater.algebra.expressions import conjunction, conjuncts
from slackwater.algebra.nodes import Join, Plan, Select
from slackwater.algebra.properties.columns import schema_of
from slackwater.rewrite.change import Context, Replacement
from slackwater.rewrite.passage import passes
from slackwater.rewrite.references import reads


def interleave_selections(plan: Plan, context: Context) -> Replacement | None:
    """Move a condition of WHERE that reads both sides of a join into the join's own condition (CSQL section 5)."""
    match plan:
        case Select(child=Join(left=left, right=right, condition=own) as join, condition=condition):
            needed = reads(condition, schema_of(join))
            on_one_side = needed <= set(schema_of(left)) or needed <= set(schema_of(right))
            if on_one_side or not passes(condition, join, context):
                return None
            both = conjunction((*conjuncts(own), *conjuncts(condition)))
            return Replacement(replace(join, condition=both), f"{condition} decides which pairs there are")
    return None
