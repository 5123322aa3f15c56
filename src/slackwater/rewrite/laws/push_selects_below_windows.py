"""σ[c](W(S)) = W(σ[c](S)) for a time window: rows that cannot be in an answer never enter the window."""

from __future__ import annotations

from dataclasses import replace

from slackwater.algebra.nodes import Plan, Select, Window
from slackwater.algebra.properties.columns import schema_of
from slackwater.rewrite.change import Context, Replacement
from slackwater.rewrite.passage import passes
from slackwater.rewrite.references import respell


def push_selects_below_windows(plan: Plan, context: Context) -> Replacement | None:
    """Move a selection below a time range at rows or boundaries, or one on partition columns below any window."""
    match plan:
        case Select(child=Window(child=stream) as window, condition=condition):
            if not passes(condition, window, context):
                return None
            below = Select(stream, respell(condition, schema_of(stream)))
            return Replacement(
                replace(window, child=below), f"{condition} reads one row at a time, whatever its window"
            )
    return None
