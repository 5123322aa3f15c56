"""The state of a kernel: named arrays, and stores of segments. Its bytes are pieces of Arrow IPC.

The piece `head` is written in every batch: it holds the arrays and the list of segments. Each segment is a piece with a
name that is never reused, so that a host only writes new segments and deletes dropped ones.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import NO_INTS, Ints, table
from slackwater.engine.columns.segments import Segment, Store
from slackwater.errors import RunError

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
