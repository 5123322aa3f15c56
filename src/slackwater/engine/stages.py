"""A chain in stages, each with buckets of its own: a stage takes in the output of the stage before, in the same batch
and with the same punctuation.

All rows of a stage's output lie between the punctuations of the batch, and none comes later, so that the next stage has
nothing to wait for. It only has to sort the rows of many buckets into sequence order. For this, every row is marked
(`ORDER`) with the place of the row that caused it or, at a boundary, with the key of its group.

Where a chain is cut because Spark computes columns between two stages (`Compute`), rows stay in their bucket and in
their order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import Index, Ints, ints, picked, scattered, valid
from slackwater.engine.columns.keys import ranked
from slackwater.engine.columns.order import stable
from slackwater.engine.columns.rows import INSTANT, Rows, ordering, packed, unpacked
from slackwater.engine.columns.state import Memory, State
from slackwater.engine.compile import Border, Compiled, compiled
from slackwater.engine.fused import FusedStep, answers, open_step, through
from slackwater.engine.operators.hold import cast_columns, enter_rows
from slackwater.engine.operators.instants import order_by_instant
from slackwater.engine.operators.steps import LastOfSlots, Span
from slackwater.engine.plan import Chain

BATCH, PLACE = "__batch", "__place"
"""Additional columns of the stream: the batch of a row, and its place in the batch among the rows of all buckets."""


class Opening:
    """The first stage: like `Fused`, up to the first cut.

    If the next stage has other buckets, its input also has BATCH and PLACE.
    """

    def __init__(self, chain: Chain) -> None:
        self.stream = chain.input
        self.moves = not chain.computed
        whole = compiled(chain, ordered=self.moves, upto=chain.cuts[0])
        self.end = whole.borders[-1]
        self.operators = whole.operators
        placed = [pa.field(BATCH, pa.int64()), pa.field(PLACE, pa.int64())] if self.moves else []
        self.nothing = pa.RecordBatch.from_pylist([], pa.schema([*chain.input.schema, *placed]))

    def init(self) -> State:
        return State()

    def step(self, state: State, batch: pa.RecordBatch, punctuation: int) -> FusedStep:
        memory, span = open_step(state, punctuation)
        rows = enter_rows(memory, self.stream, batch)
        if self.moves:
            known = valid(batch.column(self.stream.time))
            places = [ints(picked(batch.select([name]), known).column(0)) for name in (BATCH, PLACE)]
            rows = rows.placed(rows.marks["arrival"].to_numpy(), *places)
        rows = through(self.operators, memory, rows, span)
        return FusedStep(memory.state(), hand_on(rows, self.end.sample, moves=self.moves))


class Later:
    """A later stage; `number` counts from 1. Its input comes from many buckets, in any order."""

    def __init__(self, chain: Chain, number: int) -> None:
        self.moves = not chain.computed
        last = number == len(chain.cuts)
        whole = compiled(chain, ordered=self.moves, upto=None if last else chain.cuts[number])
        begin = border_at(whole, chain.cuts[number - 1])
        self.end = None if last else whole.borders[-1]
        self.before = whole.operators[: begin.operators]
        self.operators = whole.operators[begin.operators :]
        sample = begin.sample if self.moves else self.operators[0].step(Memory(State()), begin.sample, Span(0, 0))[0]
        self.nothing = hand_on(sample, sample, moves=self.moves)

    def init(self) -> State:
        return State()

    def step(self, state: State, batch: pa.RecordBatch, punctuation: int) -> FusedStep:
        memory, span = open_step(state, punctuation)
        rows = unpacked(cast_columns(batch, self.nothing.schema))
        order = in_order(rows) if self.moves else None
        rows = through(self.operators, memory, rows if order is None else rows.at(order), self._span(span))
        made = answers(rows) if self.end is None else hand_on(rows, self.end.sample, moves=self.moves)
        return FusedStep(memory.state(), made)

    def _span(self, span: Span) -> Span:
        """Return the span rounded down to the slots of earlier stages, whose rows come only when a slot has passed."""
        for operator in self.before:
            span = span.slotted(operator.every) if isinstance(operator, LastOfSlots) else span
        return span


def border_at(whole: Compiled, cut: int) -> Border:
    return next(border for border in whole.borders if border.steps == cut)


def hand_on(rows: Rows, sample: Rows, *, moves: bool) -> pa.RecordBatch:
    """Return rows with their time and marks, for the next stage. If rows move to other buckets, INSTANT is dropped.

    Instants are numbered per bucket.
    """
    own = {name: mark for name, mark in (rows if len(rows) else sample).marks.items() if not moves or name != INSTANT}
    return packed(replace(rows if len(rows) else sample, marks=own))


def in_order(rows: Rows) -> Index | None:
    """Return the places of rows in sequence order, or None if there is nothing to sort.

    Rows that are equal in this order belong to one instant: they come from one bucket, already in order.
    """
    if len(rows) < 2:
        return None
    order = stable(rows.time)
    time = rows.time[order]
    if (time[1:] > time[:-1]).all():
        return order
    return order_by_instant(rows.time, _rank(list(ordering(rows).values())))


def _rank(keys: list[pa.Array]) -> Ints:
    """Return the rank of each row by the keys; equal keys keep their order."""
    if not all(pa.types.is_integer(key.type) and not key.null_count for key in keys):
        return ranked(keys)
    order = np.lexsort([key.to_numpy() for key in reversed(keys)])
    return scattered(np.arange(len(order)), order)
