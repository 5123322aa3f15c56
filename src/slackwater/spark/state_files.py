"""State in files of a query's checkpoint, one per batch, each written whole or not at all."""

from __future__ import annotations

import zlib
from contextlib import suppress
from dataclasses import dataclass
from uuid import uuid4

from pyarrow import fs
from pyspark import TaskContext

from slackwater.errors import RunError

BATCH = "streaming.sql.batchId"
"""The property of a task that has the number of its micro-batch."""
KEPT = 100
"""So many batches can be gone back, as in Spark's own checkpoint."""
CHECKSUM = 4


def batch_number() -> int:
    """The number of the micro-batch that this task is part of."""
    context = TaskContext.get()
    number = None if context is None else context.getLocalProperty(BATCH)
    if number is None:
        raise RunError("SW-524", "this operator runs outside a streaming query", hint="use it in a streaming query")
    return int(number)


@dataclass(frozen=True, slots=True)
class StateFiles:
    """The state after each batch, by its number. `folder` is a path, or an address that Arrow can open."""

    folder: str

    def read(self, number: int) -> bytes | None:
        """The state before a batch; None before the first."""
        if number == 0:
            return None
        system, folder = self._opened()
        path = f"{folder}/{number - 1}"
        if system.get_file_info(path).type is not fs.FileType.File:
            raise _broken(f"the state after batch {number - 1} is missing: {path}")
        with system.open_input_stream(path) as stream:
            found = bytes(stream.read())
        state = found[CHECKSUM:]
        if len(found) < CHECKSUM or int.from_bytes(found[:CHECKSUM]) != zlib.crc32(state):
            raise _broken(f"the state after batch {number - 1} is torn: {path}")
        return state

    def write(self, number: int, state: bytes) -> None:
        """Keeps the state after a batch. A repeated batch writes the same again."""
        system, folder = self._opened()
        system.create_dir(folder, recursive=True)
        draft = f"{folder}/_{number}.{uuid4().hex}"
        with system.open_output_stream(draft) as stream:
            stream.write(zlib.crc32(state).to_bytes(CHECKSUM) + state)
        system.move(draft, f"{folder}/{number}")
        if number >= KEPT:
            # A stream that is read twice has its control twice in a plan: both write the same and clear up.
            with suppress(FileNotFoundError):
                system.delete_file(f"{folder}/{number - KEPT}")

    def _opened(self) -> tuple[fs.FileSystem, str]:
        if "://" in self.folder or self.folder.startswith("file:"):
            system, path = fs.FileSystem.from_uri(self.folder)
            return system, path
        return fs.LocalFileSystem(), self.folder


def _broken(message: str) -> RunError:
    return RunError("SW-523", message, hint="restore the checkpoint from a copy, or start with a new one")
