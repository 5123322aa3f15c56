"""FIRST and LAST over windows, in sequence order.

Kept: for LAST one entry of each group; for FIRST every entry that can be the first of a later window.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import EARLIEST, LATEST, Bools, Ints, joined, picked, table, valid
from slackwater.engine.columns.order import bounds, counted, firsts, in_sequence, positions
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.entries import (
    ARRIVAL,
    CODE,
    ENTER,
    EXIT,
    PART,
    POSITION,
    TIME,
    ExitClock,
    Layout,
    Points,
    Shelf,
    column,
    merged_runs,
    part_of,
)

VALUE = "value"


class Ends:
    """The value of the first (or `last`) row of each window. `skips` ignores NULLs."""

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
        """Return the first or last of the entries that enter and leave together."""
        if not entries.num_rows:
            return entries
        entries = sequenced(entries)
        order, starts = merged_runs(entries)
        edge = np.append(starts[1:], len(order)) - 1 if self.last else starts
        return picked(entries, order[edge])

    def step(
        self, memory: Memory, clock: ExitClock, new: pa.RecordBatch, points: Points, mixed: bool = False
    ) -> pa.Array | None:
        """Return the values at the points, and keep the entries that can still be first or last."""
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
    """Return the layout sorted by group, then sequence order, so that late rows are in their places."""
    code = np.concatenate([column(piece, CODE) for piece in pieces])
    order = in_sequence(*(np.concatenate(each) for each in zip(*map(_places, pieces), strict=True)))
    order = counted(code) if order is None else order[counted(code[order])]
    back = np.empty_like(layout.order)
    back[layout.order] = np.arange(len(order))
    return Layout(order, code[order], layout.enter[back][order], layout.exit[back][order], layout.old)


def _places(entries: pa.RecordBatch) -> tuple[Ints, Ints, Ints]:
    return column(entries, TIME), column(entries, ARRIVAL), column(entries, POSITION)


def sequenced(entries: pa.RecordBatch) -> pa.RecordBatch:
    """Return entries in sequence order, if they have the columns that tell it."""
    order = in_sequence(*_places(entries)) if TIME in entries.schema.names else None
    return entries if order is None else picked(entries, order)


def _firsts(layout: Layout, pieces: list[pa.RecordBatch]) -> Bools:
    """Return a mask of the first of the entries of a group that leave together; no other can be first in a window."""
    exits = np.concatenate([column(piece, EXIT) for piece in pieces])
    first = np.zeros(len(layout.order), np.bool_)
    first[layout.order] = firsts(layout.code, exits[layout.order])
    return first


def _lasts(layout: Layout) -> Bools:
    """Return a mask of the last entry of each group."""
    _, ends = bounds(firsts(layout.code))
    last = np.zeros(len(layout.order), np.bool_)
    last[layout.order[ends - 1]] = True
    return last


# FIRST over windows of rows in sequence order: when the first row of a window leaves, the next of its group takes over.
#
# The time of this handover is known when the later row enters: it is the exit of the row before it. An entry is stored
# by the time of its handover, and a batch reads only the entries whose handover is due. Kept: the first value of each
# group, and the entries that take over later.


UNTIL = "until"
"""The column with the real exit of an entry. Its column `exit` holds the time of the handover."""


class Firsts:
    """The value of the first row of each window. `skips` ignores NULLs."""

    def __init__(self, name: str, argument: str, skips: bool) -> None:
        self.name = name
        self.argument = argument
        self.skips = skips

    def entries(self, base: pa.RecordBatch, rows: pa.RecordBatch) -> pa.RecordBatch:
        values = rows.column(self.argument)
        entries = base.append_column(VALUE, values)
        return picked(entries, valid(values)) if self.skips else entries

    def merged(self, entries: pa.RecordBatch) -> pa.RecordBatch:
        """Return the first of the entries that enter and leave together."""
        order, starts = merged_runs(entries)
        return picked(entries, order[starts])

    def step(
        self, memory: Memory, clock: ExitClock, new: pa.RecordBatch, points: Points, known: Bools
    ) -> pa.Array | None:
        """Return the values at the points, and keep the first entry of each group and the entries that take over later.

        `known` says for each code whether the group had entries before.
        """
        due, store = clock.expire(memory.store(self.name, EXIT))
        fresh = self._fresh(memory, clock, new, known)
        pieces = [piece for piece in (self._heads(memory, new, known), due) if piece is not None]
        heirs = _Heirs(clock, [*pieces, fresh])
        found = heirs.at(points) if len(points) else None
        self._keep_heads(memory, heirs, len(known))
        late = heirs.waiting(fresh)
        memory.put_store(self.name, store.add(picked(fresh, late).drop_columns([ENTER])))
        return found

    def _fresh(self, memory: Memory, clock: ExitClock, new: pa.RecordBatch, known: Bools) -> pa.RecordBatch:
        """Return the new entries by group, with their handover: the exit of the entry before, if it is still there."""
        new = picked(new, counted(column(new, CODE)))
        code, exits, part = column(new, CODE), column(new, EXIT), part_of(new)
        last = resized(memory.ints(f"{self.name}.last"), len(known), known)
        first = firsts(code)
        handover = np.where(first, last[code], np.append(EARLIEST, exits)[:-1])
        gone = clock.before if part is None or isinstance(clock.before, int) else clock.before[part]
        handover = np.where(handover > gone, handover, EARLIEST)
        np.maximum.at(last, code, exits)
        memory.put(f"{self.name}.last", last)
        names = {CODE: code, ENTER: column(new, ENTER), EXIT: handover, UNTIL: exits, VALUE: new.column(VALUE)}
        made = table(names if part is None else names | {PART: part})
        return picked(made, first | (handover < exits))

    def _heads(self, memory: Memory, new: pa.RecordBatch, known: Bools) -> pa.RecordBatch | None:
        """Return the entry that was first in each group."""
        value = memory.column(f"{self.name}.value")
        if value is None:
            return None
        until = resized(memory.ints(f"{self.name}.until"), len(known), known)
        code = np.flatnonzero(until > EARLIEST)
        ends = np.full(len(code), EARLIEST)
        columns = {CODE: code, EXIT: ends, UNTIL: until[code], VALUE: value.take(pa.array(code))}
        if PART in new.schema.names:
            columns[PART] = memory.ints(f"{self.name}.part")[code]
        return table(columns)

    def _keep_heads(self, memory: Memory, heirs: _Heirs, size: int) -> None:
        code, place = heirs.heads()
        until = np.full(size, EARLIEST)
        until[code] = heirs.until[place]
        source, there = np.zeros(size, np.int64), np.zeros(size, np.bool_)
        source[code], there[code] = place, True
        memory.put(f"{self.name}.until", until)
        memory.put(f"{self.name}.value", heirs.values.take(pa.array(source, mask=~there)))
        if heirs.part is not None:
            part = np.zeros(size, np.int64)
            part[code] = heirs.part[place]
            memory.put(f"{self.name}.part", part)


def resized(values: Ints, size: int, known: Bools) -> Ints:
    """Return values by code for the current number of codes; EARLIEST for codes that are not known."""
    made = np.full(size, EARLIEST)
    made[: len(values)] = values[:size]
    made[~known] = EARLIEST
    return made


class _Heirs:
    """Entries by group, then handover."""

    def __init__(self, clock: ExitClock, pieces: list[pa.RecordBatch]) -> None:
        self.clock = clock
        code = np.concatenate([column(piece, CODE) for piece in pieces])
        order = counted(code)
        self.code = code[order]
        self.handover = np.concatenate([column(piece, EXIT) for piece in pieces])[order]
        self.until = np.concatenate([column(piece, UNTIL) for piece in pieces])[order]
        enter = np.full(len(code), EARLIEST)
        enter[len(code) - pieces[-1].num_rows :] = column(pieces[-1], ENTER)
        self.enter = enter[order]
        self.values = joined([piece.column(VALUE) for piece in pieces]).take(pa.array(order))
        self.part: Ints | None = None
        if PART in pieces[-1].schema.names:
            self.part = np.concatenate([column(piece, PART) for piece in pieces])[order]

    def at(self, points: Points) -> pa.Array:
        """Return the first value at each point: of the last entry that has taken over, NULL if that has left."""
        handover = self._resolved(self.handover)
        last = np.minimum(
            positions(self.code, handover, points.code, points.exit),
            positions(self.code, self.enter, points.code, points.enter),
        )
        there = last > np.searchsorted(self.code, points.code)
        place = np.where(there, last - 1, 0)
        if len(self.code):
            there &= self._resolved(self.until)[place] > points.exit
        return self.values.take(pa.array(place, mask=~there))

    def heads(self) -> tuple[Ints, Ints]:
        """Return the codes that have a first entry at the end of the batch, and the places of these entries."""
        now = self.clock.now if self.part is None or isinstance(self.clock.now, int) else self.clock.now[self.part]
        ready = np.flatnonzero(self.handover <= now)
        code = self.code[ready]
        last = ready[np.append(code[1:] != code[:-1], True)] if len(ready) else ready
        limit = now if isinstance(now, int) else now[last]
        last = last[self.until[last] > limit]
        return self.code[last], last

    def waiting(self, fresh: pa.RecordBatch) -> Bools:
        """Return a mask of the new entries that take over after this batch."""
        return self.clock.is_live(fresh)

    def _resolved(self, exits: Ints) -> Ints:
        """Return exits in the unit of the points' exits; EARLIEST stays EARLIEST."""
        known = exits > EARLIEST
        safe = np.where(known, exits, LATEST)
        return np.where(known, self.clock.resolve(safe, self.part), EARLIEST)
