"""Read and write files of a checkpoint, on this machine or in any store with a Hadoop file system."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from pyspark.sql import SparkSession

from slackwater.spark.shim.files import HadoopFiles, default_scheme

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
Given = "str | Path | Location"


class FileSystem(Protocol):
    """A file system. Paths are texts with `/` between their parts."""

    def read(self, path: str) -> bytes | None:
        """Return the content of a file; None if there is no such file."""

    def write(self, path: str, content: bytes) -> None:
        """Write a file whole or not at all. An existing file is replaced."""

    def list(self, folder: str) -> list[str]:
        """Return the names in a folder, in order; none if there is no such folder."""

    def exists(self, path: str) -> bool: ...

    def is_file(self, path: str) -> bool: ...

    def make(self, folder: str) -> None:
        """Make a folder and its parents, unless it exists."""

    def remove(self, path: str) -> None:
        """Remove a file, if there is one."""


class LocalFiles:
    """The local file system, through Python: a call into the JVM takes longer than reading a small file."""

    def read(self, path: str) -> bytes | None:
        try:
            return Path(path).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, path: str, content: bytes) -> None:
        place = Path(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = place.with_name(f"_{place.name}.{uuid4().hex}")
        draft.write_bytes(content)
        draft.rename(place)

    def list(self, folder: str) -> list[str]:
        try:
            return sorted(each.name for each in Path(folder).iterdir())
        except FileNotFoundError:
            return []

    def exists(self, path: str) -> bool:
        return Path(path).exists()

    def is_file(self, path: str) -> bool:
        return Path(path).is_file()

    def make(self, folder: str) -> None:
        Path(folder).mkdir(parents=True, exist_ok=True)

    def remove(self, path: str) -> None:
        Path(path).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Location:
    """A file or a folder. Its text is the address that Spark takes.

    >>> place = Location("/var/tides") / "offsets" / "7"
    >>> str(place), place.name, str(place.parent), place.read()
    ('/var/tides/offsets/7', '7', '/var/tides/offsets', None)
    """

    address: str
    files: FileSystem = field(default_factory=LocalFiles, compare=False, repr=False)

    def __str__(self) -> str:
        return self.address

    def __truediv__(self, name: str) -> Location:
        return Location(f"{self.address.rstrip('/')}/{name}", self.files)

    @property
    def name(self) -> str:
        return self.address.rstrip("/").rpartition("/")[2]

    @property
    def parent(self) -> Location:
        return Location(self.address.rstrip("/").rpartition("/")[0] or "/", self.files)

    def beside(self, ending: str) -> Location:
        """Return the location with an ending appended to its name."""
        return Location(f"{self.address.rstrip('/')}{ending}", self.files)

    def read(self) -> bytes | None:
        return self.files.read(self.address)

    def text(self) -> str | None:
        """Return the text of a file; None if there is no such file."""
        found = self.read()
        return None if found is None else found.decode(errors="replace")

    def write(self, content: bytes | str) -> None:
        self.files.write(self.address, content.encode() if isinstance(content, str) else content)

    def list(self, pattern: str = ".*") -> list[Location]:
        """Return the entries of a folder whose whole name matches a regular expression, sorted by name."""
        return [self / name for name in self.files.list(self.address) if re.fullmatch(pattern, name)]

    def exists(self) -> bool:
        return self.files.exists(self.address)

    def make(self) -> None:
        self.files.make(self.address)

    def remove(self) -> None:
        self.files.remove(self.address)

    def blocking_file(self) -> Location | None:
        """Return the file that stands where this folder, or one above it, would have to be; None if there is none."""
        place = self
        while place.address not in ("", "/", ".") and not place.address.endswith((":", ":/")):
            if place.files.exists(place.address):
                return place if place.files.is_file(place.address) else None
            place = place.parent
        return None


def locate(given: str | Path | Location, session: SparkSession | None = None) -> Location:
    """Return the place that Spark would take an address for.

    A path without a scheme is where the session's default file system is, which on a cluster may not be this machine.

    >>> locate("file:/var/tides"), locate("dbfs/tides")
    (Location(address='/var/tides'), Location(address='dbfs/tides'))
    """
    if isinstance(given, Location):
        return given
    text = str(given)
    found = SCHEME.match(text)
    scheme = found[1].lower() if found else "file" if session is None else default_scheme(session)
    if scheme == "file" and not re.match(r"file://(?!localhost/)[^/]", text):
        return Location(re.sub(r"^file:(//(localhost)?(?=/))?/*", "/", text))
    return Location(text, HadoopFiles(session or SparkSession.active(), text))
