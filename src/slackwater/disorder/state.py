"""A flat record of arrays and scalars as bytes: Arrow IPC behind a magic mark and a checksum, never pickled."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from slackwater.disorder.clock import Times
from slackwater.errors import RunError

Value = int | float | bytes | npt.NDArray[np.int64] | npt.NDArray[np.float64]

HEADER = struct.Struct("<4sI")
MARK = b"SWs1"
COMPRESSED = pa.ipc.IpcWriteOptions(compression="zstd")


def pack(kind: str, version: int, fields: Mapping[str, Value]) -> bytes:
    """Return the record as bytes. ``kind`` and ``version`` say who can read it.

    >>> unpack(pack("demo", 1, {"rows": 3}), "demo", 1).integer("rows")
    3
    """
    columns = {name: _column(value) for name, value in fields.items()}
    batch = pa.record_batch(columns).replace_schema_metadata({"kind": kind, "version": str(version)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=COMPRESSED) as writer:
        writer.write_batch(batch)
    body: bytes = sink.getvalue().to_pybytes()
    return HEADER.pack(MARK, zlib.crc32(body)) + body


def unpack(state: bytes, kind: str, version: int) -> Fields:
    """Return the record that :func:`pack` wrote, or raise a RunError that says what is wrong with the bytes."""
    if len(state) < HEADER.size or state[:4] != MARK:
        raise _unreadable(f"these {len(state)} bytes are no state of a controller")
    body = state[HEADER.size :]
    if HEADER.unpack_from(state)[1] != zlib.crc32(body):
        raise _unreadable(f"the state of {kind} is torn: its checksum does not fit its {len(body)} bytes")
    batch = pa.ipc.open_stream(body).read_next_batch()
    found = {key.decode(): value.decode() for key, value in batch.schema.metadata.items()}
    if found != {"kind": kind, "version": str(version)}:
        raise RunError(
            "SW-521",
            f"the state is of {found.get('kind')} version {found.get('version')}",
            expected=f"{kind} version {version}",
            hint="keep the estimator that wrote the checkpoint, or start with a new checkpoint",
        )
    return Fields(kind, batch)


@dataclass(frozen=True, slots=True)
class Fields:
    """A record that was read back. Each getter checks the type that the writer gave."""

    kind: str
    batch: pa.RecordBatch

    def integer(self, name: str, default: int | None = None) -> int:
        """Return the number, or the default if an older version did not write the name."""
        if default is not None and name not in self.batch.schema.names:
            return default
        return int(self._scalar(name))

    def number(self, name: str) -> float:
        return float(self._scalar(name))

    def blob(self, name: str) -> bytes:
        value: bytes = self._find(name)[0].as_py()
        return value

    def times(self, name: str) -> Times:
        return self._array(name).astype(np.int64, copy=True)

    def numbers(self, name: str) -> npt.NDArray[np.float64]:
        return self._array(name).astype(np.float64, copy=True)

    def _array(self, name: str) -> npt.NDArray[np.generic]:
        array: npt.NDArray[np.generic] = self._find(name).values.to_numpy(zero_copy_only=False)
        return array

    def _scalar(self, name: str) -> int | float:
        value: int | float = self._find(name)[0].as_py()
        return value

    def _find(self, name: str) -> pa.Array:
        if name not in self.batch.schema.names:
            raise _unreadable(f"the state of {self.kind} lacks {name!r}")
        return self.batch.column(name)


def _column(value: Value) -> pa.Array:
    """Return a column of one row, which holds the scalar, or the array as a list."""
    match value:
        case np.ndarray():
            return pa.ListArray.from_arrays(pa.array([0, len(value)], pa.int32()), pa.array(value))
        case bytes():
            return pa.array([value], pa.binary())
        case float() | np.floating():
            return pa.array([float(value)], pa.float64())
        case _:
            return pa.array([int(value)], pa.int64())


def _unreadable(message: str) -> RunError:
    return RunError("SW-520", message, hint="restore the checkpoint from a copy, or start with a new one")
