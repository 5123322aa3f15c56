"""FIRST and LAST over windows, in sequence order.

Kept: for LAST one entry of each group; for FIRST every entry that can be the first of a later window. If rows come in
sequence, a batch reads only the entries that leave in it and the next entry of each group.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import (
    Bools,
    Ints,
    column,
    counted,
    firsts,
    in_sequence,
    joined,
    picked,
    scattered,
    valid,
)
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.calls import EndValue
from slackwater.engine.operators.entries import (
    ARRIVAL,
    CODE,
    EXIT,
    POSITION,
    TIME,
    ExitClock,
    Layout,
    Points,
    Queue,
    Shelf,
    runs_of,
)

VALUE = "value"


class Ends:
    """The value of the first or last row of each window."""

    def __init__(self, name: str, source: EndValue, mixed: bool) -> None:
        self.name, self.source, self.mixed = name, source, mixed

    def entries(self, base: pa.RecordBatch, rows: pa.RecordBatch) -> pa.RecordBatch:
        values = rows.column(self.source.argument)
        entries = base.append_column(VALUE, values)
        for name in (TIME, ARRIVAL, POSITION):
            if name in rows.schema.names:
                entries = entries.append_column(name, rows.column(name))
        return picked(entries, valid(values)) if self.source.skips else entries

    def merged(self, entries: pa.RecordBatch) -> pa.RecordBatch:
        """Return the first or last of the entries that enter and leave together."""
        if not entries.num_rows:
            return entries
        entries = sequenced(entries)
        order, starts = runs_of(entries)
        edge = np.append(starts[1:], entries.num_rows) - 1 if self.source.last else starts
        return picked(entries, edge if order is None else order[edge])

    def step(self, memory: Memory, clock: ExitClock, new: pa.RecordBatch, points: Points) -> pa.Array | None:
        """Return the values at the points, and keep the entries that can still be first or last."""
        if points.own and self.source.last and not self.source.skips:
            return new.column(VALUE).take(pa.array(points.enter))  # each row is the last one at its own point
        queued = not self.source.last and not self.mixed and isinstance(clock.now, int)
        shelf = Queue(memory, self.name, clock, points) if queued else Shelf(memory, self.name, clock)
        pieces = shelf.with_new(new)
        layout = Layout.of(clock, pieces, self.mixed)
        layout = in_places(layout, pieces) if self.mixed else layout
        found = None
        if len(points):
            low, high = layout.windows(points)
            held = high > low
            place = np.where(held, high - 1 if self.source.last else low, 0)
            source = layout.order[place] if len(layout.order) else place
            found = joined([piece.column(VALUE) for piece in pieces]).take(pa.array(source, mask=~held))
        shelf.put(shelf.live(new) & self._edges(layout, pieces), new)
        return found

    def _edges(self, layout: Layout, pieces: list[pa.RecordBatch]) -> Bools:
        """Return a mask of the last entry of each group, or of the first of its entries that leave together.

        No other entry can be the last or the first in a later window.
        """
        exits = np.concatenate([column(piece, EXIT) for piece in pieces])[layout.order]
        edges = np.roll(firsts(layout.code), -1) if self.source.last else firsts(layout.code, exits)
        return scattered(edges, layout.order)


def in_places(layout: Layout, pieces: list[pa.RecordBatch]) -> Layout:
    """Return the layout sorted by group, then sequence order, so that late rows are in their places."""
    code = np.concatenate([column(piece, CODE) for piece in pieces])
    order = in_sequence(*(np.concatenate(each) for each in zip(*map(_places, pieces), strict=True)))
    order = counted(code) if order is None else order[counted(code[order])]
    enter, exits = (scattered(values, layout.order)[order] for values in (layout.enter, layout.exit))
    return Layout(order, code[order], enter, exits, layout.old)


def _places(entries: pa.RecordBatch) -> tuple[Ints, Ints, Ints]:
    return column(entries, TIME), column(entries, ARRIVAL), column(entries, POSITION)


def sequenced(entries: pa.RecordBatch) -> pa.RecordBatch:
    """Return entries in sequence order, if they have the columns that tell it."""
    order = in_sequence(*_places(entries)) if TIME in entries.schema.names else None
    return entries if order is None else picked(entries, order)
