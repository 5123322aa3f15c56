"""Operators over single rows: filters and projections, numbering, FREQUENCY over a stream, and DISTINCT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import (
    EARLIEST,
    LATEST,
    Bools,
    Index,
    Ints,
    arrow_type,
    column,
    firsts,
    known_type,
    scattered,
    sorted_within,
    table,
    true,
)
from slackwater.engine.columns.keys import Parts, dense, normal, ranked
from slackwater.engine.columns.rows import INSTANT, ROW_NUMBER, TIME, Rows, after, caused, packed, unordered, unpacked
from slackwater.engine.columns.state import Memory, OpenStore
from slackwater.engine.expressions import evaluate
from slackwater.engine.plan import FilterStep, FrequencyStep, NamedTree, ProjectStep, Step


@dataclass(frozen=True, slots=True)
class Span:
    """The punctuation of the batch before (`before`) and of this batch (`now`).

    All rows of the stream before `now` have come, and no row before `before` comes any more. If several windows are
    read together, `reach` is the last boundary of any of them: a flush goes on until there. With `everything`, the
    flush of a changelog, the rows from `now` on are released as well, at the last tick before `now`.
    """

    before: int
    now: int
    reach: int = EARLIEST
    everything: bool = False

    @classmethod
    def until(cls, before: int, punctuation: int, *, everything: bool = False) -> Span:
        """Return the span up to a punctuation, which never goes back; with `everything` at least one tick long."""
        return cls(before, max(before + everything, punctuation), everything=everything)

    def slotted(self, length: int) -> Span:
        """Return the span with both ends rounded down to slots of this length: a slot is known once it has passed."""
        return replace(self, before=_slot(self.before, length), now=_slot(self.now, length))


def _slot(mark: int, length: int) -> int:
    return mark if mark in (EARLIEST, LATEST) else mark - mark % length


class RowOperator(Protocol):
    """A step of a chain over rows in sequence order."""

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]: ...


def apply_steps(steps: Sequence[Step], rows: Rows) -> Rows:
    """Apply filters and projections to rows, one after the other."""
    for step in steps:
        match step:
            case FilterStep(condition=condition):
                rows = rows.at(true(evaluate(condition, rows)))
            case ProjectStep(items=items):
                rows = rows.holding(project_items(items, rows))
    return rows


def project_items(items: Sequence[NamedTree], rows: Rows) -> pa.RecordBatch:
    """Return the values of items over rows, in their types."""
    columns = {item.name: evaluate(item.tree, rows) for item in items}
    kinds = {item.name: known_type(item.type) for item in items}
    return table({name: each if (kind := kinds[name]) is None else each.cast(kind) for name, each in columns.items()})


class RowWise:
    """Filters and projections: nothing is kept."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = list(steps)

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        return apply_steps(self.steps, rows), span


class Computed:
    """Columns that Spark has added to the rows. A sample, which has no rows, gets them here."""

    def __init__(self, items: Sequence[NamedTree]) -> None:
        self.items = items

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        batch = rows.batch
        for item in self.items:
            if item.name not in batch.schema.names:
                batch = batch.append_column(item.name, pa.nulls(len(rows), arrow_type(item.type)))
        return rows.holding(batch), span


class Renumber:
    """A subquery: its rows are numbered from 1 on as they appear. Kept: their count."""

    def __init__(self, name: str) -> None:
        self.name = name

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        numbers = pa.array(memory.next(self.name, len(rows)) + 1)
        return Rows(rows.batch, rows.time, {**caused(rows), ROW_NUMBER: numbers}), span


class EveryNth:
    """FREQUENCY n TUPLES of a stream (CSQL 4.3). Kept: per part that is in the middle of a count, the count."""

    def __init__(self, name: str, frequency: FrequencyStep, sample: Rows) -> None:
        self.by, self.every = frequency.by, frequency.every.amount
        self.parts = Parts(name, [sample.column(each).type for each in self.by], cycle=self.every)

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        if not len(rows):
            return rows, span
        part = self.parts.encode(memory, [rows.column(each) for each in self.by], len(rows))
        return rows.at(self.parts.number(memory, part) % self.every == 0), span


class AtMultiples:
    """The strict FREQUENCY f of CSQL 4.4: the rows whose time is a multiple of f. Nothing is kept."""

    def __init__(self, frequency: FrequencyStep) -> None:
        self.every = frequency.every.amount

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        return rows.at(rows.time % self.every == 0), span


class LastOfSlots:
    """FREQUENCY f of a stream (CSQL 4.3): the last row of each slot of time, once the slot has passed.

    Kept: per part the last row so far of the slot that has not passed.
    """

    def __init__(self, name: str, frequency: FrequencyStep) -> None:
        self.name = name
        self.by, self.every = frequency.by, frequency.every.amount

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        slots = span.slotted(self.every)
        opened = OpenStore(memory.store(self.name, TIME), lambda kept: column(kept, TIME) >= slots.before)
        every = rows if opened.old is None else after(unpacked(opened.old), rows)
        last = self._lasts(every)
        stay = last & (every.time >= slots.now)
        memory.put_store(self.name, opened.keep(stay).add(packed(rows.at(stay[len(every) - len(rows) :]))))
        return every.at(last & ~stay), slots

    def _lasts(self, rows: Rows) -> Bools:
        """Return a mask of the last row of each part and slot."""
        last = np.zeros(len(rows), np.bool_)
        if len(rows):
            slot = rows.time // self.every
            keys = [normal(rows.column(each)) for each in self.by]
            code = dense(keys)[0] if keys else np.zeros(len(rows), np.int64)
            order = sorted_within(code, slot)
            last[order] = np.roll(firsts(code[order], slot[order]), -1)
        return last


# Rows below an aggregate: the rows that filters and projections leave, and which row of the stream each one was.


PLACE = "place"


class Below(NamedTuple):
    """The rows after filters and projections, and the rows of the stream.

    `place` has for each row its place in the stream; None if no row was left out.
    """

    rows: Rows
    stream: Rows
    place: Index | None

    def of(self, values: Ints) -> Ints:
        """Return values of the stream's rows for the rows that are left."""
        return values if self.place is None else values.take(self.place)

    def column(self, name: str) -> pa.Array:
        """Return a column of the stream for the rows that are left."""
        column = self.stream.column(name)
        return column if self.place is None else column.take(pa.array(self.place))


def below(inner: Sequence[Step], rows: Rows, seen: Bools | None = None) -> Below:
    """Apply filters and projections to rows, or to those for which `seen` is true."""
    if not inner and (seen is None or seen.all()):
        return Below(rows, rows, None)
    marked = Rows(rows.batch, rows.time, {**rows.marks, PLACE: pa.array(np.arange(len(rows)))})
    left = apply_steps(inner, marked if seen is None else marked.at(seen))
    marks = {name: mark for name, mark in left.marks.items() if name != PLACE}
    return Below(Rows(left.batch, left.time, marks), rows, left.marks[PLACE].to_numpy())


# DISTINCT over the result rows of an instant: each row once, sorted by its columns. Nothing is kept.


class Unique:
    """Removes equal rows of an instant. All rows of an instant come in one batch, so no state is needed.

    The number of the instant is a mark of the rows, or the column `instant`.
    """

    def __init__(self, instant: str | None) -> None:
        self.instant = instant

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        rows = unordered(rows)
        if not len(rows):
            return rows, span
        _, first = dense(self._keys(rows))
        once = rows.at(np.sort(first))
        rank = ranked(self._keys(once))
        return once.at(scattered(np.arange(len(rank)), rank)), span

    def _keys(self, rows: Rows) -> list[pa.Array]:
        """Return the instant of each row, by its time and its number in the batch, and the columns."""
        number = rows.marks[INSTANT] if self.instant is None else rows.column(self.instant)
        return [pa.array(rows.time), number, *(normal(column) for column in rows.batch.columns)]
