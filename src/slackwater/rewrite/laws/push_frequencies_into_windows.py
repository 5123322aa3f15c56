"""F[n](W(S)) is one jumping window: the windows between two jumps are not computed (CSQL 4.4 and 9, jump_to)."""

from __future__ import annotations

from slackwater.algebra.lengths import ONE_TUPLE
from slackwater.algebra.nodes import Frequency, Plan, Window
from slackwater.rewrite.change import Context, Replacement
from slackwater.rewrite.partitions import merge_partitions


def push_frequencies_into_windows(plan: Plan, context: Context) -> Replacement | None:
    """Merge a frequency into a window at every row, unless both are times (see `turn_frequencies_into_slides`).

    The rule does not fire below another frequency: that one picks rows now, and would pick instants over a window.
    """
    match plan:
        case Frequency(child=Window(every=at) as window, every=every, by=by, strict=False) if at == ONE_TUPLE:
            parts = merge_partitions(by, window.by, window)
            if parts is None or isinstance(context.parent, Frequency) or (every.is_time and window.range.is_time):
                return None
            jumping = Window(window.child, window.range, every, parts)
            return Replacement(jumping, f"only the windows of every {every} are asked for")
    return None
