"""Windows at boundaries that are read together: what one holds is looked at wherever another is evaluated.

An extent ends by itself. The last n rows of a stream do not: they are there at every boundary that the punctuation has
passed, and after a flush at those where any window is evaluated that they are read with. Which these are is known when
all of them were asked; so a flush is gone through again with what was found, until that is all (`Changes.step`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from slackwater.engine.columns.arrays import EARLIEST, LATEST, NO_INTS, Ints
from slackwater.engine.columns.order import firsts, stable
from slackwater.engine.columns.rows import Rows
from slackwater.engine.columns.state import Memory
from slackwater.engine.compile import Compiled
from slackwater.engine.operators.instants import spread
from slackwater.engine.operators.steps import Span
from slackwater.engine.plan import Aggregate, Distinct, Filter, Project, Step, Window


def meeting_name(number: int) -> str:
    """Where the boundaries of a meeting are kept."""
    return f"meeting.{number}"


SETTLED = "settled"
"""Where a query keeps how far all that it reads has come, if some of that waits for slots to pass."""


def settled(memory: Memory, mark: int) -> int:
    """How far all windows have come when one has come to a mark: those that read samples may be behind."""
    return min(mark, memory.number(SETTLED, mark))


class Meeting:
    """The boundaries at which something of a meeting is evaluated, and that have not passed, as multiples of its
    slide."""

    def __init__(self, number: int, slide: int) -> None:
        self.name = meeting_name(number)
        self.slide = slide

    def note(self, memory: Memory, first: Ints, last: Ints, span: Span) -> None:
        """All boundaries from a first to a last one, for each of some rows."""
        passed = EARLIEST if span.now == LATEST else settled(memory, span.now) // self.slide
        before = memory.ints(self.name)
        found = _ranges(np.maximum(first, passed + 1), last)
        memory.put(self.name, np.union1d(before[before > passed], found))

    def next(self, memory: Memory, time: Ints, span: Span) -> None:
        """The boundary after each of some times."""
        after = time // self.slide + 1
        self.note(memory, after, after, span)


def _ranges(first: Ints, last: Ints) -> Ints:
    """The numbers that some ranges have, those that begin together only once.

    >>> sorted(_ranges(np.array([4, 1, 4]), np.array([5, 1, 6])).tolist())
    [1, 4, 5, 6]
    """
    order = stable(first)
    order = order[last[order] >= first[order]]
    if not len(order):
        return NO_INTS
    starts = np.flatnonzero(firsts(first[order]))
    begin, end = first[order][starts], np.maximum.reduceat(last[order], starts)
    return spread(begin, end - begin + 1)[1]


class Side:
    """One chain of a meeting. Its instants are those of its last window, or the rows of its last subquery.

    `place` says before which of its operators they can be told. Kept of a window that counts rows: the boundaries
    after its first and its last row.
    """

    def __init__(self, number: int, steps: Sequence[Step], compiled: Compiled, slide: int) -> None:
        self.meeting = Meeting(number, slide)
        within = (Filter, Project, Aggregate, Distinct)
        last = max(place for place, step in enumerate(steps) if not isinstance(step, within))
        border = next(border for border in compiled.borders if border.steps > last)
        step = steps[last]
        self.window = step if isinstance(step, Window) else None
        self.counts = self.window is not None and not self.window.range.is_time
        self.place = border.operators - 1 if self.window else border.operators

    def met(self, memory: Memory, within: Memory, time: Ints, span: Span) -> Span:
        """Tell what rows at these times ask for; the span with how far the others go."""
        slide = self.meeting.slide
        if self.window is None:
            self.meeting.next(memory, time, span)
        elif not self.counts:
            self.meeting.note(memory, time // slide + 1, (time + self.window.range.amount) // slide, span)
        else:
            self._goes_on(memory, within, time // slide + 1, span)
        known = memory.ints(self.meeting.name)
        return replace(span, reach=int(known[-1]) * slide if len(known) else EARLIEST)

    def _goes_on(self, memory: Memory, within: Memory, after: Ints, span: Span) -> None:
        """The last n rows are there from the boundary after the first row on, by themselves to that after the last."""
        own = np.append(within.ints("own"), after)
        if len(own):
            own = np.array([own.min(), own.max()])
            within.put("own", own)
        if span.now == LATEST:
            begin = settled(memory, span.before) // self.meeting.slide + 1
            last = np.maximum(own[1:], span.before // self.meeting.slide)  # it has come so far before
            self.meeting.note(memory, np.maximum(own[:1], begin), last, span)

    def held(self, memory: Memory, rows: Rows, span: Span) -> Rows:
        """After a flush, what is held where something is evaluated."""
        if not self.counts or span.now < LATEST:
            return rows
        return rows.at(np.isin((rows.time + 1) // self.meeting.slide, memory.ints(self.meeting.name)))
