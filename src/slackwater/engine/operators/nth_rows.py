"""The commonest jumping window: every n-th row of a stream that is not partitioned, over the last rows or some time.

Rows have consecutive numbers here, so that all that is counted comes in runs of n: which instant a row waits for and
when it leaves are repeated run by run, and nothing is divided or looked up row by row.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import LATEST, Index, Ints
from slackwater.engine.columns.rows import ROW_NUMBER, Rows, caused
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.entries import Clock, Resolve
from slackwater.engine.operators.groups import Parts
from slackwater.engine.operators.hold import CYCLE, HOLD
from slackwater.engine.operators.instants import Schedule
from slackwater.engine.operators.schedules import Scheduled, nothing_at
from slackwater.engine.operators.steps import Span
from slackwater.engine.plan import Window


def runs(first: int, count: int, every: int) -> tuple[Ints, Ints]:
    """Of `count` numbers from `first` on: the multiples of `every` that they go up to, and how many go to each.

    >>> [each.tolist() for each in runs(9, 4, 5)]
    [[10, 15], [2, 2]]
    """
    to = np.arange(-(-first // every), -(-(first + count - 1) // every) + 1) * every if count else np.zeros(0, np.int64)
    ends = np.minimum(to, first + count - 1)
    return to, np.diff(ends, prepend=first - 1)


class AtEveryNth:
    """Instants at rows n, 2n, ... of the stream. Kept: the count of its rows."""

    def __init__(self, name: str, window: Window) -> None:
        self.window = window
        self.every, self.length = window.every.amount, window.range.amount
        self.parts = Parts(f"{name}.parts", [])

    def step(self, memory: Memory, rows: Rows, span: Span) -> Scheduled:
        before = int(self.parts.counts(memory)[0])
        cycle = CYCLE in rows.marks
        now = memory.number(f"{HOLD}.last") if cycle else before + len(rows)
        self.parts.put(memory, np.array([now]))
        first, end = before // self.every, now // self.every
        if cycle:
            chosen, enter, exits = self._of_cycle(before, now, first, end)
        else:
            chosen = np.arange(self.every - 1 - before % self.every, len(rows), self.every)
            enter, exits = self._of_all(rows, before, first, end)
        schedule = Schedule(
            self._clock(span, first, end, rows.time.take(chosen)),
            np.zeros(1, np.int64),
            np.array([end - first]),
            chosen.take,
            self._marks(rows, chosen, first),
            disjoint=not self.window.range.is_time and self.length <= self.every,
        )
        whole = cycle or (not self.window.range.is_time and self.length >= self.every)
        return Scheduled(schedule, None, enter, exits, whole)

    def _of_cycle(self, before: int, now: int, first: int, end: int) -> tuple[Index, Ints, Ints]:
        """Every row is in the window that ends next, and in no other: they come window by window."""
        nth = np.arange(first + 1, end + 2)
        ends = nth * self.every
        counts = np.maximum(np.minimum(ends, now) - np.maximum(ends - self.length, before), 0)
        enter = np.where(nth <= end, nth - 1 - first, LATEST)
        chosen = np.cumsum(counts)[nth <= end] - 1
        return chosen, np.repeat(enter, counts), np.repeat(ends + self.every, counts)

    def _of_all(self, rows: Rows, before: int, first: int, end: int) -> tuple[Ints, Ints]:
        to, counts = runs(before + 1, len(rows), self.every)
        nth = to // self.every
        enter = np.repeat(np.where(nth <= end, nth - 1 - first, LATEST), counts)
        if self.window.range.is_time:
            return enter, rows.time + self.length
        return enter, np.repeat(*runs(before + 1 + self.length, len(rows), self.every))

    def _clock(self, span: Span, first: int, end: int, times: Ints) -> Clock:
        """Those that leave at the same instant have the same exit, where that is known: they form a pane."""

        def of_number(exits: Ints, parts: Ints | None) -> Ints:
            found = exits // self.every - 1 - first
            return np.where(found < end - first, np.maximum(found, 0), LATEST)

        def of_time(exits: Ints, parts: Ints | None) -> Ints:
            found = np.searchsorted(times, exits)
            return np.where(found < len(times), found, LATEST)

        resolve: Resolve = of_time if self.window.range.is_time else of_number
        if self.window.range.is_time:
            return Clock(span.before, span.now, resolve)
        return Clock((first + 1) * self.every, (end + 1) * self.every, resolve)

    def _marks(self, rows: Rows, chosen: Index, first: int) -> Callable[[Ints], Rows]:
        times = rows.time.take(chosen)
        own = {name: mark.take(pa.array(chosen)) for name, mark in caused(rows).items()}

        def marks(ordinal: Ints) -> Rows:
            made = {name: mark.take(pa.array(ordinal)) for name, mark in own.items()}
            number = pa.array((first + 1 + ordinal) * self.every)
            return Rows(nothing_at(ordinal), times.take(ordinal), {**made, ROW_NUMBER: number})

        return marks
