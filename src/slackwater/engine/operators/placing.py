"""Rows below a window: what its filters and projections leave of them, and which row each one was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import Bools, Index, Ints
from slackwater.engine.columns.rows import Rows
from slackwater.engine.operators.steps import applied
from slackwater.engine.plan import Step

PLACE = "place"


class Below(NamedTuple):
    """The rows that are left, the rows of the stream, and the place of the former among the latter (None: all)."""

    rows: Rows
    stream: Rows
    place: Index | None

    def of(self, values: Ints) -> Ints:
        """What belongs to the stream's rows, for those that are left."""
        return values if self.place is None else values.take(self.place)

    def column(self, name: str) -> pa.Array:
        """A column of the stream, for the rows that are left."""
        column = self.stream.column(name)
        return column if self.place is None else column.take(pa.array(self.place))


def below(inner: Sequence[Step], rows: Rows, seen: Bools | None = None) -> Below:
    """Filters and projections over the rows, or over those that are to be seen."""
    if not inner and (seen is None or seen.all()):
        return Below(rows, rows, None)
    marked = Rows(rows.batch, rows.time, {**rows.marks, PLACE: pa.array(np.arange(len(rows)))})
    left = applied(inner, marked if seen is None else marked.at(seen))
    marks = {name: mark for name, mark in left.marks.items() if name != PLACE}
    return Below(Rows(left.batch, left.time, marks), rows, left.marks[PLACE].to_numpy())
