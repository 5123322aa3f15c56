"""Rewrite a plan with the rules that its physical plan can use, so that EXPLAIN shows what runs."""

from __future__ import annotations

from collections.abc import Iterable

from slackwater.algebra.catalog import ViewDef
from slackwater.algebra.nodes import Plan
from slackwater.errors import QueryError
from slackwater.rewrite import rewrite
from slackwater.rewrite.driver import Rewritten
from slackwater.rewrite.laws.share_panes import share_panes
from slackwater.rewrite.rules import RULES

WITHOUT_PANES = tuple(rule for rule in RULES if rule is not share_panes)


def optimise(plan: Plan, views: Iterable[ViewDef] = ()) -> Rewritten:
    """Return a plan after its rewrites. Panes are left out if Spark's own operators run it: they cannot share panes.

    The plan is rewritten with panes first, because `way_of` needs them to choose the fused operator.
    """
    known = tuple(views)
    done = rewrite(plan, known)
    shares = any(step.rule == share_panes.__name__ for step in done.steps)
    return rewrite(plan, known, WITHOUT_PANES) if shares and not _keeps_panes(done.plan) else done


def _keeps_panes(plan: Plan) -> bool:
    """Return whether the fused operator, which can share panes between extents, runs a plan."""
    from slackwater.spark.planner.ways import Host, way_of  # noqa: PLC0415 (Spark takes long to import)

    try:
        return way_of(plan).host is Host.FUSED
    except QueryError:
        return False  # no operator can run it
