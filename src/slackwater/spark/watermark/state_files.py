"""State in files of a query's checkpoint, one per batch, each written whole or not at all."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

from pyspark.sql import SparkSession

from slackwater.errors import RunError

KEPT = 100
"""So many batches can be gone back, as in Spark's own checkpoint."""
CHECKSUM = 4


class Files(Protocol):
    """Where the files are: on a path, or wherever Spark's own checkpoint is."""

    def load(self, path: str) -> bytes | None:
        """What a file has in it; None if there is no such file."""

    def save(self, path: str, content: bytes) -> None:
        """Writes a file whole or not at all, in the place of one that may be there."""

    def remove(self, path: str) -> None: ...


class OnPath:
    """Files on a path of this machine."""

    def load(self, path: str) -> bytes | None:
        try:
            return Path(path).read_bytes()
        except FileNotFoundError:
            return None

    def save(self, path: str, content: bytes) -> None:
        place = Path(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = place.with_name(f"_{place.name}.{uuid4().hex}")
        draft.write_bytes(content)
        draft.rename(place)

    def remove(self, path: str) -> None:
        # A stream that is read twice has its control twice in a plan: both write the same and clear up.
        Path(path).unlink(missing_ok=True)


class OnStore:
    """Files wherever a checkpoint of Spark can be, by Spark's own means."""

    def __init__(self, session: SparkSession, folder: str) -> None:
        jvm: Any = session._jvm
        self._jvm = jvm
        streaming = jvm.org.apache.spark.sql.execution.streaming.checkpointing
        configuration = session._jsparkSession.sessionState().newHadoopConf()
        self._files = streaming.CheckpointFileManager.create(self._at(folder), configuration)

    def load(self, path: str) -> bytes | None:
        if not self._files.exists(self._at(path)):
            return None
        stream = self._files.open(self._at(path))
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def save(self, path: str, content: bytes) -> None:
        self._files.mkdirs(self._at(path).getParent())
        # What is there is of a batch that is being repeated: without it, too, that batch can be repeated again.
        self.remove(path)
        stream = self._files.createAtomic(self._at(path), True)
        try:
            stream.write(content)
        except BaseException:
            stream.cancel()
            raise
        stream.close()

    def remove(self, path: str) -> None:
        if self._files.exists(self._at(path)):
            self._files.delete(self._at(path))

    def _at(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(path)


@dataclass(frozen=True, slots=True)
class StateFiles:
    """The state after each batch, by its number, in a folder two levels below the checkpoint.

    A batch without input may have no file: it changes nothing, and in a run that begins with one nobody is asked yet.
    """

    folder: str
    files: Files = field(default_factory=OnPath)

    def read(self, number: int) -> bytes | None:
        """The state before a batch; None before the first."""
        if number == 0:
            return None
        path = f"{self.folder}/{number - 1}"
        found = self.files.load(path)
        if found is None and self._without_input(number - 1):
            return self.read(number - 1)
        if found is None:
            raise _broken(f"the state after batch {number - 1} is missing: {path}")
        state = found[CHECKSUM:]
        if len(found) < CHECKSUM or int.from_bytes(found[:CHECKSUM]) != zlib.crc32(state):
            raise _broken(f"the state after batch {number - 1} is torn: {path}")
        return state

    def _without_input(self, number: int) -> bool:
        """Whether a batch read nothing: Spark's log has the offsets of the batch before for it, below two lines."""
        log = f"{self.folder.rsplit('/', 2)[0]}/offsets"
        after, before = (self.files.load(f"{log}/{each}") for each in (number, number - 1))
        return after is not None and before is not None and after.split(b"\n")[2:] == before.split(b"\n")[2:]

    def write(self, number: int, state: bytes) -> None:
        """Keeps the state after a batch. A repeated batch writes the same again."""
        self.files.save(f"{self.folder}/{number}", zlib.crc32(state).to_bytes(CHECKSUM) + state)
        if number >= KEPT:
            self.files.remove(f"{self.folder}/{number - KEPT}")


def files_of(session: SparkSession, checkpoint: str) -> tuple[Files, str]:
    """What reads and writes files beside a checkpoint that Spark names so, and the name to use with it."""
    path = checkpoint.removeprefix("file:")
    if path.startswith("/"):
        return OnPath(), "/" + path.lstrip("/")
    return OnStore(session, checkpoint), checkpoint


def _broken(message: str) -> RunError:
    return RunError(
        "SW-523", message, hint="restore the checkpoint from a copy, or begin anew, with a new place for the rows"
    )
