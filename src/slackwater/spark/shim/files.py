"""Files in any of Hadoop's file systems, written in the way Spark writes the logs of a checkpoint."""

from __future__ import annotations

from tempfile import NamedTemporaryFile
from typing import Any

from pyspark.sql import SparkSession

from slackwater.spark.shim.internals import STREAMING, class_name

MANAGER = f"{STREAMING}.checkpointing.CheckpointFileManager"
LARGE = 1 << 16
"""Bytes from which a file is passed to the JVM through the disk. Larger: slower, since py4j sends bytes as text."""


def default_scheme(session: SparkSession) -> str:
    """Return the scheme of the default file system, which paths without a scheme use."""
    address = session._jsparkSession.sessionState().newHadoopConf().get("fs.defaultFS", "file:///")
    return str(address).partition(":")[0].lower()


class HadoopFiles:
    """The file system of one address. `spark.sql.streaming.checkpointFileManagerClass` sets how files are written."""

    def __init__(self, session: SparkSession, address: str) -> None:
        jvm: Any = session._jvm
        self._jvm = jvm
        found = jvm
        for part in class_name(session, MANAGER).split("."):
            found = getattr(found, part)
        self._settings = session._jsparkSession.sessionState().newHadoopConf()
        self._at(address).getFileSystem(self._settings)  # its error names the cause, the manager's does not
        self._files = found.create(self._at(address), self._settings)

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, or None if there is no such file."""
        if not self._files.exists(self._at(path)):
            return None
        stream = self._files.open(self._at(path))
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def write(self, path: str, content: bytes) -> None:
        """Write a file atomically, replacing an existing one."""
        self._files.mkdirs(self._at(path).getParent())
        # Some file systems cannot rename over an existing file, so it is removed first. That loses nothing: a file is
        # only written again for a repeated batch, or with known content.
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
        """Return the names in a folder, none if there is no such folder."""
        if not self._files.exists(self._at(folder)):
            return []
        return sorted(str(each.getPath().getName()) for each in self._files.list(self._at(folder)))

    def exists(self, path: str) -> bool:
        return bool(self._files.exists(self._at(path)))

    def is_file(self, path: str) -> bool:
        at = self._at(path)
        return bool(at.getFileSystem(self._settings).getFileStatus(at).isFile())

    def make(self, folder: str) -> None:
        """Create a folder and its parents."""
        self._files.mkdirs(self._at(folder))

    def remove(self, path: str) -> None:
        """Remove a file, if there is one."""
        if self.exists(path):
            self._files.delete(self._at(path))

    def _at(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(path)
