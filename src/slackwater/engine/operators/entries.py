"""The common parts of all windows: entries that enter and leave, and points at which a window is evaluated.

An entry is a row, or the partial aggregate of several rows, of a group (`code`). A point of the group sees it iff
`enter <= point.enter` and `exit > point.exit`. The units of `enter` and `exit` depend on the window: rows and ticks,
rows and rows, or boundaries. Within a group, an entry that enters later does not leave earlier, so that a window is a
contiguous range of the entries of its group.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import (
    EARLIEST,
    LATEST,
    Bools,
    Index,
    Ints,
    ascending,
    bounds,
    column,
    counted,
    firsts,
    picked,
    positions,
    sorted_within,
    table,
)
from slackwater.engine.columns.state import Memory, OpenStore, Store, Wanted, aligned

CODE, ENTER, EXIT, PART = "code", "enter", "exit", "part"
AT = "at"
"""The exit of the point at which an entry enters, if it differs from `enter`."""
TIME, ARRIVAL, POSITION = "time", "arrival", "position"


@dataclass(frozen=True, slots=True)
class Points:
    """The points at which windows are evaluated, sorted by code, then `enter`.

    `own`: every new row is a point and enters at it. `alone`: no entry is in the windows of two points.
    """

    code: Ints
    enter: Ints
    exit: Ints
    own: bool = False
    alone: bool = False

    def __len__(self) -> int:
        return len(self.code)


Merge = Callable[[pa.RecordBatch], pa.RecordBatch]
Resolve = Callable[[Ints, Ints | None], Ints]


def unresolved(exits: Ints, part: Ints | None) -> Ints:
    """Return exits that already have the unit of the points' exits."""
    return exits


@dataclass(frozen=True, slots=True)
class ExitClock:
    """Tells which entries have left: those whose exit is at most `now`, the least exit of any later point.

    `before` is `now` of the batch before. Both are one number, or one per part if each part of the stream has its own
    count. `resolve` converts exits to the unit of the points' exits, or to LATEST if no point of this batch reaches
    them.
    """

    before: int | Ints
    now: int | Ints
    resolve: Resolve = unresolved

    def expire(self, store: Store) -> tuple[pa.RecordBatch | None, Store]:
        """Return the entries that leave in this batch, and the store without them."""
        if isinstance(self.now, int):
            return store.due(self.now)
        every = store.all()
        if every is None:
            return None, store
        stay = self.is_live(every)
        return picked(every, self.was_live(every) & ~stay), store.keep(every, stay)

    def was_live(self, entries: pa.RecordBatch) -> Bools:
        return beyond(entries, self.before)

    def is_live(self, entries: pa.RecordBatch) -> Bools:
        return beyond(entries, self.now)

    def exits(self, entries: pa.RecordBatch) -> Ints:
        return self.resolve(column(entries, EXIT), part_of(entries))


class Shelf(OpenStore):
    """The entries of a store that is read as a whole: those that had not left before this batch."""

    def __init__(self, memory: Memory, name: str, clock: ExitClock) -> None:
        self._memory, self._name, self._clock = memory, name, clock
        super().__init__(memory.store(name, EXIT), clock.was_live)

    def live(self, new: pa.RecordBatch) -> Bools:
        """Return a mask of the old and new entries that stay."""
        return np.concatenate([self._clock.is_live(piece) for piece in self.with_new(new)])

    def put(self, mask: Bools, new: pa.RecordBatch) -> None:
        """Keep the old and new entries for which the mask is true."""
        kept = [name for name in new.schema.names if name not in (ENTER, AT)]
        added = picked(new.select(kept), mask[len(mask) - new.num_rows :])
        self._memory.put_store(self._name, self.keep(mask).add(added))


class Queue(Shelf):
    """The entries of a store that leave in the order in which they entered: only those at the front are read.

    These are the entries that leave in this batch, and of each group with a point the next one that stays.
    """

    def __init__(self, memory: Memory, name: str, clock: ExitClock, points: Points) -> None:
        self._memory, self._name, self._clock = memory, name, clock
        gone, self.store = clock.expire(memory.store(name, EXIT))
        self._every = None
        wanted = np.zeros(int(points.code.max(initial=-1)) + 1, np.bool_)
        wanted[points.code] = True
        front = [piece for piece in (gone, self.store.next_of_each(CODE, wanted)) if piece is not None]
        self.old = aligned(front) if front else None


def dense_store(memory: Memory, name: str, store: Store, live: Wanted, merge: Merge) -> None:
    """Keep a store under a name. If it has doubled, merge the entries that enter and leave together."""
    merged = store.merged(memory.number(f"{name}.dense"), live, merge)
    if merged is not None:
        memory.put(f"{name}.dense", merged.size)
    memory.put_store(name, merged or store)


def beyond(entries: pa.RecordBatch, clock: int | Ints) -> Bools:
    limit = clock if isinstance(clock, int) else clock[column(entries, PART)]
    left: Bools = column(entries, EXIT) > limit
    return left


def part_of(entries: pa.RecordBatch) -> Ints | None:
    return column(entries, PART) if PART in entries.schema.names else None


@dataclass(frozen=True, slots=True)
class Layout:
    """Entries sorted by code, then in the order in which they enter and leave. `order` has the original places."""

    order: Index
    code: Ints
    enter: Ints
    exit: Ints
    old: int

    @classmethod
    def of(cls, clock: ExitClock, pieces: list[pa.RecordBatch], mixed: bool) -> Layout:
        """Return the layout of old entries, which every point sees, and of the new ones in the last piece.

        `mixed`: new rows may be older than old ones.
        """
        new = pieces[-1]
        code = np.concatenate([column(each, CODE) for each in pieces])
        exits = np.concatenate([clock.exits(each) for each in pieces])
        enter = np.full(len(code), EARLIEST)
        enter[len(code) - new.num_rows :] = column(new, ENTER)
        order = sorted_within(code, exits, enter) if mixed else counted(code)
        return cls(order, code.take(order), enter.take(order), exits.take(order), len(code) - new.num_rows)

    def windows(self, points: Points) -> tuple[Index, Index]:
        """Return the range of entries that each point sees, as starts and ends."""
        low = positions(self.code, self.exit, points.code, points.exit)
        if points.own and len(points) == len(self.order) - self.old:
            return low, np.flatnonzero(self.order >= self.old) + 1
        high = positions(self.code, self.enter, points.code, points.enter)
        return low, np.maximum(low, high)

    def apart(self) -> tuple[Index, Index]:
        """Return the ranges of windows that do not overlap: the entries of a code that enter at the same point."""
        starts, ends = bounds(firsts(self.code, np.maximum(self.enter, 0)))
        come = self.enter.take(starts) < LATEST
        return starts[come], ends[come]

    def ends(self) -> Index:
        """Return for each entry the end of its group's entries."""
        starts, ends = bounds(firsts(self.code))
        return np.repeat(ends, ends - starts)


def runs_of(entries: pa.RecordBatch) -> tuple[Index | None, Index]:
    """Return the order that groups entries that enter and leave together, and the start of each run.

    The order is None if the entries are grouped already.
    """
    code, enter, exits = (column(entries, name) for name in (CODE, ENTER, EXIT))
    if ascending(code) and ascending(exits) and ascending(enter):
        return None, np.flatnonzero(firsts(code, exits, enter))
    order = sorted_within(code, exits, enter)
    return order, np.flatnonzero(firsts(code.take(order), exits.take(order), enter.take(order)))


def heads(entries: pa.RecordBatch, order: Index | None, starts: Index) -> dict[str, Ints]:
    """Return code, enter, exit and part of each run."""
    names = [name for name in (CODE, ENTER, EXIT, PART) if name in entries.schema.names]
    places = starts if order is None else order.take(starts)
    return {name: column(entries, name).take(places) for name in names}


def base(code: Ints, enter: Ints, exits: Ints, part: Ints | None = None, at: Ints | None = None) -> pa.RecordBatch:
    """Return entries without values: only code, enter, exit, part and at."""
    columns = {CODE: code, ENTER: enter, EXIT: exits, PART: part, AT: at}
    return table({name: values for name, values in columns.items() if values is not None})
