"""Windows and their aggregates: at every row, at instants (jumping windows), and extents (WIN 6.1).

Kept for the rows that are in the window of a later row or instant: with aggregates their entries and a tally per group,
where rows that enter and leave together at instants (panes) are one entry; without aggregates the rows, and at every
row only their count.

A row enters every extent that was not emitted in an earlier batch, whether the row is late or not; the order of rows
does not matter. An extent is emitted once the punctuation has reached its end. Entries of later extents wait.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import (
    EARLIEST,
    NO_INTS,
    Bools,
    Index,
    Ints,
    column,
    counted,
    in_sequence,
    picked,
    scattered,
    stable,
)
from slackwater.engine.columns.keys import Parts, dense, normal, ranked
from slackwater.engine.columns.rows import ROW_NUMBER, Rows, packed, unpacked
from slackwater.engine.columns.state import Memory, aligned
from slackwater.engine.numbers.tally import ROWS
from slackwater.engine.operators.entries import (
    ARRIVAL,
    ENTER,
    POSITION,
    TIME,
    ExitClock,
    Merge,
    Points,
    Shelf,
    base,
    dense_store,
    part_of,
)
from slackwater.engine.operators.groups import SUMS, Fresh, Grouping
from slackwater.engine.operators.instants import (
    AtBoundaries,
    AtExtents,
    AtRows,
    Schedule,
    Scheduled,
    changes,
    counting,
    mark_instants,
    order_by_instant,
    repeated,
    spread,
)
from slackwater.engine.operators.steps import Below, Span, apply_steps, below
from slackwater.engine.plan import AggregateStep, Step, WindowStep


class RowStream:
    """A window without an aggregate: a row yields itself, with its number in its part if `numbered`."""

    def __init__(self, name: str, window: WindowStep, inner: Sequence[Step], sample: Rows, numbered: bool) -> None:
        self.by = window.by
        self.inner = list(inner)
        self.numbered = numbered
        self.parts = Parts(f"{name}.parts", [sample.column(each).type for each in window.by])

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        if self.numbered:
            part = self.parts.encode(memory, [rows.column(name) for name in self.by], len(rows))
            rows = rows.marked(ROW_NUMBER, self.parts.number(memory, part))
        return apply_steps(self.inner, rows), span


class RowWindow:
    """`RANGE r` or `RANGE n TUPLES` of each part, the filters and projections above it, and its aggregate."""

    def __init__(
        self,
        name: str,
        window: WindowStep,
        inner: Sequence[Step],
        aggregate: AggregateStep,
        sample: Rows,
        numbered: bool,
    ) -> None:
        self.window = window
        self.inner = list(inner)
        self.counted = numbered or not window.range.is_time
        self.parts = Parts(f"{name}.parts", [sample.column(each).type for each in window.by])
        parts = None if window.range.is_time else self.parts
        self.grouping = Grouping(name, window.by, inner, aggregate, sample, False, parts)

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        by = self.window.by
        if self.counted:
            part = self.parts.encode(memory, [rows.column(name) for name in by], len(rows))
            before = self.parts.counts(memory)
            number = self.parts.number(memory, part)
            rows = rows.marked(ROW_NUMBER, number)
        if self.window.range.is_time:
            return self._aggregated(memory, rows, rows.time, ExitClock(span.before, span.now), None), span
        clock = counting(before + 1, self.parts.counts(memory) + 1, bool(by))
        return self._aggregated(memory, rows, number, clock, part if by else None), span

    def _aggregated(self, memory: Memory, rows: Rows, at: Ints, clock: ExitClock, part: Ints | None) -> Rows:
        """Return the results of the rows that pass the filters. Each is a point and enters there; `at` is its clock."""
        groups, aggregates = self.grouping.groups, self.grouping.aggregates
        left = below(self.inner, rows)
        at, part = left.of(at), None if part is None else left.of(part)
        exits = at + self.window.range.amount
        keys = self.grouping.keys(left)
        code = groups.encode(memory, keys, len(left.rows), clock.before, part)
        groups.note(memory, code, exits, part, clock.before)
        order = counted(code)
        points = Points(code.take(order), order, at.take(order), own=True)
        entries = base(code, np.arange(len(code)), exits, part, at)
        fresh = aggregates.entries(entries, aggregates.evaluated(left.rows))
        gone = aggregates.expire(memory, clock)
        found = aggregates.step(memory, clock, gone, fresh, points, groups.keys.size(memory))
        groups.trim(memory, clock.now)
        if not len(order):
            return self.grouping.nothing(left.rows)
        back = pa.array(scattered(np.arange(len(order)), order))
        calls = [column.take(back) for column in aggregates.calls.columns(*found)]
        return self.grouping.result(keys, calls, left.rows)


def when(name: str, window: WindowStep, sample: Rows) -> AtRows | AtBoundaries | AtExtents:
    """Return the schedule that says when a window is evaluated."""
    if not window.every.is_time or window.strict:
        return AtRows(name, window, sample)
    return AtExtents(window) if window.range.is_time else AtBoundaries(name, window, sample)


def entering(inner: Sequence[Step], scheduled: Scheduled, rows: Rows) -> tuple[Below, Scheduled]:
    """Return the rows that are in some window, with their enters and exits."""
    left = below(inner, rows, scheduled.seen)
    part = None if scheduled.part is None else left.of(scheduled.part)
    return left, Scheduled(scheduled.schedule, part, left.of(scheduled.enter), left.of(scheduled.exits))


class WindowGroups:
    """The groups of windows at their instants."""

    def __init__(
        self, name: str, window: WindowStep, inner: Sequence[Step], aggregate: AggregateStep, sample: Rows
    ) -> None:
        self.name, self.inner = name, list(inner)
        self.when = when(name, window, sample)
        self.waits = isinstance(self.when, AtExtents)
        parts = None if isinstance(self.when, AtExtents) else self.when.parts
        self.grouping = Grouping(name, window.by, inner, aggregate, sample, True, parts, mixed=self.waits)

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        given = with_places(memory, self.name, rows) if self.waits else Rows(rows.batch, rows.time)
        left, some = entering(self.inner, self.when.step(memory, rows, span), given)
        groups, aggregates, before = self.grouping.groups, self.grouping.aggregates, some.schedule.clock.before
        known = groups.live(memory, before)
        code = groups.encode(memory, self.grouping.keys(left), len(left.rows), before, some.part)
        groups.note(memory, code, some.exits, some.part, before)
        entries = base(code, some.enter, some.exits, some.part)
        fresh = aggregates.entries(entries, aggregates.evaluated(left.rows))
        if self.waits:
            waiting = f"{self.name}.waiting."
            fresh = {
                name: waited(memory, waiting + name, each, some.schedule, aggregates.merger(name))
                for name, each in fresh.items()
            }
        return self._emit(memory, some.schedule, known, fresh), span

    def _emit(self, memory: Memory, schedule: Schedule, known: Bools, fresh: Fresh) -> Rows:
        """Return the result rows of the instants of a batch; `known` says which codes had entries before the batch."""
        groups, aggregates, clock = self.grouping.groups, self.grouping.aggregates, schedule.clock
        parts = groups.parts(memory)
        gone = aggregates.expire(memory, clock)
        points = changes(schedule, np.flatnonzero(known), parts, gone, fresh[SUMS])
        sums, others = aggregates.step(memory, clock, gone, fresh, points, groups.keys.size(memory))
        keys = groups.keys.columns(memory)
        groups.trim(memory, clock.now)
        if not len(points):
            return self.grouping.nothing(mark_instants(schedule, NO_INTS, NO_INTS))
        place, ordinal = repeated(schedule, points, parts, sums[ROWS], _ranks(keys, points.code))
        order = stable(schedule.order(ordinal))
        place, ordinal = place[order], ordinal[order]
        code = points.code[place]
        calls = [column.take(pa.array(place)) for column in aggregates.calls.columns(sums, others)]
        part = dense(keys[: len(self.grouping.by)])[0][code] if self.grouping.by else np.zeros(len(code), np.int64)
        instants = mark_instants(schedule, ordinal, part)
        return self.grouping.result([key.take(pa.array(code)) for key in keys], calls, instants)


class WindowRows:
    """The rows of windows at their instants.

    At a boundary, rows are ordered by the key of their part, then in sequence order; only in sequence order if `whole`.
    """

    def __init__(self, name: str, window: WindowStep, inner: Sequence[Step], sample: Rows) -> None:
        self.name, self.inner = name, list(inner)
        self.when = when(name, window, sample)
        self.waits = isinstance(self.when, AtExtents)
        self.placed = self.waits or window.whole
        ranks = self.waits or (isinstance(self.when, AtBoundaries) and not window.whole)
        self.by = window.by if ranks else ()

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        given = with_places(memory, self.name, rows) if self.placed else Rows(rows.batch, rows.time)
        left, some = entering(self.inner, self.when.step(memory, rows, span), given)
        marks = {name: mark for name, mark in left.rows.marks.items() if name != TIME}
        marks |= {f"by.{name}": normal(left.column(name)) for name in self.by}
        kept = packed(Rows(left.rows.batch, left.rows.time, marks))
        fresh = base(np.zeros(len(left.rows), np.int64), some.enter, some.exits, some.part)
        names = [*fresh.schema.names, *kept.schema.names]
        fresh = pa.RecordBatch.from_arrays([*fresh.columns, *kept.columns], names=names)
        if self.waits:
            fresh = waited(memory, f"{self.name}.waiting", fresh, some.schedule)
        out, ordinal = self._repeated(memory, some.schedule, fresh)
        part, line = self._parts(out), self._sequence(out)
        order = line[order_by_instant(some.schedule.order(ordinal[line]), part[line])]
        return mark_instants(some.schedule, ordinal[order], part[order]).holding(out.at(order).batch), span

    def _repeated(self, memory: Memory, schedule: Schedule, new: pa.RecordBatch) -> tuple[Rows, Ints]:
        """Return each row once for every instant whose window contains it, with the instant's ordinal.

        The rows are in sequence order. Kept: the rows that are in the window of a later instant.
        """
        shelf = Shelf(memory, f"{self.name}.rows", schedule.clock)
        stored = [name for name in new.schema.names if name != ENTER]
        every = aligned([piece.select(stored) for piece in shelf.with_new(new)])
        enter = np.full(every.num_rows, EARLIEST)
        enter[every.num_rows - new.num_rows :] = column(new, ENTER)
        first, end = schedule.bounds(part_of(every), every.num_rows)
        start = np.clip(enter, first, end)
        stop = np.clip(schedule.clock.exits(every), start, end)
        place, ordinal = spread(start, stop - start)
        shelf.put(shelf.live(new), new)
        return unpacked(picked(every, place)), ordinal

    def _sequence(self, out: Rows) -> Index:
        """Return the sequence order of rows. Without places they are in order already, except for parts."""
        places = [out.marks[name].to_numpy() for name in (ARRIVAL, POSITION)] if self.placed else []
        order = in_sequence(out.time, *places) if places else None
        return np.arange(len(out)) if order is None else order

    def _parts(self, out: Rows) -> Ints:
        """Return the part of each row, numbered in the order of the keys."""
        keys = [out.marks[f"by.{name}"] for name in self.by]
        if not keys or not len(out):
            return np.zeros(len(out), np.int64)
        code, first = dense(keys)
        return ranked([key.take(pa.array(first)) for key in keys])[code]


def waited(
    memory: Memory, name: str, fresh: pa.RecordBatch, schedule: Schedule, merge: Merge | None = None
) -> pa.RecordBatch:
    """Return the entries that a boundary of this batch or the next boundary sees. The others wait in the state.

    Entries that the first boundary of this batch sees get EARLIEST as `enter`.
    """
    due, store = memory.store(name, ENTER).due(int(schedule.end))
    now = column(fresh, ENTER) <= schedule.end
    store = store.add(picked(fresh, ~now))
    if merge is None:
        memory.put_store(name, store)
    else:
        dense_store(memory, name, store, lambda entries: column(entries, ENTER) > schedule.end, merge)
    ready = picked(fresh, now) if due is None else aligned([due, picked(fresh, now)])
    enter = column(ready, ENTER)
    seen = pa.array(np.where(enter <= schedule.first, EARLIEST, enter))
    return ready.set_column(ready.schema.get_field_index(ENTER), ENTER, seen)


def with_places(memory: Memory, name: str, rows: Rows) -> Rows:
    """Return rows with marks for their sequence order alone. Rows that have none are in order: they are numbered."""
    if POSITION in rows.marks:
        arrival, position = rows.marks[ARRIVAL], rows.marks[POSITION]
    else:
        position = pa.array(memory.next(f"{name}.position", len(rows)))
        arrival = pa.array(np.zeros(len(rows), np.int64))
    return Rows(rows.batch, rows.time, {ARRIVAL: arrival, POSITION: position, TIME: pa.array(rows.time)})


def _ranks(keys: list[pa.Array], code: Ints) -> Ints:
    """Return for each code in `code` the rank of its key among the keys of these codes; 0 for other codes."""
    if not keys:
        return np.zeros(1, np.int64)
    rank = np.zeros(len(keys[0]), np.int64)
    used = np.zeros(len(rank), np.bool_)
    used[code] = True
    places = np.flatnonzero(used)
    rank[places] = ranked([key.take(pa.array(places)) for key in keys])
    return rank
