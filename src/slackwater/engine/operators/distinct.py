"""COUNT(DISTINCT ...) over windows: the number of values that have a row in the window.

A value is present from the row that finds it absent until the last of its overlapping rows leaves. The count at a point
is the number of such beginnings minus the number of such ends. Kept: for each value in the window of each group, the
row that leaves last.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import (
    EARLIEST,
    NO_INTS,
    Bools,
    Ints,
    column,
    counted,
    firsts,
    joined,
    picked,
    positions,
    sorted_within,
    stable,
    valid,
)
from slackwater.engine.columns.keys import dense, normal
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.calls import DistinctValues
from slackwater.engine.operators.entries import AT, CODE, ENTER, EXIT, ExitClock, Points, Shelf


class DistinctCounts:
    """The number of distinct values that are not NULL in each window."""

    def __init__(self, name: str, source: DistinctValues, mixed: bool) -> None:
        self.name, self.arguments, self.mixed = name, source.arguments, mixed

    def entries(self, base: pa.RecordBatch, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return entries of the rows in which no argument is NULL."""
        entries, known = base, np.ones(base.num_rows, np.bool_)
        for place, name in enumerate(self.arguments):
            values = rows.column(name)
            known &= valid(values)
            entries = entries.append_column(f"value{place}", normal(values))
        return picked(entries, known)

    def merged(self, entries: pa.RecordBatch) -> pa.RecordBatch:
        """Return entries without duplicates: one per value among entries that enter and leave together."""
        if not entries.num_rows:
            return entries
        _, first = dense([entries.column(name) for name in (CODE, ENTER, EXIT)] + self._values(entries))
        return picked(entries, np.sort(first))

    def step(self, memory: Memory, clock: ExitClock, new: pa.RecordBatch, points: Points) -> pa.Array:
        """Return the counts at the points, and keep the last entry of each value that is still in the window."""
        shelf = Shelf(memory, self.name, clock)
        pieces = shelf.with_new(new)
        lives = _Lives.of(clock, pieces, self._identity(pieces), self.mixed)
        found = lives.count(points) if len(points) else NO_INTS
        shelf.put(lives.last & shelf.live(new), new)
        return pa.array(found)

    def _values(self, entries: pa.RecordBatch) -> list[pa.Array]:
        return [entries.column(f"value{place}") for place in range(len(self.arguments))]

    def _identity(self, pieces: list[pa.RecordBatch]) -> Ints:
        """Return a number for each pair of group and value."""
        columns = [joined([piece.column(CODE) for piece in pieces])]
        columns += [joined(list(each)) for each in zip(*(self._values(piece) for piece in pieces), strict=True)]
        return dense(columns)[0]


class _Lives:
    """Old and new entries, and which of them begin and which end a presence of their value."""

    def __init__(self, code: Ints, enter: Ints, exits: Ints, opens: Bools, closes: Bools, last: Bools) -> None:
        self.code, self.enter, self.exits = code, enter, exits
        self.opens, self.closes, self.last = opens, closes, last

    @classmethod
    def of(cls, clock: ExitClock, pieces: list[pa.RecordBatch], value: Ints, mixed: bool) -> _Lives:
        new = pieces[-1]
        count = len(value) - new.num_rows
        code = np.concatenate([column(piece, CODE) for piece in pieces])
        exits = np.concatenate([clock.exits(piece) for piece in pieces])
        enter, at = np.full(len(value), EARLIEST), np.full(len(value), EARLIEST)
        enter[count:], at[count:] = column(new, ENTER), column(new, AT if AT in new.schema.names else ENTER)
        order = stable(exits) if mixed else np.arange(len(value))
        order = order[counted(value[order])]
        first = firsts(value[order])
        apart = np.append(exits[order][:-1], 0) <= np.append(at[order][1:], 0)
        follows = np.append(~first[1:], False)
        closes, opens = np.empty(len(value), np.bool_), np.empty(len(value), np.bool_)
        closes[order] = ~follows | apart
        opens[order] = first | np.append(False, apart[:-1])
        last = np.empty(len(value), np.bool_)
        last[order] = ~follows
        return cls(code, enter, exits, opens, closes, last)

    def count(self, points: Points) -> Ints:
        """Return for each point the number of presences that have begun minus those that have ended."""
        opened = _ended(self.code[self.opens], self.enter[self.opens], points.code, points.enter)
        return opened - _ended(self.code[self.closes], self.exits[self.closes], points.code, points.exit)


def _ended(code: Ints, value: Ints, at_code: Ints, at: Ints) -> Ints:
    """Return for each point the number of entries with its code whose value is at most `at`."""
    order = sorted_within(code, value)
    code = code[order]
    return positions(code, value[order], at_code, at) - np.searchsorted(code, at_code)
