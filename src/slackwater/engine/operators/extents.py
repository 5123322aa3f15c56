"""Extents (WIN 6.1): windows of time at boundaries of time, `RANGE r SLIDE s`.

Rows enter as they come, in any order and late or not, every extent that was not emitted in an earlier batch. An extent
is emitted once the punctuation has reached its end.

Kept: with aggregates the partial aggregates of panes (rows that are in the same extents) of which an extent is to come,
without them the rows; and a tally per group that has such panes.
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
from slackwater.engine.operators.emission import Relation, arranged, groups_emitted, marked
from slackwater.engine.operators.entries import ARRIVAL, ENTER, POSITION, TIME, Clock, Merge, base, column, dense_store
from slackwater.engine.operators.grouping import Grouping
from slackwater.engine.operators.instants import Schedule
from slackwater.engine.operators.schedules import boundary_marks
from slackwater.engine.operators.steps import Below, Span, below
from slackwater.engine.plan import Aggregate, Step, Window


class Boundaries:
    """The boundaries of a slide, and the panes between them."""

    def __init__(self, window: Window) -> None:
        self.every, self.length = window.every.amount, window.range.amount

    def panes(self, time: Ints) -> tuple[Ints, Ints]:
        """The ordinals of the first boundary whose extent a row is in, and of the first after that it is not."""
        return time // self.every + 1, (time + self.length) // self.every + 1

    def schedule(self, span: Span) -> Schedule:
        first, last = span.before // self.every + 1, span.now // self.every
        return Schedule(Clock(first, last + 1), first, last + 1, lambda ordinal: ordinal, self.marks)

    def marks(self, ordinal: Ints) -> Rows:
        return boundary_marks(ordinal, self.every, self.length)


def entering(inner: Sequence[Step], boundaries: Boundaries, schedule: Schedule, rows: Rows) -> tuple[Below, Ints, Ints]:
    """The rows of which an extent is to come, and when they come and go."""
    enter, exits = boundaries.panes(rows.time)
    left = below(inner, rows, (exits > enter) & (exits > schedule.clock.before))
    return left, left.of(enter), left.of(exits)


def waited(
    memory: Memory, name: str, fresh: pa.RecordBatch, schedule: Schedule, merge: Merge | None = None
) -> pa.RecordBatch:
    """The entries that the next boundary sees; the others wait for theirs.

    Those that the first boundary of this batch sees were there all along, as far as this batch is concerned.
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
    """The groups of extents, in each part by `by`."""

    def __init__(self, name: str, window: Window, inner: Sequence[Step], aggregate: Aggregate, sample: Rows) -> None:
        self.name = name
        self.boundaries = Boundaries(window)
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
        return groups_emitted(memory, self.grouping, schedule, known, ready), span


class ExtentRows:
    """The rows of extents in sequence; at one boundary part by part, in the order of their keys."""

    def __init__(self, name: str, window: Window, inner: Sequence[Step]) -> None:
        self.name = name
        self.by = window.by
        self.boundaries = Boundaries(window)
        self.inner = list(inner)
        self.relation = Relation(f"{name}.rows")

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
        order = order[arranged(ordinal[order], part[order])]
        return marked(schedule, ordinal[order], part[order]).holding(out.at(order).batch), span

    def _parts(self, out: Rows) -> Ints:
        """The part of each row, parts in the order of their keys."""
        keys = [out.marks[f"by.{name}"] for name in self.by]
        if not keys or not len(out):
            return np.zeros(len(out), np.int64)
        code, first = dense(keys)
        return ranked([key.take(pa.array(first)) for key in keys])[code]


def with_places(memory: Memory, name: str, rows: Rows) -> Rows:
    """Rows that come from another query are in sequence: their place is their number."""
    marks = dict(rows.marks)
    if POSITION not in marks:
        first = memory.number(f"{name}.position")
        memory.put(f"{name}.position", first + len(rows))
        marks[POSITION] = pa.array(np.arange(first, first + len(rows)))
        marks[ARRIVAL] = pa.array(np.zeros(len(rows), np.int64))
    marks[TIME] = pa.array(rows.time)
    return Rows(rows.batch, rows.time, marks)
