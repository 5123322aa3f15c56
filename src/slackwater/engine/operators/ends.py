"""FIRST and LAST over windows, in sequence order.

Kept: for LAST one entry of each group; for FIRST every entry that can be the first of a window to come.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import Bools, Ints, joined, picked, valid
from slackwater.engine.columns.order import bounds, counted, firsts, in_sequence
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.entries import (
    ARRIVAL,
    CODE,
    EXIT,
    POSITION,
    TIME,
    Clock,
    Layout,
    Points,
    Shelf,
    column,
    merged_runs,
)

VALUE = "value"


class Ends:
    """The value of the first (or `last`) row of each window; with `skips`, of those that are not NULL."""

    def __init__(self, name: str, argument: str, last: bool, skips: bool) -> None:
        self.name = name
        self.argument = argument
        self.last = last
        self.skips = skips

    def entries(self, base: pa.RecordBatch, rows: pa.RecordBatch) -> pa.RecordBatch:
        values = rows.column(self.argument)
        entries = base.append_column(VALUE, values)
        for name in (TIME, ARRIVAL, POSITION):
            if name in rows.schema.names:
                entries = entries.append_column(name, rows.column(name))
        return picked(entries, valid(values)) if self.skips else entries

    def merged(self, entries: pa.RecordBatch) -> pa.RecordBatch:
        """The first or last of those that come and go together."""
        if not entries.num_rows:
            return entries
        entries = sequenced(entries)
        order, starts = merged_runs(entries)
        edge = np.append(starts[1:], len(order)) - 1 if self.last else starts
        return picked(entries, order[edge])

    def step(
        self, memory: Memory, clock: Clock, new: pa.RecordBatch, points: Points, mixed: bool = False
    ) -> pa.Array | None:
        """The values at the points; then what can still be an end is kept."""
        shelf = Shelf(memory, self.name, clock)
        pieces = shelf.with_new(new)
        layout = in_places(Layout.of(clock, pieces, mixed), pieces) if mixed else Layout.of(clock, pieces, mixed)
        found = None
        if len(points):
            low, high = layout.windows(points)
            held = high > low
            place = np.where(held, high - 1 if self.last else low, 0)
            source = layout.order[place] if len(layout.order) else place
            found = joined([piece.column(VALUE) for piece in pieces]).take(pa.array(source, mask=~held))
        live = shelf.live(new)
        shelf.keep(live & (_lasts(layout) if self.last else _firsts(layout, pieces)), new)
        return found


def in_places(layout: Layout, pieces: list[pa.RecordBatch]) -> Layout:
    """The same entries by group, then in sequence: those that came late stand where they belong."""
    code = np.concatenate([column(piece, CODE) for piece in pieces])
    order = in_sequence(*(np.concatenate(each) for each in zip(*map(_places, pieces), strict=True)))
    order = counted(code) if order is None else order[counted(code[order])]
    back = np.empty_like(layout.order)
    back[layout.order] = np.arange(len(order))
    return Layout(order, code[order], layout.enter[back][order], layout.exit[back][order], layout.old)


def _places(entries: pa.RecordBatch) -> tuple[Ints, Ints, Ints]:
    return column(entries, TIME), column(entries, ARRIVAL), column(entries, POSITION)


def sequenced(entries: pa.RecordBatch) -> pa.RecordBatch:
    """Entries in sequence order, if they say what that is."""
    order = in_sequence(*_places(entries)) if TIME in entries.schema.names else None
    return entries if order is None else picked(entries, order)


def _firsts(layout: Layout, pieces: list[pa.RecordBatch]) -> Bools:
    """Of entries of a group that go together only the first can be the first of a window."""
    exits = np.concatenate([column(piece, EXIT) for piece in pieces])
    first = np.zeros(len(layout.order), np.bool_)
    first[layout.order] = firsts(layout.code, exits[layout.order])
    return first


def _lasts(layout: Layout) -> Bools:
    """The last entry of each group."""
    _, ends = bounds(firsts(layout.code))
    last = np.zeros(len(layout.order), np.bool_)
    last[layout.order[ends - 1]] = True
    return last
