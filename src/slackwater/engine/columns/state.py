"""The state of a kernel: named arrays, and stores of waiting rows in segments. Its bytes are pieces of Arrow IPC.

A store is WIN's record store, and a segment is a p-node: it is written once, never changed, and dropped when none of
its rows is needed. The list of segments with their bounds is the i-node: it says which segments must be read.

The piece `head` is written in every batch: it holds the arrays and the list of segments. Each segment is a piece with a
name that is never reused, so that a host only writes new segments and deletes dropped ones.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import EARLIEST, NO_INTS, Bools, Ints, ascending, column, picked, stable, table
from slackwater.errors import RunError

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


HEAD = "head"
VERSION = 1
HEADER = struct.Struct("<4sI")
MARK = b"SWk1"


@dataclass(frozen=True, slots=True)
class State:
    """An immutable state. A step returns a new one, which shares the segments that are still needed."""

    head: Mapping[str, pa.Array] = field(default_factory=dict)
    stores: Mapping[str, Store] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Return the number of rows in all segments."""
        return sum(store.size for store in self.stores.values())

    def names(self) -> list[str]:
        """Return the names of the pieces of this state."""
        return [HEAD, *(_name(store, each) for store in self.stores for each in self.stores[store].segments)]

    def piece(self, name: str) -> bytes:
        """Return one piece as bytes."""
        if name == HEAD:
            return pack(self._head())
        store, _, number = name.rpartition("/")
        return pack(next(each.read() for each in self.stores[store].segments if each.number == int(number)))

    def _head(self) -> pa.RecordBatch:
        """Return one row: every array as a list, and the list of segments as JSON in the schema's metadata."""
        index = {name: _index(store) for name, store in self.stores.items()}
        columns = {name: pa.ListArray.from_arrays([0, len(array)], array) for name, array in self.head.items()}
        batch = table(columns or {"": pa.array([0])})
        return batch.replace_schema_metadata({"version": str(VERSION), "stores": json.dumps(index)})

    @classmethod
    def read(cls, fetch: Callable[[str], bytes]) -> State:
        """Return the state whose pieces `fetch` returns by name. A segment is fetched when it is first read."""
        head = unpack(fetch(HEAD))
        about = {key.decode(): value.decode() for key, value in head.schema.metadata.items()}
        if about.get("version") != str(VERSION):
            raise RunError(
                "SW-551",
                f"the state of the operator has version {about.get('version')}",
                expected=f"version {VERSION}",
                hint="start with a new checkpoint, or run the release that wrote this one",
            )
        arrays = {name: head.column(name).values for name in head.schema.names if name}
        stores = {name: _store(name, each, fetch) for name, each in json.loads(about["stores"]).items()}
        return cls(arrays, stores)


class Memory:
    """The mutable copy of a state during a step. `state` returns the next state."""

    def __init__(self, state: State) -> None:
        self._head = dict(state.head)
        self._stores = dict(state.stores)
        self._prefix = ""

    def state(self) -> State:
        return State(self._head, self._stores)

    def within(self, prefix: str) -> Memory:
        """Return the part of this memory under a prefix, so that an operator can use the names that it has alone."""
        part = copy(self)
        part._prefix += prefix
        return part

    def ints(self, name: str) -> Ints:
        """Return an array of integers, empty if there is none. Do not write to it."""
        found = self.column(name)
        return NO_INTS if found is None else found.to_numpy()

    def sized(self, name: str, size: int, fill: int = 0) -> Ints:
        """Return a copy of an array of integers with `size` values: cut off, or filled up."""
        found, made = self.ints(name)[:size], np.full(size, fill)
        made[: len(found)] = found
        return made

    def next(self, name: str, count: int) -> Ints:
        """Return the next `count` numbers of a sequence from 0 on."""
        first = self.number(name)
        self.put(name, first + count)
        return np.arange(first, first + count)

    def number(self, name: str, default: int = 0) -> int:
        found = self.column(name)
        return default if found is None else int(found[0].as_py())

    def column(self, name: str) -> pa.Array | None:
        return self._head.get(self._prefix + name)

    def put(self, name: str, values: Any) -> None:
        """Store an array or a number under a name; None deletes it."""
        if values is None:
            self._head.pop(self._prefix + name, None)
        elif isinstance(values, pa.Array):
            self._head[self._prefix + name] = values
        else:
            self._head[self._prefix + name] = pa.array(np.atleast_1d(np.asarray(values, np.int64)))

    def names(self, prefix: str) -> list[str]:
        """Return the names of the arrays that begin with a prefix."""
        return [name.removeprefix(self._prefix) for name in self._head if name.startswith(self._prefix + prefix)]

    def store(self, name: str, clock: str) -> Store:
        return self._stores.get(self._prefix + name) or Store(clock)

    def put_store(self, name: str, store: Store) -> None:
        self._stores[self._prefix + name] = store


def pack(batch: pa.RecordBatch) -> bytes:
    """Return a record batch as bytes, preceded by a mark and a checksum.

    >>> unpack(pack(pa.record_batch({"a": [1]}))).num_rows
    1
    """
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    body = sink.getvalue()
    return b"".join((HEADER.pack(MARK, zlib.crc32(body)), body))


def unpack(piece: bytes) -> pa.RecordBatch:
    """Return the record batch that :func:`pack` packed. Raise a RunError if the bytes are damaged or foreign."""
    body = memoryview(piece)[HEADER.size :]
    if len(piece) < HEADER.size or piece[:4] != MARK:
        raise RunError("SW-550", f"these {len(piece)} bytes are no state of an operator", hint=_RESTORE)
    if HEADER.unpack_from(piece)[1] != zlib.crc32(body):
        raise RunError("SW-550", "the state is torn: its checksum does not fit", hint=_RESTORE)
    return pa.ipc.open_stream(body).read_next_batch()


_RESTORE = "restore the checkpoint from a copy, or start with a new one"


def _name(store: str, segment: Segment) -> str:
    return f"{store}/{segment.number}"


def _index(store: Store) -> dict[str, Any]:
    """Return the list of segments of a store, for JSON."""
    rows = [[each.number, each.size, each.least, each.most] for each in store.segments]
    return {"clock": store.clock, "floor": store.floor, "next": store.next, "segments": rows}


def _store(name: str, index: dict[str, Any], fetch: Callable[[str], bytes]) -> Store:
    segments = tuple(
        Segment(number, size, least, most, cache(partial(_fetched, fetch, f"{name}/{number}")))
        for number, size, least, most in index["segments"]
    )
    return Store(index["clock"], segments, index["floor"], index["next"])


def _fetched(fetch: Callable[[str], bytes], name: str) -> pa.RecordBatch:
    return unpack(fetch(name))
