"""Schedules of jumping windows: every n rows, at rows whose time is a multiple of f, or at boundaries of time.

A schedule is made for each batch. It says for each row the first instant whose window contains it, and when it leaves.
CSQL's jump_to (algorithms 1 to 3) is the clock's `now`, the least exit of any later instant: a row that leaves by then
is in no later window and is not kept, whichever of RANGE and FREQUENCY is larger.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import EARLIEST, LATEST, Bools, Index, Ints, moments
from slackwater.engine.columns.order import counted, positions
from slackwater.engine.columns.rows import ROW_NUMBER, WINDOW_END, WINDOW_START, Rows, caused
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.entries import ExitClock, Resolve, unresolved
from slackwater.engine.operators.groups import Parts
from slackwater.engine.operators.hold import CYCLE, HOLD
from slackwater.engine.operators.instants import Schedule
from slackwater.engine.operators.steps import Span
from slackwater.engine.plan import WindowStep


def counting(before: Ints, now: Ints, parted: bool, resolve: Resolve = unresolved) -> ExitClock:
    """Return a clock that counts the rows of each part, or of the whole stream."""
    return ExitClock(before, now, resolve) if parted else ExitClock(int(before[0]), int(now[0]), resolve)


class Scheduled(NamedTuple):
    """The instants, and the part, enter and exit of each row. `whole`: every row is in some window."""

    schedule: Schedule
    part: Ints | None
    enter: Ints
    exits: Ints
    whole: bool = False


class AtRows:
    """Instants at rows n, 2n, ... of a count, or at rows whose time is a multiple of f (strict).

    Kept: the counts of the parts.
    """

    def __init__(self, name: str, window: WindowStep, sample: Rows) -> None:
        self.window = window
        self.parts = Parts(f"{name}.parts", [sample.column(each).type for each in window.by])
        own = window.count_by != window.by and not window.strict
        types = [sample.column(each).type for each in window.count_by]
        self.counts = Parts(f"{name}.counts", types, cycle=window.every.amount) if own else None

    def step(self, memory: Memory, rows: Rows, span: Span) -> Scheduled:
        window = self.window
        part = self.parts.encode(memory, [rows.column(each) for each in window.by], len(rows))
        before = self.parts.counts(memory)
        number = self.parts.number(memory, part)
        now = self.parts.counts(memory)
        chosen = np.flatnonzero(self._chosen(memory, rows, number))
        chosen = chosen[counted(part[chosen])]
        of = part[chosen]
        ends = np.searchsorted(of, np.arange(len(now)), side="right")
        starts = np.searchsorted(of, np.arange(len(now)))
        at = rows.time if window.range.is_time else number
        times, numbers = rows.time[chosen], number[chosen]
        own = {name: mark.take(pa.array(chosen)) for name, mark in caused(rows).items()}

        def marks(ordinal: Ints) -> Rows:
            made = {name: mark.take(pa.array(ordinal)) for name, mark in own.items()}
            return Rows(nothing_at(ordinal), times[ordinal], {**made, ROW_NUMBER: pa.array(numbers[ordinal])})

        def resolve(exits: Ints, parts: Ints | None) -> Ints:
            where = np.zeros(len(exits), np.int64) if parts is None else parts
            found = positions(of, at[chosen], where, exits - 1)
            return np.where(found < ends[where], found, LATEST)

        entering = positions(of, chosen, part, np.arange(len(rows)) - 1)
        enter = np.where(entering < ends[part], entering, LATEST)
        schedule = Schedule(
            self._clock(span, before, now, resolve),
            starts,
            ends,
            lambda ordinal: chosen[ordinal],
            marks,
        )
        return Scheduled(schedule, part if window.by else None, enter, self._exits(rows, number))

    def _chosen(self, memory: Memory, rows: Rows, number: Ints) -> Bools:
        """Return a mask of the rows that are instants."""
        counts = rows.time if self.window.strict else number
        if self.counts is not None:
            part = self.counts.encode(memory, [rows.column(each) for each in self.window.count_by], len(rows))
            counts = self.counts.number(memory, part)
        chosen: Bools = counts % self.window.every.amount == 0
        return chosen

    @property
    def _regular(self) -> bool:
        """Return whether every n-th row of a part is an instant."""
        return self.counts is None and not self.window.strict

    def _exits(self, rows: Rows, number: Ints) -> Ints:
        """Return the exits. Rows that leave at the same known instant get the same exit: they form a pane."""
        length, every = self.window.range.amount, self.window.every.amount
        if self.window.range.is_time:
            return rows.time + length
        return -(-(number + length) // every) * every if self._regular else number + length

    def _clock(self, span: Span, before: Ints, now: Ints, resolve: Resolve) -> ExitClock:
        if self.window.range.is_time:
            return ExitClock(span.before, span.now, resolve)
        return counting(self._next(before), self._next(now), bool(self.window.by), resolve)

    def _next(self, counts: Ints) -> Ints:
        """Return the number of the next row that can be an instant."""
        every = self.window.every.amount
        return (counts // every + 1) * every if self._regular else counts + 1


class AtBoundaries:
    """Instants at boundaries of time, over the last n rows of each part (a mixed jumping window).

    Kept: the counts of the parts, and the greatest time.
    """

    def __init__(self, name: str, window: WindowStep, sample: Rows) -> None:
        self.window = window
        self.name = name
        self.parts = Parts(f"{name}.parts", [sample.column(each).type for each in window.by])

    def step(self, memory: Memory, rows: Rows, span: Span) -> Scheduled:
        every, length = self.window.every.amount, self.window.range.amount
        part = self.parts.encode(memory, [rows.column(each) for each in self.window.by], len(rows))
        before = self.parts.counts(memory)
        number = self.parts.number(memory, part)
        now = self.parts.counts(memory)
        last = self._last(memory, rows, span)
        boundary = rows.time // every + 1
        enter = np.where(boundary <= last, boundary, LATEST)
        order = counted(part)
        starts = np.searchsorted(part[order], np.arange(len(now)))

        def resolve(exits: Ints, parts: Ints | None) -> Ints:
            """Return the boundaries at which entries leave: that of the row n rows after each."""
            where = np.zeros(len(exits), np.int64) if parts is None else parts
            come = exits <= now[where]
            place = np.where(come, starts[where] + exits - before[where] - 1, 0)
            return np.where(come, enter[order[place]] if len(order) else LATEST, LATEST)

        clock = counting(before, now, bool(self.window.by), resolve)
        schedule = Schedule(clock, span.before // every + 1, last + 1, _itself, self._marks)
        return Scheduled(schedule, part if self.window.by else None, enter, number + length)

    def _last(self, memory: Memory, rows: Rows, span: Span) -> int:
        """Return the last boundary of this batch.

        A flush stops at the first boundary after the last row, or at the last boundary of the windows that are read
        together with this one.
        """
        every = self.window.every.amount
        greatest = max(memory.number(f"{self.name}.greatest", EARLIEST), int(rows.time.max(initial=EARLIEST)))
        memory.put(f"{self.name}.greatest", greatest)
        if span.now < LATEST:
            return span.now // every
        return max(span.before // every, greatest // every + 1, span.reach // every)

    def _marks(self, ordinal: Ints) -> Rows:
        ends = ordinal * self.window.every.amount
        return Rows(nothing_at(ordinal), ends - 1, {WINDOW_END: moments(ends)})


def boundary_marks(ordinal: Ints, every: int, length: int) -> Rows:
    """Return the marks of an extent's result rows: its start and end, and as their time the end minus one tick."""
    ends = ordinal * every
    return Rows(nothing_at(ordinal), ends - 1, {WINDOW_END: moments(ends), WINDOW_START: moments(ends - length)})


def _itself(ordinal: Ints) -> Ints:
    return ordinal


def nothing_at(ordinal: Ints) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(ordinal)], names=[""])


# The most common jumping window: at every n-th row of a stream without partitions, over the last rows or a time.
#
# Rows have consecutive numbers here, so that their enters and exits are constant in runs of n rows. They are computed
# once per run and repeated, without a division or a search per row.


def runs(first: int, count: int, every: int) -> tuple[Ints, Ints]:
    """Return the next multiples of `every` of `count` numbers from `first` on, and how many numbers belong to each.

    >>> [each.tolist() for each in runs(9, 4, 5)]
    [[10, 15], [2, 2]]
    """
    to = np.arange(-(-first // every), -(-(first + count - 1) // every) + 1) * every if count else np.zeros(0, np.int64)
    ends = np.minimum(to, first + count - 1)
    return to, np.diff(ends, prepend=first - 1)


class AtEveryNth:
    """Instants at rows n, 2n, ... of the stream. Kept: the count of its rows."""

    def __init__(self, name: str, window: WindowStep) -> None:
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
        """Return the instants, enters and exits of a cycle: each of its rows is only in the window that ends next."""
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

    def _clock(self, span: Span, first: int, end: int, times: Ints) -> ExitClock:
        """Return the clock of the entries: by row number, or by time."""

        def of_number(exits: Ints, parts: Ints | None) -> Ints:
            found = exits // self.every - 1 - first
            return np.where(found < end - first, np.maximum(found, 0), LATEST)

        def of_time(exits: Ints, parts: Ints | None) -> Ints:
            found = np.searchsorted(times, exits)
            return np.where(found < len(times), found, LATEST)

        resolve: Resolve = of_time if self.window.range.is_time else of_number
        if self.window.range.is_time:
            return ExitClock(span.before, span.now, resolve)
        return ExitClock((first + 1) * self.every, (end + 1) * self.every, resolve)

    def _marks(self, rows: Rows, chosen: Index, first: int) -> Callable[[Ints], Rows]:
        times = rows.time.take(chosen)
        own = {name: mark.take(pa.array(chosen)) for name, mark in caused(rows).items()}

        def marks(ordinal: Ints) -> Rows:
            made = {name: mark.take(pa.array(ordinal)) for name, mark in own.items()}
            number = pa.array((first + 1 + ordinal) * self.every)
            return Rows(nothing_at(ordinal), times.take(ordinal), {**made, ROW_NUMBER: number})

        return marks
