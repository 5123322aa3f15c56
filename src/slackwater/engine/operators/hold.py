"""The entry of a chain: rows wait until the punctuation has passed them, and leave in sequence order.

Operators that depend on the sequence of rows lose a row whose time is before the punctuation of an earlier batch: rows
at that time were released then (docs/semantics.md, "Batches, late and lost").

The flush of a changelog releases every row and stops time at the newest row that is not suspect. Rows beyond that time
leave at that time, in the order of their arrival.

Kept: the rows that are not released, and how many rows have come.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import EARLIEST, LATEST, Ints, in_sequence, ints, picked, valid
from slackwater.engine.columns.rows import CAME, ROW_NUMBER, TIME, Rows, after, ordering, packed, unpacked
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.entries import ARRIVAL, POSITION
from slackwater.engine.operators.steps import Span
from slackwater.engine.plan import Input


def enter_rows(memory: Memory, stream: Input, batch: pa.RecordBatch, name: str = "arrived") -> Rows:
    """Return the rows of a batch that have an event time, with their arrival and their position in the stream.

    A NULL arrival comes before any other.
    """
    batch = cast_columns(batch, stream.schema)
    batch = picked(batch, valid(batch.column(stream.time)))
    came = np.zeros(batch.num_rows, np.int64)
    if stream.arrival is not None:
        column = batch.column(stream.arrival)
        came = np.full(batch.num_rows, EARLIEST)
        came[valid(column)] = ints(column.drop_null())
    position = memory.next(name, batch.num_rows)
    return Rows(batch, ints(batch.column(stream.time)), {ARRIVAL: pa.array(came), POSITION: pa.array(position)})


def cast_columns(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return the columns of the schema in their types; a host may send other columns and other time zones."""
    columns = [batch.column(field.name) for field in schema]
    cast = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(cast, names=schema.names)


HOLD = "hold"
CYCLE = "cycle"
"""The mark with the number of a row in the stream. The number of all rows so far is in memory, as `hold.last`."""


class Cycle(NamedTuple):
    """The `last` rows of `every` so many rows of the stream: CSQL's jump_to for a window shorter than its jump."""

    every: int
    last: int

    def places(self, before: int, count: int) -> Ints:
        """Return which of the next `count` rows are in the cycle, after `before` rows of the stream.

        >>> Cycle(5, 2).places(4, 10).tolist()
        [0, 4, 5, 9]
        """
        starts = np.arange(before // self.every, (before + count) // self.every + 1) * self.every
        places: Ints = ((starts + self.every - self.last)[:, None] + np.arange(self.last)).ravel() - before
        return places[(places >= 0) & (places < count)]


class RowHold:
    """Takes rows in any order and returns them in sequence order; with `numbered`, marked with their numbers.

    With a cycle, only the rows of the cycle are returned, numbered, and no other row is sorted into place. With `came`,
    rows are marked with their arrival.
    """

    def __init__(self, name: str, numbered: bool, cycle: Cycle | None = None, came: bool = False) -> None:
        self.name = name
        self.numbered = numbered or cycle is not None
        self.cycle = cycle
        self.came = came

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        rows = rows.at(rows.time >= span.before)
        limit = LATEST if span.everything else span.now
        ready = rows.time < limit
        waiting, store = memory.store(self.name, TIME).due(limit - 1 if limit > EARLIEST else EARLIEST)
        store = replace(store, floor=span.now - 1) if span.everything else store
        out = rows.at(ready)
        memory.put_store(self.name, store if out is rows else store.add(packed(rows.at(~ready))))
        if waiting is not None:
            out = after(unpacked(waiting), out)
        if span.everything:
            out = replace(out, time=np.minimum(out.time, span.now - 1))
        order = in_sequence(out.time, *(out.marks[name].to_numpy() for name in (ARRIVAL, POSITION)))
        came = {CAME: out.marks[ARRIVAL]} if self.came else {}
        out = Rows(out.batch, out.time, {**ordering(out), **came})
        if not self.numbered:
            return (out if order is None else out.at(order)), span
        last = memory.number(f"{self.name}.last")
        number = memory.next(f"{self.name}.last", len(out)) + 1
        if self.cycle is None:
            return (out if order is None else out.at(order)).marked(ROW_NUMBER, number), span
        places = self.cycle.places(last, len(out))
        number = number[places]
        out = out.at(places if order is None else order.take(places))
        return out.marked(ROW_NUMBER, number).marked(CYCLE, number), span
