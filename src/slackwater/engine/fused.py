"""A chain of operators as one kernel, in one call per batch for all keys.

    kernel = Fused(chain)
    state = kernel.init()
    state, output = kernel.step(state, batch, punctuation)

A nested query whose inner grouping refines the outer one needs only one kernel: the outer query reads the output of the
inner one in the same call.

Otherwise a chain can be cut into stages, each with a kernel and buckets of its own: a stage takes in the output of the
stage before, in the same batch and with the same punctuation. All rows of a stage's output lie between the punctuations
of the batch, and none comes later, so that the next stage has nothing to wait for. It only has to sort the rows of many
buckets into sequence order. For this, every row is marked (`ORDER`) with the place of the row that caused it or, at a
boundary, with the key of its group.

Where a chain is cut because Spark computes columns between two stages (`Compute`), rows stay in their bucket and in
their order.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import EARLIEST, Ints, ints, moments, picked, scattered, table, valid
from slackwater.engine.columns.keys import ranked
from slackwater.engine.columns.order import stable
from slackwater.engine.columns.rows import INSTANT, Rows, ordering, packed, unpacked
from slackwater.engine.columns.state import Memory, State
from slackwater.engine.compile import compiled
from slackwater.engine.operators.hold import cast_columns, enter_rows
from slackwater.engine.operators.instants import order_by_instant
from slackwater.engine.operators.steps import LastOfSlots, RowOperator, Span
from slackwater.engine.plan import Chain

PUNCTUATION = "punctuation"
EVENT_TIME = "_row_time"
"""The column of the output with the event time of a result row, beside the columns of the query."""
BATCH, PLACE = "__batch", "__place"
"""Additional columns of the stream of a first stage whose rows go on to other buckets: the batch of a row, and its
place in the batch among the rows of all buckets."""


class FusedStep(NamedTuple):
    """The result of a step: the next state, and result rows."""

    state: State
    output: pa.RecordBatch


class Fused:
    """The kernel of a chain, or of one of its stages if it has cuts; stages count from 0. None is the whole chain.

    Batches of the stream are in order of arrival; any split of the input with the punctuations between the same rows
    gives the same output. The input of a later stage comes from many buckets, in any order.

    `output` has the columns of the last step and the event time of its rows, `_row_time`. Rows without an event time
    are left out, because they have no place in the sequence. `nothing` is an empty batch of the input.
    """

    def __init__(self, chain: Chain, stage: int | None = None) -> None:
        self.chain = chain
        self.moves = stage is not None and bool(chain.cuts) and not chain.computed
        upto = None if stage is None else (*chain.cuts, None)[stage]
        whole = compiled(chain, ordered=self.moves, upto=upto)
        self.end = None if upto is None else whole.borders[-1].sample
        self.before: tuple[RowOperator, ...] = ()
        self.operators = whole.operators
        self.first = not stage
        if not stage:
            placed = [pa.field(BATCH, pa.int64()), pa.field(PLACE, pa.int64())] if self.moves else []
            self.nothing = pa.RecordBatch.from_pylist([], pa.schema([*chain.input.schema, *placed]))
            return
        begin = next(border for border in whole.borders if border.steps == chain.cuts[stage - 1])
        self.before, self.operators = whole.operators[: begin.operators], whole.operators[begin.operators :]
        sample = begin.sample if self.moves else self.operators[0].step(Memory(State()), begin.sample, Span(0, 0))[0]
        self.nothing = self._hand_on(sample, sample)

    def init(self) -> State:
        return State()

    def step(self, state: State, batch: pa.RecordBatch, punctuation: int) -> FusedStep:
        memory = Memory(state)
        span = Span.until(memory.number(PUNCTUATION, EARLIEST), punctuation)
        memory.put(PUNCTUATION, span.now)
        for operator in self.before:  # their rows come only when a slot has passed
            span = span.slotted(operator.every) if isinstance(operator, LastOfSlots) else span
        rows = self._from_stream(memory, batch) if self.first else self._from_stage(batch)
        for operator in self.operators:
            rows, span = operator.step(memory, rows, span)
        return FusedStep(memory.state(), answers(rows) if self.end is None else self._hand_on(rows, self.end))

    def _from_stream(self, memory: Memory, batch: pa.RecordBatch) -> Rows:
        rows = enter_rows(memory, self.chain.input, batch)
        if not self.moves:
            return rows
        known = valid(batch.column(self.chain.input.time))
        places = [ints(picked(batch.select([name]), known).column(0)) for name in (BATCH, PLACE)]
        return rows.placed(rows.marks["arrival"].to_numpy(), *places)

    def _from_stage(self, batch: pa.RecordBatch) -> Rows:
        rows = unpacked(cast_columns(batch, self.nothing.schema))
        return in_order(rows) if self.moves else rows

    def _hand_on(self, rows: Rows, sample: Rows) -> pa.RecordBatch:
        """Return rows with their time and marks, for the next stage. If rows move to other buckets, INSTANT is dropped.

        Instants are numbered per bucket.
        """
        rows = rows if len(rows) else sample
        marks = {name: mark for name, mark in rows.marks.items() if not self.moves or name != INSTANT}
        return packed(replace(rows, marks=marks))


def answers(rows: Rows) -> pa.RecordBatch:
    """Return rows as the result of a query, with their event time."""
    names = dict(zip(rows.batch.schema.names, rows.batch.columns, strict=True))
    return table({**names, EVENT_TIME: moments(rows.time)})


def in_order(rows: Rows) -> Rows:
    """Return rows in sequence order.

    Rows that are equal in this order belong to one instant: they come from one bucket, already in order.
    """
    if len(rows) < 2:
        return rows
    order = stable(rows.time)
    time = rows.time[order]
    if not (time[1:] > time[:-1]).all():
        order = order_by_instant(rows.time, _rank(list(ordering(rows).values())))
    return rows.at(order)


def _rank(keys: list[pa.Array]) -> Ints:
    """Return the rank of each row by the keys; equal keys keep their order."""
    if not all(pa.types.is_integer(key.type) and not key.null_count for key in keys):
        return ranked(keys)
    order = np.lexsort([key.to_numpy() for key in reversed(keys)])
    return scattered(np.arange(len(order)), order)
