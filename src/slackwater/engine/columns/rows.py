"""Rows on their way through a chain: their columns, their event times, and the marks of the instant they come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import Bools, Index, Ints, joined, moments, picked, stacked, table
from slackwater.errors import QueryError

TIME = "time"
COLUMN, MARK = "column:", "mark:"
"""Before the names of columns and marks, where rows are packed."""
INSTANT = "instant"
"""The mark by which rows of one instant are known, in the order of the instants of a batch."""
ROW_TIME, ROW_NUMBER, WINDOW_START, WINDOW_END = "row_time", "row_number", "window_start", "window_end"
ORDER = "order."
"""Before the marks that put rows of one time in the order of the sequence, whichever bucket they come from."""
CAME = "came"
"""The mark of when the row that caused an instant arrived, where somebody asks for it; at a boundary no row did."""
MARKS = {
    ROW_TIME: pa.timestamp("us", "UTC"),
    ROW_NUMBER: pa.int64(),
    WINDOW_START: pa.timestamp("us", "UTC"),
    WINDOW_END: pa.timestamp("us", "UTC"),
}
"""The pseudo-columns that a query may name (language.md), and their types."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows in sequence order, unless their operator says otherwise. A mark that is not there is NULL."""

    batch: pa.RecordBatch
    time: Ints
    marks: Mapping[str, pa.Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.time)

    def at(self, index: Index | Ints | Bools) -> Rows:
        """The rows at these places, or where the mask is true."""
        if index.dtype == np.bool_ and index.all():
            return self
        places = np.flatnonzero(index) if index.dtype == np.bool_ else index
        marks = {name: mark.take(pa.array(places)) for name, mark in self.marks.items()}
        return Rows(picked(self.batch, index), self.time[index], marks)

    def marked(self, name: str, values: Ints) -> Rows:
        """The same rows with one more mark."""
        return replace(self, marks={**self.marks, name: pa.array(values)})

    def placed(self, arrival: Ints, batch: Ints, place: Ints) -> Rows:
        """The same rows with what orders those of one time: arrival, then batch and place in it."""
        marks = {f"{ORDER}{number}": pa.array(each) for number, each in enumerate((arrival, batch, place))}
        return replace(self, marks={**self.marks, **marks})

    def holding(self, batch: pa.RecordBatch) -> Rows:
        """The same rows with other columns."""
        return replace(self, batch=batch)

    def mark(self, name: str) -> pa.Array:
        """A mark of the instant: a pseudo-column of the query."""
        if name == ROW_TIME:
            return moments(self.time)
        mark = self.marks.get(name)
        return pa.nulls(len(self), MARKS[name]) if mark is None else mark

    def column(self, name: str) -> pa.Array:
        """A column by name."""
        if name in self.batch.schema.names:
            return self.batch.column(name)
        raise QueryError(
            "SW-201",
            f"there is no column '{name}' here",
            expected="a column of: " + ", ".join(self.batch.schema.names[:12]),
            hint="name a column of the input",
        )


def ordering(rows: Rows) -> dict[str, pa.Array]:
    """The marks that order rows of one time; none where nobody asks for them."""
    return {name: mark for name, mark in rows.marks.items() if name.startswith(ORDER)}


def caused(rows: Rows) -> dict[str, pa.Array]:
    """The marks that what a row causes has from it: those that order it, and when it arrived."""
    return {name: mark for name, mark in rows.marks.items() if name == CAME or name.startswith(ORDER)}


def unordered(rows: Rows) -> Rows:
    """Rows without these marks: their order is another."""
    own = ordering(rows)
    return replace(rows, marks={name: mark for name, mark in rows.marks.items() if name not in own}) if own else rows


def no_rows(schema: pa.Schema) -> Rows:
    """No rows of these columns."""
    return Rows(pa.RecordBatch.from_pylist([], schema), np.empty(0, np.int64))


def packed(rows: Rows) -> pa.RecordBatch:
    """Rows as one record batch, to be kept: their time, their columns and their marks."""
    names = [TIME, *(f"{COLUMN}{name}" for name in rows.batch.schema.names), *(f"{MARK}{name}" for name in rows.marks)]
    return pa.RecordBatch.from_arrays([pa.array(rows.time), *rows.batch.columns, *rows.marks.values()], names=names)


def unpacked(kept: pa.RecordBatch) -> Rows:
    """The rows that were packed."""
    found = dict(zip(kept.schema.names, kept.columns, strict=True))
    columns = {name.removeprefix(COLUMN): each for name, each in found.items() if name.startswith(COLUMN)}
    marks = {name.removeprefix(MARK): each for name, each in found.items() if name.startswith(MARK)}
    return Rows(table(columns), kept.column(TIME).to_numpy(), marks)


def after(one: Rows, two: Rows) -> Rows:
    """Two lots of rows of the same columns and marks, one after the other."""
    if not len(one) or not len(two):
        return one if len(one) else two
    marks = {name: joined([one.marks[name], mark]) for name, mark in two.marks.items()}
    return Rows(stacked([one.batch, two.batch]), np.concatenate([one.time, two.time]), marks)
