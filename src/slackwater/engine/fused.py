"""A chain of operators as one kernel, in one call per batch for all keys.

    kernel = Fused(chain)
    state = kernel.init()
    state, output = kernel.step(state, batch, punctuation)

A nested query whose inner grouping refines the outer one needs only one kernel: the outer query reads the output of the
inner one in the same call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from slackwater.engine.columns.arrays import EARLIEST, moments, table
from slackwater.engine.columns.rows import Rows
from slackwater.engine.columns.state import Memory, State
from slackwater.engine.compile import Compiled, compiled
from slackwater.engine.operators.hold import enter_rows
from slackwater.engine.operators.steps import RowOperator, Span
from slackwater.engine.plan import Chain

PUNCTUATION = "punctuation"
EVENT_TIME = "_row_time"
"""The column of the output with the event time of a result row, beside the columns of the query."""


class FusedStep(NamedTuple):
    """The result of a step: the next state, and result rows."""

    state: State
    output: pa.RecordBatch


class Fused:
    """The kernel of a chain. Batches are in order of arrival; any split of the input with the punctuations between the
    same rows gives the same output.

    `output` has the columns of the last step and the event time of its rows, `_row_time`. Rows without an event time
    are left out, because they have no place in the sequence.
    """

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.compiled: Compiled = compiled(self.chain)

    def init(self) -> State:
        return State()

    def step(self, state: State, batch: pa.RecordBatch, punctuation: int, *, everything: bool = False) -> FusedStep:
        memory, span = open_step(state, punctuation, everything=everything)
        rows = enter_rows(memory, self.chain.input, batch)
        rows = through(self.compiled.operators, memory, rows, span)
        return FusedStep(memory.state(), answers(rows))


def open_step(state: State, punctuation: int, *, everything: bool = False) -> tuple[Memory, Span]:
    """Return the memory of a step and its span, and record the punctuation, which never goes back."""
    memory = Memory(state)
    span = Span.until(memory.number(PUNCTUATION, EARLIEST), punctuation, everything=everything)
    memory.put(PUNCTUATION, span.now)
    return memory, span


def through(operators: Sequence[RowOperator], memory: Memory, rows: Rows, span: Span) -> Rows:
    for operator in operators:
        rows, span = operator.step(memory, rows, span)
    return rows


def answers(rows: Rows) -> pa.RecordBatch:
    """Return rows as the result of a query, with their event time."""
    names = dict(zip(rows.batch.schema.names, rows.batch.columns, strict=True))
    return table({**names, EVENT_TIME: moments(rows.time)})
