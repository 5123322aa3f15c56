"""σ[c](R ⋈ S) = σ[c](R) ⋈ S where c reads R alone: pairs that cannot be in an answer are never made."""

from __future__ import annotations

from dataclasses import replace

from slackwater.algebra.expressions import conjunction, conjuncts
from slackwater.algebra.nodes import Join, Plan, Select
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import Expr
from slackwater.rewrite.change import Context, Replacement
from slackwater.rewrite.references import is_pure, reads, respell


def push_selects_below_joins(plan: Plan, context: Context) -> Replacement | None:
    """Move the conjuncts of WHERE or ON that read one side of a join to that side (CSQL section 5, interleaving)."""
    match plan:
        case Select(child=Join() as join, condition=condition) | (Join(condition=Expr() as condition) as join):
            for side in ("left", "right"):
                mine = tuple(part for part in conjuncts(condition) if _reads_only(part, join, side))
                rest = tuple(part for part in conjuncts(condition) if part not in mine)
                if mine:
                    return Replacement(_without(plan, rest, _sunk(join, side, conjunction(mine))), _why(mine, side))
    return None


def _reads_only(condition: Expr, join: Join, side: str) -> bool:
    """Return whether a condition reads at least one column, and only columns of this side."""
    schema = schema_of(join)
    needed = reads(condition, schema)
    return bool(needed) and needed <= set(schema_of(getattr(join, side))) and is_pure(condition, schema)


def _sunk(join: Join, side: str, condition: Expr) -> Join:
    below = join.left if side == "left" else join.right
    selected = Select(below, respell(condition, schema_of(below)))
    return replace(join, left=selected) if side == "left" else replace(join, right=selected)


def _without(plan: Plan, rest: tuple[Expr, ...], join: Join) -> Plan:
    """Return the operator that stated the condition, with the remaining conjuncts."""
    kept = conjunction(rest) if rest else None
    if isinstance(plan, Join):
        return replace(join, condition=kept)
    return Select(join, kept) if kept else join


def _why(mine: tuple[Expr, ...], side: str) -> str:
    return f"{conjunction(mine)} reads the {side} side alone"
