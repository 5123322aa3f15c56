"""Extents (WIN 6.1): windows of time at boundaries of time, `RANGE r SLIDE s`.

A row enters every extent that was not emitted in an earlier batch, whether the row is late or not; the order of rows
does not matter. An extent is emitted once the punctuation has reached its end.

Kept, as long as an extent of them is still to be emitted: with aggregates the partial aggregates of panes (rows that
are in the same extents) and a tally per group; without aggregates the rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import EARLIEST, Ints, picked
from slackwater.engine.columns.keys import dense, normal, ranked
from slackwater.engine.columns.order import in_sequence
from slackwater.engine.columns.rows import Rows
from slackwater.engine.columns.segments import aligned
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.emission import WindowRelation, emit_groups, mark_instants, order_by_instant
from slackwater.engine.operators.entries import (
    ARRIVAL,
    ENTER,
    POSITION,
    TIME,
    ExitClock,
    Merge,
    base,
    column,
    dense_store,
)
from slackwater.engine.operators.grouping import Grouping
from slackwater.engine.operators.instants import Schedule
from slackwater.engine.operators.schedules import boundary_marks
from slackwater.engine.operators.steps import Below, Span, below
from slackwater.engine.plan import AggregateStep, Step, WindowStep


class SlideBoundaries:
    """The boundaries of a slide, and the panes between them."""

    def __init__(self, window: WindowStep) -> None:
        self.every, self.length = window.every.amount, window.range.amount

    def panes(self, time: Ints) -> tuple[Ints, Ints]:
        """Return for each row the ordinals of the first extent that contains it, and of the first extent after it."""
        return time // self.every + 1, (time + self.length) // self.every + 1

    def schedule(self, span: Span) -> Schedule:
        first, last = span.before // self.every + 1, span.now // self.every
        return Schedule(ExitClock(first, last + 1), first, last + 1, lambda ordinal: ordinal, self.marks)

    def marks(self, ordinal: Ints) -> Rows:
        return boundary_marks(ordinal, self.every, self.length)


def entering(
    inner: Sequence[Step], boundaries: SlideBoundaries, schedule: Schedule, rows: Rows
) -> tuple[Below, Ints, Ints]:
    """Return the rows that have an extent still to be emitted, with their enters and exits."""
    enter, exits = boundaries.panes(rows.time)
    left = below(inner, rows, (exits > enter) & (exits > schedule.clock.before))
    return left, left.of(enter), left.of(exits)


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


class ExtentGroups:
    """The groups of each extent, in each part of the columns `by`."""

    def __init__(
        self, name: str, window: WindowStep, inner: Sequence[Step], aggregate: AggregateStep, sample: Rows
    ) -> None:
        self.name = name
        self.boundaries = SlideBoundaries(window)
        self.inner = list(inner)
        self.grouping = Grouping(name, window.by, inner, aggregate, sample, partial=True, mixed=True)

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        schedule = self.boundaries.schedule(span)
        left, enter, exits = entering(self.inner, self.boundaries, schedule, with_places(memory, self.name, rows))
        groups, aggregates, before = self.grouping.groups, self.grouping.aggregates, schedule.clock.before
        known = groups.live(memory, before)
        code = groups.encode(memory, self.grouping.keys(left), len(left.rows), before, None)
        groups.note(memory, code, exits, None, before)
        fresh = aggregates.entries(base(code, enter, exits), aggregates.evaluated(left.rows))
        ready = {
            name: waited(memory, f"{self.name}.waiting.{name}", entries, schedule, aggregates.merger(name))
            for name, entries in fresh.items()
        }
        return emit_groups(memory, self.grouping, schedule, known, ready), span


class ExtentRows:
    """The rows of extents. At one boundary, rows are ordered by the key of their part, then in sequence order."""

    def __init__(self, name: str, window: WindowStep, inner: Sequence[Step]) -> None:
        self.name = name
        self.by = window.by
        self.boundaries = SlideBoundaries(window)
        self.inner = list(inner)
        self.relation = WindowRelation(f"{name}.rows")

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        schedule = self.boundaries.schedule(span)
        left, enter, exits = entering(self.inner, self.boundaries, schedule, with_places(memory, self.name, rows))
        marks = {name: left.rows.marks[name] for name in (ARRIVAL, POSITION)}
        marks |= {f"by.{name}": normal(left.column(name)) for name in self.by}
        kept = Rows(left.rows.batch, left.rows.time, marks)
        entries = self.relation.entries(base(np.zeros(len(kept), np.int64), enter, exits), kept)
        ready = waited(memory, f"{self.name}.waiting", entries, schedule)
        out, ordinal, _ = self.relation.step(memory, schedule, ready)
        order = in_sequence(out.time, *(out.marks[name].to_numpy() for name in (ARRIVAL, POSITION)))
        order = np.arange(len(out)) if order is None else order
        part = self._parts(out)
        order = order[order_by_instant(ordinal[order], part[order])]
        return mark_instants(schedule, ordinal[order], part[order]).holding(out.at(order).batch), span

    def _parts(self, out: Rows) -> Ints:
        """Return the part of each row, numbered in the order of the keys."""
        keys = [out.marks[f"by.{name}"] for name in self.by]
        if not keys or not len(out):
            return np.zeros(len(out), np.int64)
        code, first = dense(keys)
        return ranked([key.take(pa.array(first)) for key in keys])[code]


def with_places(memory: Memory, name: str, rows: Rows) -> Rows:
    """Return rows with marks for their sequence order. Rows of a subquery are in order: they are numbered."""
    marks = dict(rows.marks)
    if POSITION not in marks:
        first = memory.number(f"{name}.position")
        memory.put(f"{name}.position", first + len(rows))
        marks[POSITION] = pa.array(np.arange(first, first + len(rows)))
        marks[ARRIVAL] = pa.array(np.zeros(len(rows), np.int64))
    marks[TIME] = pa.array(rows.time)
    return Rows(rows.batch, rows.time, marks)
