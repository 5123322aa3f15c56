"""Stores of waiting rows in segments, as in WIN's record store: a segment is a p-node.

A segment is written once, never changed, and dropped when none of its rows is needed, so that a host writes only new
segments. The list of segments with their bounds is the i-node: it says which segments must be read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import EARLIEST, Bools, Ints, column, picked
from slackwater.engine.columns.order import ascending, stable

MOST = 1 << 16
"""The most rows of a segment. Larger: fewer segments, but each read and rewrite of one costs more."""
FEW = 1 << 8
"""The number of surplus rows from which merging pays. Larger: a small state is merged less often."""
Wanted = Callable[[pa.RecordBatch], Bools]


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows sorted by the store's clock, read on demand.

    `least` is the clock of the first row that has not left, `most` the clock of the last row.
    """

    number: int
    size: int
    least: int
    most: int
    read: Callable[[], pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class Store:
    """Segments, oldest first. Rows whose `clock` is at most `floor` have left, but a segment may still contain them.

    >>> store = Store("t").add(pa.record_batch({"t": [3, 1, 8]}))
    >>> gone, store = store.due(4)
    >>> gone.column("t").to_pylist(), store.size
    ([1, 3], 1)
    """

    clock: str
    segments: tuple[Segment, ...] = ()
    floor: int = EARLIEST
    next: int = 0

    @property
    def size(self) -> int:
        """Return the number of rows in the segments."""
        return sum(segment.size for segment in self.segments)

    def add(self, rows: pa.RecordBatch) -> Store:
        """Return a store with these rows added. The newest segments are merged with them unless much larger."""
        return self._rebuilt([*self.segments, rows]) if rows.num_rows else self

    def due(self, upto: int) -> tuple[pa.RecordBatch | None, Store]:
        """Return the rows whose clock is at most `upto`, by clock, then age, and the rest. Skips later segments."""
        if upto <= self.floor:
            return None, self
        left: list[pa.RecordBatch] = []
        rest: list[Segment | pa.RecordBatch] = []
        for segment in self.segments:
            if segment.least > upto:
                rest.append(segment)
                continue
            rows = segment.read()
            clock = self._clock(rows)
            start, end = np.searchsorted(clock, [self.floor, upto], side="right").tolist()
            left.append(rows.slice(start, end - start))
            half = 2 * (segment.size - end) > segment.size
            rest.append(replace(segment, least=int(clock[end])) if half else rows.slice(end))
        store = replace(self, floor=upto)._rebuilt(rest)
        gone = [rows for rows in left if rows.num_rows]
        return (self._sorted(aligned(gone)) if gone else None), store

    def next_of_each(self, code: str, wanted: Bools) -> pa.RecordBatch | None:
        """Return the first row of each wanted code, if rows leave in the order in which they were added.

        The first segments contain most codes; reading stops when every wanted code was found.
        """
        unseen = wanted.copy()
        found: list[pa.RecordBatch] = []
        for segment in self.segments:
            if not unseen.any():
                break
            rows = self._read(segment)
            codes = column(rows, code)
            first = np.full(max(len(unseen), int(codes.max(initial=-1)) + 1), -1)
            first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # the last write wins, which is the first row
            take = np.flatnonzero(unseen & (first[: len(unseen)] >= 0))
            found.append(picked(rows, np.sort(first[take])))
            unseen[take] = False
        return aligned(found) if found else None

    def all(self) -> pa.RecordBatch | None:
        """Return every row of the segments by age, including rows that have left."""
        return aligned([segment.read() for segment in self.segments]) if self.segments else None

    def keep(self, every: pa.RecordBatch, wanted: Bools) -> Store:
        """Return a store that keeps at least the wanted rows. A segment stays whole if more than half is wanted."""
        rest: list[Segment | pa.RecordBatch] = []
        start = 0
        for segment in self.segments:
            mask = wanted[start : start + segment.size]
            half = 2 * int(np.count_nonzero(mask)) > segment.size
            rest.append(segment if half else picked(every.slice(start, segment.size), mask))
            start += segment.size
        return self._rebuilt(rest)

    def merged(self, before: int, live: Wanted, merge: Callable[[pa.RecordBatch], pa.RecordBatch]) -> Store | None:
        """Return a store of all live rows, merged, or None if it has not doubled since the last merge (`before`)."""
        if self.size <= 2 * before + FEW:
            return None
        every = aligned([segment.read() for segment in self.segments])
        return replace(self, segments=()).add(merge(picked(every, live(every))))

    def _rebuilt(self, rest: Sequence[Segment | pa.RecordBatch]) -> Store:
        """Return a store of these pieces in their order. Record batches become new segments.

        A record batch is merged with preceding pieces that are less than twice as large. So there are few segments,
        and a row is rewritten only when the number of rows after it doubles.
        """
        made: list[Segment | pa.RecordBatch] = []
        for each in rest:
            if isinstance(each, Segment):
                made.append(each)
                continue
            if not each.num_rows:
                continue
            rows = each
            while made and _size(made[-1]) < 2 * rows.num_rows and _size(made[-1]) + rows.num_rows <= MOST:
                rows = aligned([self._read(made.pop()), rows])
            made.append(rows)
        return self._numbered(made)

    def _numbered(self, made: Sequence[Segment | pa.RecordBatch]) -> Store:
        segments: list[Segment] = []
        number = self.next
        for each in made:
            if isinstance(each, Segment):
                segments.append(each)
                continue
            rows = self._sorted(each)
            for start in range(0, rows.num_rows, MOST):
                segments.append(self._segment(number, rows.slice(start, MOST)))
                number += 1
        return replace(self, segments=tuple(segments), next=number)

    def _segment(self, number: int, rows: pa.RecordBatch) -> Segment:
        clock = self._clock(rows)
        return Segment(number, rows.num_rows, int(clock[0]), int(clock[-1]), lambda: rows)

    def _read(self, piece: Segment | pa.RecordBatch) -> pa.RecordBatch:
        if not isinstance(piece, Segment):
            return piece
        rows = piece.read()
        return rows.slice(int(np.searchsorted(self._clock(rows), self.floor, side="right")))

    def _sorted(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        clock = self._clock(rows)
        return rows if ascending(clock) else picked(rows, stable(clock))

    def _clock(self, rows: pa.RecordBatch) -> Ints:
        return column(rows, self.clock)


class OpenStore:
    """A store that is read as a whole. `old` has the rows that are there, of which a segment may contain others."""

    def __init__(self, store: Store, there: Wanted) -> None:
        self.store, self._every = store, store.all()
        self._there = np.zeros(0, np.bool_) if self._every is None else there(self._every)
        self.old = None if self._every is None else picked(self._every, self._there)

    def with_new(self, new: pa.RecordBatch) -> list[pa.RecordBatch]:
        """Return old and new rows, as one or two record batches."""
        return [new] if self.old is None else [self.old, new]

    def keep(self, stays: Bools) -> Store:
        """Return the store with those of the old rows for which the mask is true; more values of it are ignored."""
        if self._every is None:
            return self.store
        wanted = self._there.copy()
        wanted[self._there] = stays[: np.count_nonzero(self._there)]
        return self.store.keep(self._every, wanted)


def aligned(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Return the concatenation of batches. A numeric column that a batch lacks is 0 there."""
    if len(batches) == 1:
        return batches[0]
    if all(batch.schema.equals(batches[0].schema) for batch in batches):
        return pa.concat_batches(batches)
    names = list(dict.fromkeys(name for batch in batches for name in batch.schema.names))
    return pa.concat_batches([_widened(batch, names) for batch in batches])


def _widened(batch: pa.RecordBatch, names: list[str]) -> pa.RecordBatch:
    have = set(batch.schema.names)
    zeros = pa.array(np.zeros(batch.num_rows, np.int64))
    return pa.RecordBatch.from_arrays([batch.column(name) if name in have else zeros for name in names], names=names)


def _size(piece: Segment | pa.RecordBatch) -> int:
    return piece.size if isinstance(piece, Segment) else int(piece.num_rows)
