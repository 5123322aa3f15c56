"""The entry of a chain: rows wait until the punctuation has passed them, and leave in sequence order.

Language.md, "Batches, late and lost": a row is lost to what goes by its place if rows at its time were released in an
earlier batch, that is if its time is before the punctuation of that batch.

The flush of a changelog releases every row and stops time at the newest row that is not suspect. Rows beyond that time
leave at that time, in the order of their arrival.

Kept: the rows that are not released, and how many rows have come.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import EARLIEST, LATEST, Ints, ints, picked, valid
from slackwater.engine.columns.order import in_sequence
from slackwater.engine.columns.rows import CAME, ROW_NUMBER, TIME, Rows, after, ordering, packed, unpacked
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.entries import ARRIVAL, POSITION
from slackwater.engine.operators.steps import Span
from slackwater.engine.plan import Input


def entered(memory: Memory, stream: Input, batch: pa.RecordBatch, name: str = "arrived") -> Rows:
    """The rows of a batch that have an event time, with their arrival (NULL before any) and their position."""
    batch = typed(batch, stream.schema)
    batch = picked(batch, valid(batch.column(stream.time)))
    first = memory.number(name)
    memory.put(name, first + batch.num_rows)
    came = np.zeros(batch.num_rows, np.int64)
    if stream.arrival is not None:
        column = batch.column(stream.arrival)
        came = np.full(batch.num_rows, EARLIEST)
        came[valid(column)] = ints(column.drop_null())
    position = np.arange(first, first + batch.num_rows)
    return Rows(batch, ints(batch.column(stream.time)), {ARRIVAL: pa.array(came), POSITION: pa.array(position)})


def typed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of the chain in their types, whatever else a host sends and in which time zone."""
    columns = [batch.column(field.name) for field in schema]
    cast = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(cast, names=schema.names)


HOLD = "hold"
CYCLE = "cycle"
"""The number that a row of a cycle has in the stream; how many rows the stream has had is in memory, `hold.last`."""


class Cycle(NamedTuple):
    """Of every so many rows of the stream, the last so many: CSQL's jump_to where a window is shorter than its jump."""

    every: int
    last: int

    def places(self, before: int, count: int) -> Ints:
        """Which of `count` rows, `before` having been there, are of the cycle.

        >>> Cycle(5, 2).places(4, 10).tolist()
        [0, 4, 5, 9]
        """
        starts = np.arange(before // self.every, (before + count) // self.every + 1) * self.every
        places: Ints = ((starts + self.every - self.last)[:, None] + np.arange(self.last)).ravel() - before
        return places[(places >= 0) & (places < count)]


class RowHold:
    """Rows in any order in, rows in sequence out, numbered if anyone asks for their numbers.

    With a cycle only its rows leave, numbered: what stands above needs no others, and they are not even put in order.
    With `came` they say when they arrived.
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
        memory.put(f"{self.name}.last", last + len(out))
        if self.cycle is None:
            out = out if order is None else out.at(order)
            return out.marked(ROW_NUMBER, np.arange(last + 1, last + 1 + len(out))), span
        places = self.cycle.places(last, len(out))
        number = last + 1 + places
        out = out.at(places if order is None else order.take(places))
        return out.marked(ROW_NUMBER, number).marked(CYCLE, number), span
