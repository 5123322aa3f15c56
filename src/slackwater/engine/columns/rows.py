"""The rows that pass through a chain: their columns, their event times, and the marks of their instant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import Bools, Index, Ints, joined, moments, picked, stacked, table
from slackwater.errors import QueryError

TIME = "time"
COLUMN, MARK = "column:", "mark:"
"""Prefixes of the names of columns and marks in packed rows."""
INSTANT = "instant"
"""The mark that numbers the instants of a batch in their order: rows of one instant share its number."""
ROW_TIME, ROW_NUMBER, WINDOW_START, WINDOW_END = "row_time", "row_number", "window_start", "window_end"
ORDER = "order."
"""Prefix of the marks that order rows of equal time by the sequence, across buckets."""
CAME = "came"
"""The mark with the arrival of the row that caused an instant, if a query needs it. A boundary has no such row."""
MARKS = {
    ROW_TIME: pa.timestamp("us", "UTC"),
    ROW_NUMBER: pa.int64(),
    WINDOW_START: pa.timestamp("us", "UTC"),
    WINDOW_END: pa.timestamp("us", "UTC"),
    INSTANT: pa.int64(),
}
"""The marks that an expression may read, and their types: INSTANT and the pseudo-columns of language.md."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows, in sequence order unless their operator says otherwise. A missing mark reads as NULL."""

    batch: pa.RecordBatch
    time: Ints
    marks: Mapping[str, pa.Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.time)

    def at(self, index: Index | Ints | Bools) -> Rows:
        """Return the rows at these places, or where the mask is true."""
        if index.dtype == np.bool_ and index.all():
            return self
        places = np.flatnonzero(index) if index.dtype == np.bool_ else index
        marks = {name: mark.take(pa.array(places)) for name, mark in self.marks.items()}
        return Rows(picked(self.batch, index), self.time[index], marks)

    def marked(self, name: str, values: Ints) -> Rows:
        """Return the same rows with one more mark."""
        return replace(self, marks={**self.marks, name: pa.array(values)})

    def placed(self, arrival: Ints, batch: Ints, place: Ints) -> Rows:
        """Return the same rows with marks that order rows of equal time: arrival, batch, place in the batch."""
        marks = {f"{ORDER}{number}": pa.array(each) for number, each in enumerate((arrival, batch, place))}
        return replace(self, marks={**self.marks, **marks})

    def holding(self, batch: pa.RecordBatch) -> Rows:
        """Return the same rows with other columns."""
        return replace(self, batch=batch)

    def mark(self, name: str) -> pa.Array:
        """Return a mark of the instant, which a query reads as a pseudo-column."""
        if name == ROW_TIME:
            return moments(self.time)
        mark = self.marks.get(name)
        return pa.nulls(len(self), MARKS[name]) if mark is None else mark

    def column(self, name: str) -> pa.Array:
        """Return a column by name."""
        if name in self.batch.schema.names:
            return self.batch.column(name)
        raise QueryError(
            "SW-201",
            f"there is no column '{name}' here",
            expected="a column of: " + ", ".join(self.batch.schema.names[:12]),
            hint="name a column of the input",
        )


def ordering(rows: Rows) -> dict[str, pa.Array]:
    """Return the marks that order rows of equal time; none if the query does not need them."""
    return {name: mark for name, mark in rows.marks.items() if name.startswith(ORDER)}


def caused(rows: Rows) -> dict[str, pa.Array]:
    """Return the marks that result rows inherit from the row that caused them: its order and its arrival."""
    return {name: mark for name, mark in rows.marks.items() if name == CAME or name.startswith(ORDER)}


def unordered(rows: Rows) -> Rows:
    """Return the rows without the marks that order them, because their order changes."""
    own = ordering(rows)
    return replace(rows, marks={name: mark for name, mark in rows.marks.items() if name not in own}) if own else rows


def no_rows(schema: pa.Schema) -> Rows:
    """Return zero rows with these columns."""
    return Rows(pa.RecordBatch.from_pylist([], schema), np.empty(0, np.int64))


def packed(rows: Rows) -> pa.RecordBatch:
    """Return the time, columns and marks of rows as one record batch, for the state."""
    names = [TIME, *(f"{COLUMN}{name}" for name in rows.batch.schema.names), *(f"{MARK}{name}" for name in rows.marks)]
    return pa.RecordBatch.from_arrays([pa.array(rows.time), *rows.batch.columns, *rows.marks.values()], names=names)


def unpacked(kept: pa.RecordBatch) -> Rows:
    """Return the rows that `packed` packed."""
    found = dict(zip(kept.schema.names, kept.columns, strict=True))
    columns = {name.removeprefix(COLUMN): each for name, each in found.items() if name.startswith(COLUMN)}
    marks = {name.removeprefix(MARK): each for name, each in found.items() if name.startswith(MARK)}
    return Rows(table(columns), kept.column(TIME).to_numpy(), marks)


def after(one: Rows, two: Rows) -> Rows:
    """Return the concatenation of rows with the same columns and marks."""
    if not len(one) or not len(two):
        return one if len(one) else two
    marks = {name: joined([one.marks[name], mark]) for name, mark in two.marks.items()}
    return Rows(stacked([one.batch, two.batch]), np.concatenate([one.time, two.time]), marks)
