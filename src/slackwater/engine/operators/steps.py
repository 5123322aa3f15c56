"""Operators that look at one row at a time: filters, projections; and the sampling of rows by frequency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import EARLIEST, LATEST, Bools, picked, table, true
from slackwater.engine.columns.keys import dense, normal
from slackwater.engine.columns.order import bounds, counted, firsts, stable
from slackwater.engine.columns.rows import ROW_NUMBER, TIME, Rows, after, caused, packed, unpacked
from slackwater.engine.columns.state import Memory
from slackwater.engine.columns.types import known_type
from slackwater.engine.expressions.evaluate import evaluate
from slackwater.engine.operators.groups import Parts
from slackwater.engine.plan import Filter, Frequency, Item, Project, Step


@dataclass(frozen=True, slots=True)
class Span:
    """The punctuations of a stream between which rows come: `before` of the batch before, `now` of this one.

    All rows of the stream before `now` have come, and none before `before` comes any more. Where other windows are read
    together with one, `reach` is the last boundary of any: after a flush it says how long to go on.
    """

    before: int
    now: int
    reach: int = EARLIEST

    def slotted(self, length: int) -> Span:
        """The span of what is known only when a slot of this length has passed."""
        return Span(_slot(self.before, length), _slot(self.now, length), self.reach)


def _slot(mark: int, length: int) -> int:
    return mark if mark in (EARLIEST, LATEST) else mark - mark % length


class Operator(Protocol):
    """A step of a chain over rows in sequence order."""

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]: ...


def applied(steps: Sequence[Step], rows: Rows) -> Rows:
    """Filters and projections, one after the other."""
    for step in steps:
        match step:
            case Filter(condition=condition):
                rows = rows.at(true(evaluate(condition, rows)))
            case Project(items=items):
                rows = rows.holding(projected(items, rows))
    return rows


def projected(items: Sequence[Item], rows: Rows) -> pa.RecordBatch:
    """The values of items over rows, in their types."""
    columns = {item.name: evaluate(item.tree, rows) for item in items}
    kinds = {item.name: known_type(item.type) for item in items}
    return table({name: each if (kind := kinds[name]) is None else each.cast(kind) for name, each in columns.items()})


class RowWise:
    """Filters and projections: nothing is kept."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = list(steps)

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        return applied(self.steps, rows), span


class Renumber:
    """A subquery: its rows are numbered from 1 on as they appear. Kept: their count."""

    def __init__(self, name: str) -> None:
        self.name = name

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        last = memory.number(self.name)
        memory.put(self.name, last + len(rows))
        numbers = pa.array(np.arange(last + 1, last + 1 + len(rows)))
        return Rows(rows.batch, rows.time, {**caused(rows), ROW_NUMBER: numbers}), span


class EveryNth:
    """FREQUENCY n TUPLES of a stream (CSQL 4.3). Kept: per part that is in the middle of a count, the count."""

    def __init__(self, name: str, frequency: Frequency, sample: Rows) -> None:
        self.by, self.every = frequency.by, frequency.every.amount
        self.parts = Parts(name, [sample.column(each).type for each in self.by], cycle=self.every)

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        if not len(rows):
            return rows, span
        part = self.parts.encode(memory, [rows.column(each) for each in self.by], len(rows))
        return rows.at(self.parts.number(memory, part) % self.every == 0), span


class AtMultiples:
    """The strict FREQUENCY f of CSQL 4.4: the rows whose time is a multiple of f. Nothing is kept."""

    def __init__(self, frequency: Frequency) -> None:
        self.every = frequency.every.amount

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        return rows.at(rows.time % self.every == 0), span


class LastOfSlots:
    """FREQUENCY f of a stream (CSQL 4.3): the last row of each slot of time, once the slot has passed.

    Kept: per part the last row so far of the slot that has not passed.
    """

    def __init__(self, name: str, frequency: Frequency) -> None:
        self.name = name
        self.by, self.every = frequency.by, frequency.every.amount

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        slots = span.slotted(self.every)
        store = memory.store(self.name, TIME)
        kept = store.all()
        there = np.zeros(0, np.bool_) if kept is None else kept.column(TIME).to_numpy() >= slots.before
        every = rows if kept is None else after(unpacked(picked(kept, there)), rows)
        last = self._lasts(every)
        stay = last & (every.time >= slots.now)
        if kept is not None:
            still = there.copy()
            still[there] = stay[: np.count_nonzero(there)]
            store = store.keep(kept, still)
        memory.put_store(self.name, store.add(packed(rows.at(stay[len(every) - len(rows) :]))))
        return every.at(last & ~stay), slots

    def _lasts(self, rows: Rows) -> Bools:
        """The last row of each part and slot."""
        last = np.zeros(len(rows), np.bool_)
        if len(rows):
            slot = rows.time // self.every
            code = (
                dense([normal(rows.column(each)) for each in self.by])[0] if self.by else np.zeros(len(rows), np.int64)
            )
            order = stable(slot)
            order = order[counted(code[order])]
            _, ends = bounds(firsts(code[order], slot[order]))
            last[order[ends - 1]] = True
        return last
