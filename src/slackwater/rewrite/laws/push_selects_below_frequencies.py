"""σ[p](F[t by P](S)) = F[t by P](σ[p](S)) where p reads P alone; σ[c](F*[t](S)) = F*[t](σ[c](S)) always."""

from __future__ import annotations

from dataclasses import replace

from slackwater.algebra.nodes import Frequency, Plan, Select
from slackwater.rewrite.change import Context, Replacement
from slackwater.rewrite.passage import passes


def push_selects_below_frequencies(plan: Plan, context: Context) -> Replacement | None:
    """Move a selection on partition columns below a time frequency, and any selection below a strict one.

    No selection moves below a tuple frequency.
    """
    match plan:
        case Select(child=Frequency(child=stream) as frequency, condition=condition):
            if not passes(condition, frequency, context):
                return None
            why = "looks at each row's time alone" if frequency.strict else "keeps or drops a partition whole"
            return Replacement(replace(frequency, child=Select(stream, condition)), f"{condition} {why}")
    return None
