"""Files in any file system that Hadoop knows, written as Spark writes the logs of a checkpoint."""

from __future__ import annotations

from tempfile import NamedTemporaryFile
from typing import Any

from pyspark.sql import SparkSession

from slackwater.spark.shim.internals import STREAMING, class_name

MANAGER = f"{STREAMING}.checkpointing.CheckpointFileManager"
LARGE = 1 << 16
"""Bytes from which on a file goes to the JVM by way of the disk: py4j writes them as text."""


def default_scheme(session: SparkSession) -> str:
    """Return the scheme of the file system that paths without one are in."""
    address = session._jsparkSession.sessionState().newHadoopConf().get("fs.defaultFS", "file:///")
    return str(address).partition(":")[0].lower()


class HadoopFiles:
    """The file system of one address. `spark.sql.streaming.checkpointFileManagerClass` says how files are written."""

    def __init__(self, session: SparkSession, address: str) -> None:
        jvm: Any = session._jvm
        self._jvm = jvm
        found = jvm
        for part in class_name(session, MANAGER).split("."):
            found = getattr(found, part)
        self._settings = session._jsparkSession.sessionState().newHadoopConf()
        self._at(address).getFileSystem(self._settings)  # says what is wrong; the manager says that something is
        self._files = found.create(self._at(address), self._settings)

    def read(self, path: str) -> bytes | None:
        """Return what a file has in it; None if there is no such file."""
        if not self._files.exists(self._at(path)):
            return None
        stream = self._files.open(self._at(path))
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def write(self, path: str, content: bytes) -> None:
        """Write a file whole or not at all, in the place of one that may be there."""
        self._files.mkdirs(self._at(path).getParent())
        # A file system without `rename` over a file refuses where one is. Whoever writes a file again can do without
        # the old one: it is of a batch that is repeated, or it is a copy of what is known.
        self.remove(path)
        stream = self._files.createAtomic(self._at(path), True)
        try:
            self._fill(stream, content)
        except BaseException:
            stream.cancel()
            raise
        stream.close()

    def _fill(self, stream: Any, content: bytes) -> None:
        if len(content) < LARGE:
            stream.write(content)
            return
        with NamedTemporaryFile(prefix="slackwater-") as draft:
            draft.write(content)
            draft.flush()
            source = self._jvm.java.io.FileInputStream(draft.name)
            try:
                self._jvm.org.apache.commons.io.IOUtils.copyLarge(source, stream)
            finally:
                source.close()

    def list(self, folder: str) -> list[str]:
        """Return the names in a folder; none if there is no such folder."""
        if not self._files.exists(self._at(folder)):
            return []
        return sorted(str(each.getPath().getName()) for each in self._files.list(self._at(folder)))

    def exists(self, path: str) -> bool:
        return bool(self._files.exists(self._at(path)))

    def is_file(self, path: str) -> bool:
        at = self._at(path)
        return bool(at.getFileSystem(self._settings).getFileStatus(at).isFile())

    def make(self, folder: str) -> None:
        """Make a folder and those above it."""
        self._files.mkdirs(self._at(folder))

    def remove(self, path: str) -> None:
        """Remove a file, if there is one."""
        if self.exists(path):
            self._files.delete(self._at(path))

    def _at(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(path)
