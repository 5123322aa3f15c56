"""Instants: when windows are evaluated, where the result of a group changes, and the result rows of each instant.

Windows are evaluated every n rows, at rows whose time is a multiple of f, or at boundaries of time. A schedule is made
for each batch. It says for each row the first instant whose window contains it, and when it leaves. CSQL's jump_to
(algorithms 1 to 3) is the clock's `now`, the least exit of any later instant: a row that leaves by then is in no later
window and is not kept, whichever of RANGE and FREQUENCY is larger.

Instants have ordinals. Between two changes of a group its result stays the same, so it is computed once and repeated
for every instant up to the next change. An instant with an empty window yields no row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import (
    EARLIEST,
    FITS,
    LATEST,
    Bools,
    Index,
    Ints,
    column,
    counted,
    firsts,
    ints,
    moments,
    positions,
    stable,
)
from slackwater.engine.columns.keys import Parts
from slackwater.engine.columns.rows import INSTANT, ROW_NUMBER, WINDOW_END, WINDOW_START, Rows, caused
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.entries import CODE, ENTER, ExitClock, Points, Resolve, unresolved
from slackwater.engine.operators.hold import CYCLE, HOLD
from slackwater.engine.operators.steps import Span
from slackwater.engine.plan import WindowStep
from slackwater.errors import RunError

MOST = 1 << 28
"""The most result rows of a batch. With a larger value, a batch may take more memory of the worker before it fails."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The instants of a batch, and the clock by which entries leave.

    The ordinals go from `first` up to `end`, each one number or one per part. `order` returns the place of an instant
    among all parts; `marks` returns the time and the marks of its result rows, as rows without columns.
    """

    clock: ExitClock
    first: int | Ints
    end: int | Ints
    order: Callable[[Ints], Ints]
    marks: Callable[[Ints], Rows]
    disjoint: bool = False
    """Whether windows do not overlap: an entry is only in the window of the instant at which it enters."""

    def bounds(self, part: Ints | None, size: int) -> tuple[Ints, Ints]:
        """Return the first ordinal and the end for entries of these parts."""
        if isinstance(self.first, int) or isinstance(self.end, int):
            return np.full(size, self.first), np.full(size, self.end)
        of = np.zeros(size, np.int64) if part is None else part
        return self.first[of], self.end[of]


def counting(before: Ints, now: Ints, parted: bool, resolve: Resolve = unresolved) -> ExitClock:
    """Return a clock that counts the rows of each part, or of the whole stream."""
    return ExitClock(before, now, resolve) if parted else ExitClock(int(before[0]), int(now[0]), resolve)


class Scheduled(NamedTuple):
    """The instants, and the part, enter and exit of each row. `seen`: the rows in some window; None if all are."""

    schedule: Schedule
    part: Ints | None
    enter: Ints
    exits: Ints
    seen: Bools | None = None

    def useful(self) -> Scheduled:
        """Return the same with a mask of the rows in some window of this batch or of a later one: CSQL's jump_to."""
        clock = self.schedule.clock
        limit = clock.now if isinstance(clock.now, int) else clock.now[self.part]
        held: Bools = clock.resolve(self.exits, self.part) > self.enter
        return self._replace(seen=held | (self.exits > limit))


class AtExtents:
    """The boundaries of a slide, and the panes between them."""

    def __init__(self, window: WindowStep) -> None:
        self.every, self.length = window.every.amount, window.range.amount

    def step(self, memory: Memory, rows: Rows, span: Span) -> Scheduled:
        """Return for each row the first extent that contains it, and the first one after it."""
        first, last = span.before // self.every + 1, span.now // self.every
        schedule = Schedule(ExitClock(first, last + 1), first, last + 1, _itself, self._marks)
        enter, exits = rows.time // self.every + 1, (rows.time + self.length) // self.every + 1
        return Scheduled(schedule, None, enter, exits, (exits > enter) & (exits > first))

    def _marks(self, ordinal: Ints) -> Rows:
        ends = ordinal * self.every
        marks = {WINDOW_END: moments(ends), WINDOW_START: moments(ends - self.length)}
        return Rows(nothing_at(ordinal), ends - 1, marks)


class AtRows:
    """Instants at rows n, 2n, ... of a count, or at rows whose time is a multiple of f (strict).

    If every n-th row of each part is an instant (`regular`), enters and exits are computed from row numbers, without a
    search. Kept: the counts of the parts.
    """

    def __init__(self, name: str, window: WindowStep, sample: Rows) -> None:
        self.window = window
        self.every, self.length = window.every.amount, window.range.amount
        self.parts = Parts(f"{name}.parts", [sample.column(each).type for each in window.by])
        own = window.count_by != window.by and not window.strict
        types = [sample.column(each).type for each in window.count_by]
        self.counts = Parts(f"{name}.counts", types, cycle=self.every) if own else None
        self.regular = self.counts is None and not window.strict
        self.by_number = self.regular and not window.range.is_time

    def step(self, memory: Memory, rows: Rows, span: Span) -> Scheduled:
        part = self.parts.encode(memory, [rows.column(each) for each in self.window.by], len(rows))
        before = self.parts.counts(memory)
        number = self._numbers(memory, rows, part)
        now = self.parts.counts(memory)
        following = (number - 1) // self.every + 1  # the n of the next n-th row
        chosen = np.flatnonzero(number == following * self.every if self.regular else self._chosen(memory, rows))
        chosen = chosen[counted(part[chosen])] if self.window.by else chosen
        of = part[chosen]
        ends = np.searchsorted(of, np.arange(len(now)), side="right")
        starts = np.searchsorted(of, np.arange(len(now)))
        at = (rows.time if self.window.range.is_time else number)[chosen]
        shift, last = starts - 1 - before // self.every, now // self.every

        def nth(times: Ints, parts: Ints | None) -> Ints:
            """Return the instants at the n-th, 2n-th, ... rows of parts."""
            where = 0 if parts is None else parts
            return np.where(times <= last[where], times + shift[where], LATEST)

        def resolve(exits: Ints, parts: Ints | None) -> Ints:
            if self.by_number:
                return nth(exits // self.every, parts)
            where = np.zeros(len(exits), np.int64) if parts is None else parts
            found = positions(of, at, where, exits - 1)
            return np.where(found < ends[where], found, LATEST)

        parts = part if self.window.by else None
        if self.regular:
            enter = nth(following, parts)
        else:
            found = positions(of, chosen, part, np.arange(len(rows)) - 1)
            enter = np.where(found < ends[part], found, LATEST)
        schedule = Schedule(
            self._clock(span, before, now, resolve),
            starts,
            ends,
            chosen.take,
            self._marks(rows, chosen, number[chosen]),
            disjoint=self.by_number and not self.window.by and self.length <= self.every,
        )
        whole = self.by_number and (self.length >= self.every or CYCLE in rows.marks)
        scheduled = Scheduled(schedule, parts, enter, self._exits(rows, number))
        return scheduled if whole else scheduled.useful()

    def _numbers(self, memory: Memory, rows: Rows, part: Ints) -> Ints:
        """Return the number of each row in its part. The rows of a cycle have theirs in the whole stream already."""
        if CYCLE not in rows.marks:
            return self.parts.number(memory, part)
        self.parts.settle(memory, np.array([memory.number(f"{HOLD}.last")]))
        return ints(rows.marks[CYCLE])

    def _chosen(self, memory: Memory, rows: Rows) -> Bools:
        """Return a mask of the rows that are instants, if these are not every n-th row of a part."""
        counts = rows.time
        if self.counts is not None:
            part = self.counts.encode(memory, [rows.column(each) for each in self.window.count_by], len(rows))
            counts = self.counts.number(memory, part)
        chosen: Bools = counts % self.every == 0
        return chosen

    def _exits(self, rows: Rows, number: Ints) -> Ints:
        """Return the exits. Rows that leave at the same known instant get the same exit: they form a pane."""
        if self.window.range.is_time:
            return rows.time + self.length
        return self._next(number + self.length - 1)

    def _clock(self, span: Span, before: Ints, now: Ints, resolve: Resolve) -> ExitClock:
        if self.window.range.is_time:
            return ExitClock(span.before, span.now, resolve)
        return counting(self._next(before), self._next(now), bool(self.window.by), resolve)

    def _next(self, counts: Ints) -> Ints:
        """Return the number of the next row that can be an instant."""
        return (counts // self.every + 1) * self.every if self.regular else counts + 1

    def _marks(self, rows: Rows, chosen: Index, numbers: Ints) -> Callable[[Ints], Rows]:
        times = rows.time[chosen]
        own = {name: mark.take(pa.array(chosen)) for name, mark in caused(rows).items()}

        def marks(ordinal: Ints) -> Rows:
            made = {name: mark.take(pa.array(ordinal)) for name, mark in own.items()}
            return Rows(nothing_at(ordinal), times[ordinal], {**made, ROW_NUMBER: pa.array(numbers[ordinal])})

        return marks


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
        return Scheduled(schedule, part if self.window.by else None, enter, number + length).useful()

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


def _itself(ordinal: Ints) -> Ints:
    return ordinal


def nothing_at(ordinal: Ints) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(ordinal)], names=[""])


def changes(schedule: Schedule, live: Ints, parts: Ints, gone: pa.RecordBatch | None, new: pa.RecordBatch) -> Points:
    """Return the points at which the result of a group may change: its first instant, and where entries enter or leave.

    `live` are the codes of groups that had entries before; `parts` has the part of each code.
    """
    if schedule.disjoint:
        return _windows(schedule, gone, new)
    seen = [(live, np.full(len(live), EARLIEST))]
    seen += [(column(new, CODE), column(new, ENTER)), (column(new, CODE), schedule.clock.exits(new))]
    if gone is not None:
        seen.append((column(gone, CODE), schedule.clock.exits(gone)))
    code = np.concatenate([each for each, _ in seen])
    ordinal = np.concatenate([each for _, each in seen])
    first, end = schedule.bounds(parts[code] if len(parts) else None, len(code))
    ordinal = np.maximum(ordinal, first)
    within = ordinal < end
    code, ordinal = _sorted(code[within], ordinal[within])
    new_one = firsts(code, ordinal)
    return Points(code[new_one], ordinal[new_one], ordinal[new_one])


def _windows(schedule: Schedule, gone: pa.RecordBatch | None, new: pa.RecordBatch) -> Points:
    """Return one point per group and window that has an entry of it. Entries from before are in the first window."""
    code, ordinal = column(new, CODE), column(new, ENTER)
    came = ordinal < LATEST
    code, ordinal = code[came], ordinal[came]
    if gone is not None:
        code = np.concatenate([column(gone, CODE), code])
        ordinal = np.concatenate([np.zeros(gone.num_rows, np.int64), ordinal])
        order = counted(code)  # the entries of a group are already in order
        code, ordinal = code.take(order), ordinal.take(order)
    first = firsts(code, ordinal)
    return Points(code[first], ordinal[first], ordinal[first], alone=True)


def _sorted(code: Ints, ordinal: Ints) -> tuple[Ints, Ints]:
    if not len(code):
        return code, ordinal
    least, spread = int(ordinal.min()), int(ordinal.max()) - int(ordinal.min()) + 1
    if (int(code.max()) + 1) * spread < FITS:
        key = np.sort(code * spread + (ordinal - least))
        return key // spread, key % spread + least
    order = np.lexsort((ordinal, code))
    return code[order], ordinal[order]


def repeated(schedule: Schedule, points: Points, parts: Ints, rows: Ints, rank: Ints) -> tuple[Index, Ints]:
    """Return for each result row its point and the ordinal of its instant; groups in the order of `rank`."""
    if points.alone:
        count = (rows > 0).astype(np.int64)
    else:
        _, end = schedule.bounds(parts[points.code] if len(parts) else None, len(points))
        same = points.code[1:] == points.code[:-1]
        end[:-1][same] = points.enter[1:][same]
        count = np.where(rows > 0, end - points.enter, 0)
    order = stable(rank[points.code])
    place, ordinal = spread(points.enter[order], count[order])
    return order[place], ordinal


def spread(start: Ints, count: Ints) -> tuple[Index, Ints]:
    """Return each place `count` times, and numbers that count from its `start`.

    >>> [each.tolist() for each in spread(np.array([5, 9]), np.array([2, 1]))]
    [[0, 0, 1], [5, 6, 9]]
    """
    total = float(count.sum(dtype=np.float64))
    if total > MOST:
        raise RunError(
            "SW-552",
            f"one batch would yield {total:.3g} rows",
            hint="use a larger SLIDE or FREQUENCY, or let the punctuation advance in smaller steps",
        )
    place = np.repeat(np.arange(len(count)), count)
    ends = np.cumsum(count)
    return place, start[place] + np.arange(len(place)) - np.repeat(ends - count, count)


def mark_instants(schedule: Schedule, ordinal: Ints, part: Ints) -> Rows:
    """Return the time and marks of result rows as rows without columns, with a number for each instant."""
    number = np.cumsum(firsts(schedule.order(ordinal), part), dtype=np.int64)
    return schedule.marks(ordinal).marked(INSTANT, number)


def order_by_instant(order: Ints, rank: Ints) -> Index:
    """Return the order of rows by the place of their instant, then by rank."""
    by_rank = stable(rank)
    return by_rank[stable(order[by_rank])]
