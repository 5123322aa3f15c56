"""F[f](W[r](S)) with both times is RANGE r SLIDE f (language.md, "Windows and frequencies")."""

from __future__ import annotations

from slackwater.algebra.lengths import ONE_TUPLE
from slackwater.algebra.nodes import Frequency, Plan, Window
from slackwater.rewrite.change import Context, Replacement
from slackwater.rewrite.partitions import merge_partitions


def turn_frequencies_into_slides(plan: Plan, context: Context) -> Replacement | None:
    """Turn a time frequency over a time window into a slide.

    Its instants are the multiples of f, independent of rows.
    """
    match plan:
        case Frequency(child=Window(every=at) as window, every=every, by=by, strict=False) if at == ONE_TUPLE:
            parts = merge_partitions(by, window.by, window)
            if parts is None or isinstance(context.parent, Frequency) or not (every.is_time and window.range.is_time):
                return None
            sliding = Window(window.child, window.range, every, parts)
            return Replacement(
                sliding, f"RANGE {window.range}, FREQUENCY {every} is RANGE {window.range} SLIDE {every}"
            )
    return None
