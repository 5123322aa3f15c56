"""A chain of operators as one kernel: what a description says, in one call per batch for all keys.

    kernel = Fused(description)
    state = kernel.init()
    state, output, late = kernel.step(state, batch, punctuation)

A nested query whose inner grouping refines the outer one needs no more than one kernel: the outer reads what the inner
yields, in the same call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from slackwater.kernels.arrays import EARLIEST, Ints, ints, moments, picked, table, valid
from slackwater.kernels.chain import Chain, parse
from slackwater.kernels.compile import Compiled, compiled
from slackwater.kernels.hold import arrived
from slackwater.kernels.state import Memory, State
from slackwater.kernels.steps import Span

PUNCTUATION = "punctuation"
EVENT_TIME = "_row_time"
"""The column of the output that has the event time of a result row, whatever the query calls its own columns."""


class Step(NamedTuple):
    """What a step yields: the next state, result rows, and the rows that were late."""

    state: State
    output: pa.RecordBatch
    late: pa.RecordBatch


class Kernel(Protocol):
    """The contract of all kernels. Any split of the input with the punctuations between the same rows gives the same
    output; batches are in arrival order."""

    def init(self) -> State: ...

    def step(self, state: State, batch: pa.RecordBatch, punctuation: int) -> Step: ...


class Fused:
    """The kernel of a chain. `output` has the columns of the last step and the event time of its rows, `_row_time`;
    `late` has those of the input, `late_by`, `punctuation` and `missed` (how many windows, or 1 for a place). A row
    without an event time can have no place: it is among the late ones, with NULL in those columns."""

    def __init__(self, description: str | Mapping[str, Any] | Chain) -> None:
        self.chain = description if isinstance(description, Chain) else parse(description)
        self.compiled: Compiled = compiled(self.chain)

    def init(self) -> State:
        return State()

    def step(self, state: State, batch: pa.RecordBatch, punctuation: int) -> Step:
        memory = Memory(state)
        before = memory.number(PUNCTUATION, EARLIEST)
        span = Span(before, max(before, punctuation))
        memory.put(PUNCTUATION, span.now)
        batch = typed(batch, self.chain.schema)
        known = valid(batch.column(self.chain.time))
        placed = picked(batch, known)
        time = ints(placed.column(self.chain.time))
        rows = arrived(memory, "arrived", placed, time, self.chain.arrival)
        late = self._late(batch, known, time, span)
        through = span
        for operator in self.compiled.operators:
            rows, through = operator.step(memory, rows, through)
        names = dict(zip(rows.batch.schema.names, rows.batch.columns, strict=True))
        return Step(memory.state(), table({**names, EVENT_TIME: moments(rows.time)}), late)

    def _late(self, batch: pa.RecordBatch, known: np.ndarray[Any, Any], time: Ints, span: Span) -> pa.RecordBatch:
        """The rows behind the punctuation, and those without a time."""
        times = np.full(batch.num_rows, EARLIEST)
        times[known] = time
        aside = times < span.now if span.now > EARLIEST else ~known
        rows = picked(batch, aside | ~known)
        times, known = times[aside | ~known], known[aside | ~known]
        behind = np.where(known, span.now - times, 0)
        columns = {
            "late_by": pa.array(behind, mask=~known),
            "punctuation": pa.array(np.full(len(times), span.now), mask=~known),
            "missed": pa.array(self.compiled.missed(times, span.before), mask=~known),
        }
        names = dict(zip(rows.schema.names, rows.columns, strict=True))
        return table({**names, **columns})


def typed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of the chain in their types, whatever else a host sends and in which time zone."""
    columns = [batch.column(field.name) for field in schema]
    cast = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(cast, names=schema.names)
