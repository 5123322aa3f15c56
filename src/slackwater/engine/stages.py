"""A chain in stages, each with buckets of its own: what one yields in a step, the next takes in, in a step of the same
batch and with the same punctuation.

All rows that a stage hands on in a batch lie between the punctuations of that batch, and none comes later; so the next
stage has nothing to wait for. It only has to bring what comes from many buckets into the order of the sequence.
What decides that goes with every row (`ORDER`): the place of the row that caused it or, at a boundary, its group's key.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import Index, Ints, ints, picked, scattered, valid
from slackwater.engine.columns.keys import ranked
from slackwater.engine.columns.order import stable
from slackwater.engine.columns.rows import INSTANT, Rows, ordering, packed, unpacked
from slackwater.engine.columns.state import State
from slackwater.engine.compile import Border, Compiled, compiled
from slackwater.engine.fused import FusedStep, answers, opened, through
from slackwater.engine.operators.emission import arranged
from slackwater.engine.operators.hold import entered
from slackwater.engine.operators.steps import LastOfSlots, Span
from slackwater.engine.plan import Chain

BATCH, PLACE = "__batch", "__place"
"""Columns beside those of the stream: in which batch a row came, and its place there among the rows of all buckets."""


class Opening:
    """The first stage: as `Fused`, up to the cut. Its rows have also BATCH and PLACE; its output is to be handed on."""

    def __init__(self, chain: Chain) -> None:
        self.stream = chain.input
        self.whole = compiled(chain, ordered=True)
        self.end = border_at(self.whole, chain.cuts[0])
        self.operators = self.whole.operators[: self.end.operators]
        placed = [*chain.input.schema, pa.field(BATCH, pa.int64()), pa.field(PLACE, pa.int64())]
        self.nothing = pa.RecordBatch.from_pylist([], pa.schema(placed))

    def init(self) -> State:
        return State()

    def step(self, state: State, batch: pa.RecordBatch, punctuation: int) -> FusedStep:
        memory, span = opened(state, punctuation)
        rows = entered(memory, self.stream, batch)
        known = valid(batch.column(self.stream.time))
        places = [ints(picked(batch.select([name]), known).column(0)) for name in (BATCH, PLACE)]
        rows = rows.placed(rows.marks["arrival"].to_numpy(), *places)
        rows = through(self.operators, memory, rows, span)
        return FusedStep(memory.state(), handed(rows, self.end.sample))


class Later:
    """A stage after others: `number` counts from 1. What it takes in may come from many buckets, in any order."""

    def __init__(self, chain: Chain, number: int) -> None:
        whole = compiled(chain, ordered=True)
        self.begin = border_at(whole, chain.cuts[number - 1])
        last = number == len(chain.cuts)
        self.end = None if last else border_at(whole, chain.cuts[number])
        self.before = whole.operators[: self.begin.operators]
        self.operators = whole.operators[self.begin.operators : None if self.end is None else self.end.operators]
        self.nothing = handed(self.begin.sample, self.begin.sample)

    def init(self) -> State:
        return State()

    def step(self, state: State, batch: pa.RecordBatch, punctuation: int) -> FusedStep:
        memory, span = opened(state, punctuation)
        rows = unpacked(batch)
        order = in_order(rows)
        rows = through(self.operators, memory, rows if order is None else rows.at(order), self._span(span))
        made = answers(rows) if self.end is None else handed(rows, self.end.sample)
        return FusedStep(memory.state(), made)

    def _span(self, span: Span) -> Span:
        """What the stages before know only when a slot has passed, comes only then."""
        for operator in self.before:
            span = span.slotted(operator.every) if isinstance(operator, LastOfSlots) else span
        return span


def border_at(whole: Compiled, cut: int) -> Border:
    return next(border for border in whole.borders if border.steps == cut)


def handed(rows: Rows, sample: Rows) -> pa.RecordBatch:
    """Rows with all that belongs to them. Instants are numbered per bucket, which means nothing elsewhere."""
    own = {name: mark for name, mark in (rows if len(rows) else sample).marks.items() if name != INSTANT}
    return packed(replace(rows if len(rows) else sample, marks=own))


def in_order(rows: Rows) -> Index | None:
    """The order of the sequence; None where that is the order in which they stand.

    Rows that agree in all of it are of one instant: they come from one bucket, in their order.
    """
    if len(rows) < 2:
        return None
    order = stable(rows.time)
    time = rows.time[order]
    if (time[1:] > time[:-1]).all():
        return order
    return arranged(rows.time, _rank(list(ordering(rows).values())))


def _rank(keys: list[pa.Array]) -> Ints:
    """Places in the order of the keys; equal keys in the order in which they stand."""
    if not all(pa.types.is_integer(key.type) and not key.null_count for key in keys):
        return ranked(keys)
    order = np.lexsort([key.to_numpy() for key in reversed(keys)])
    return scattered(np.arange(len(order)), order)
