"""MIN and MAX over windows, of any type that has an order; MIN_BY and MAX_BY, which compare pairs.

Kept: the entries of each group that are larger than all later ones (the monotone queue of sliding maxima); no other
entry can be the maximum of a later window. The maximum of a range of entries is computed from the maxima of all ranges
of 1, 2, 4, ... entries (a sparse table), one level at a time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import Bools, Index, Ints, counted, ints, joined, picked, scattered, table
from slackwater.engine.columns.keys import dense, from_ordinals, ordinals, ranked
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.calls import ExtremeValue
from slackwater.engine.operators.entries import ExitClock, Layout, Points, Shelf, heads, runs_of

VALUE = "value"


class Extremes:
    """The greatest or the least value of each window, or the value beside it."""

    def __init__(self, name: str, source: ExtremeValue, mixed: bool) -> None:
        self.name, self.source, self.mixed = name, source, mixed

    def entries(self, base: pa.RecordBatch, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return entries of the rows that count."""
        values, known = self.source.compared(rows.column)
        return picked(base.append_column(VALUE, values), known)

    def merged(self, entries: pa.RecordBatch) -> pa.RecordBatch:
        """Return the extreme of the entries that enter and leave together."""
        if not entries.num_rows:
            return entries
        rank, back = comparable(entries.column(VALUE), self.source.least)
        order, starts = runs_of(entries)
        best = np.maximum.reduceat(rank if order is None else rank[order], starts)
        return table(heads(entries, order, starts) | {VALUE: back(best, np.ones(len(best), np.bool_))})

    def step(self, memory: Memory, clock: ExitClock, new: pa.RecordBatch, points: Points) -> pa.Array | None:
        """Return the extremes at the points, and keep the entries that can still be an extreme."""
        shelf = Shelf(memory, self.name, clock)
        pieces = shelf.with_new(new)
        rank, back = comparable(joined([piece.column(VALUE) for piece in pieces]), self.source.least)
        layout = Layout.of(clock, pieces, self.mixed)
        line = rank[layout.order]
        found = None
        if len(points):
            low, high = layout.windows(points)
            found = self.source.result(back(greatest(line, low, high), high > low))
        live = shelf.live(new)
        shelf.put(live & _standing(layout, line, live), new)
        return found


def _standing(layout: Layout, line: Ints, live: Bools) -> Bools:
    """Return a mask of the live entries that are greater than all later entries of their group."""
    places = np.flatnonzero(live[layout.order])
    ends = layout.ends()[places]
    after = greatest(line, places + 1, ends)
    standing = np.zeros(len(live), np.bool_)
    standing[layout.order[places]] = (places + 1 == ends) | (line[places] > after)
    return standing


def greatest(line: Ints, low: Index, high: Index) -> Ints:
    """Return the maximum of line[low:high] for each pair, 0 if the range is empty.

    >>> greatest(np.array([3, 1, 2, 5]), np.array([1, 0, 2]), np.array([3, 4, 2])).tolist()
    [2, 5, 0]
    """
    found = np.zeros(len(low), np.int64)
    level = np.frexp((high - low).astype(np.float64))[1] - 1  # log2 of the longest power of two that fits, -1 for none
    order = counted(level + 1)
    ends = np.cumsum(np.bincount(level + 1))
    for k in range(len(ends) - 1):
        here = order[ends[k] : ends[k + 1]]
        found[here] = np.maximum(line[low[here]], line[high[here] - (1 << k)])
        line = np.maximum(line[: -(1 << k)], line[1 << k :])
    return found


def comparable(values: pa.Array, least: bool) -> tuple[Ints, Callable[[Ints, Bools], pa.Array]]:
    """Return integers that sort as the values do (reversed for `least`), and a function that converts them back.

    Equal values get equal integers. Pairs (structs) are compared by their first parts, then by their second ones.
    """
    kind = values.type
    if pa.types.is_floating(kind):
        return _turned(ordinals(values), least), lambda found, known: _floats(_turned(found, least), known).cast(kind)
    if pa.types.is_integer(kind) or pa.types.is_timestamp(kind):
        return _turned(ints(values), least), lambda found, known: _whole(_turned(found, least), known, kind)
    columns = values.flatten() if pa.types.is_struct(kind) else [values]
    code, first = dense(columns)
    once = values.take(pa.array(first))
    rank = ranked([column.take(pa.array(first)) for column in columns])
    in_order = once.take(pa.array(scattered(np.arange(len(rank)), rank)))

    def back(found: Ints, known: Bools) -> pa.Array:
        return in_order.take(pa.array(np.where(known, _turned(found, least), 0), mask=~known))

    return _turned(rank[code], least), back


def _turned(rank: Ints, least: bool) -> Ints:
    return ~rank if least else rank


def _floats(rank: Ints, known: Bools) -> pa.Array:
    return pa.array(from_ordinals(rank), mask=~known)


def _whole(found: Ints, known: Bools, kind: pa.DataType) -> pa.Array:
    column = pa.array(np.where(known, found, 0), mask=~known)
    return column.cast(pa.timestamp("us", kind.tz)).cast(kind) if pa.types.is_timestamp(kind) else column.cast(kind)
