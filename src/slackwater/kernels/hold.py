"""The entry of a chain: rows wait until the punctuation has passed them, and leave in sequence order.

Language.md, "Batches, late and lost": in a batch with punctuation P a row with t < P is late; it is lost to what goes
by its place if rows at t were released in an earlier batch, that is if t < P of the batch before.

Kept: the rows that are not released, and how many rows have come.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from slackwater.kernels.arrays import EARLIEST, Ints, ints, valid
from slackwater.kernels.entries import ARRIVAL, POSITION
from slackwater.kernels.order import in_sequence
from slackwater.kernels.rows import ROW_NUMBER, TIME, Rows, after, packed, unpacked
from slackwater.kernels.state import Memory
from slackwater.kernels.steps import Span


def arrived(memory: Memory, name: str, batch: pa.RecordBatch, time: Ints, arrival: str | None) -> Rows:
    """The rows of a batch with their arrival (NULL before any) and their position in the source."""
    first = memory.number(name)
    memory.put(name, first + batch.num_rows)
    position = np.arange(first, first + batch.num_rows)
    came = np.zeros(batch.num_rows, np.int64)
    if arrival is not None:
        column = batch.column(arrival)
        known = valid(column)
        came = np.full(batch.num_rows, EARLIEST)
        came[known] = ints(column.drop_null())
    return Rows(batch, time, {ARRIVAL: pa.array(came), POSITION: pa.array(position)})


HOLD = "hold"
CYCLE = "cycle"
"""The number that a row of a cycle has in the stream; how many rows the stream has had is in memory, `hold.last`."""


class Cycle(NamedTuple):
    """Of every so many rows of the stream, the last so many: CSQL's jump_to where a window is shorter than its jump."""

    every: int
    last: int


class Hold:
    """Rows in any order in, rows in sequence out, numbered if anyone asks for their numbers.

    With a cycle only its rows leave, numbered: what stands above needs no others, and they are not even put in order.
    """

    def __init__(self, name: str, numbered: bool, cycle: Cycle | None = None) -> None:
        self.name = name
        self.numbered = numbered or cycle is not None
        self.cycle = cycle

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        rows = rows.at(rows.time >= span.before)
        ready = rows.time < span.now
        waiting, store = memory.store(self.name, TIME).due(span.now - 1 if span.now > EARLIEST else EARLIEST)
        memory.put_store(self.name, store.add(packed(rows.at(~ready))))
        out = rows.at(ready)
        if waiting is not None:
            out = after(unpacked(waiting), out)
        order = in_sequence(out.time, *(out.marks[name].to_numpy() for name in (ARRIVAL, POSITION)))
        if not self.numbered:
            out = out if order is None else out.at(order)
            return Rows(out.batch, out.time), span
        number = self._numbers(memory, len(out))
        if self.cycle is not None:
            places = np.flatnonzero((number - 1) % self.cycle.every >= self.cycle.every - self.cycle.last)
            number, order = number[places], places if order is None else order[places]
        out = out if order is None else out.at(order)
        marks = {ROW_NUMBER: pa.array(number)}
        return Rows(out.batch, out.time, marks if self.cycle is None else {**marks, CYCLE: marks[ROW_NUMBER]}), span

    def _numbers(self, memory: Memory, count: int) -> Ints:
        last = memory.number(f"{self.name}.last")
        memory.put(f"{self.name}.last", last + count)
        return np.arange(last + 1, last + 1 + count)
