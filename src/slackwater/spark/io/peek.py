"""The columns of local files, read without Spark, because Spark's first job takes seconds."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet

ROWS = 100
"""The rows of a JSON file that are read. Larger: slower, but finds columns that the first rows leave out."""
LONGEST = 1 << 20
"""The most characters of a JSON row that are read. Larger: more memory; a longer row is left to Spark."""
PLAIN = frozenset(
    {"path", "maxfilespertrigger", "maxbytespertrigger", "latestfirst", "cleansource", "sourcearchivedir"}
)
"""Options that do not change which files are read, or how."""


def peek_columns(format_: str, options: Mapping[str, str]) -> list[str] | None:
    """Return the columns of the first file of a stream, or None if only Spark can tell them."""
    look = {"parquet": _parquet, "json": _json}.get(format_.lower())
    if look is None or not {name.lower() for name in options} <= PLAIN:
        return None
    path = _local(next(value for name, value in options.items() if name.lower() == "path"))
    first = None if path is None else next(_files(path), None)
    if path is None or first is None:
        return None
    try:
        return [*look(first), *_partitions(path, first)]
    except (OSError, ValueError, pa.ArrowException):  # Spark reports the cause better
        return None


def _local(address: str) -> Path | None:
    """Return the path of an address that names one local path, else None."""
    if re.search(r"[*?\[\]{}]", address):
        return None
    parts = urlsplit(address)
    if parts.scheme == "file":
        return Path(unquote(parts.path))
    return None if parts.scheme else Path(address)


def _files(path: Path) -> Iterator[Path]:
    """Yield the files that Spark would read, without hidden files and Spark's own logs."""
    if path.is_file():
        yield path
        return
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(each for each in folders if not each.startswith(("_", ".")))
        yield from (Path(folder, each) for each in sorted(files) if not each.startswith(("_", ".")))


def _parquet(file: Path) -> list[str]:
    return list(pa.parquet.read_schema(file).names)


def _json(file: Path) -> list[str]:
    """Return the column names of the first rows, in order of appearance."""
    opened = gzip.open if file.suffix == ".gz" else open
    found: dict[str, None] = {}
    with opened(file, "rt", encoding="utf-8") as lines:
        for line in islice(iter(lambda: lines.readline(LONGEST), ""), ROWS):
            found |= dict.fromkeys(_row(line))
    return list(found)


def _row(line: str) -> dict[str, object]:
    """Return a row, empty if it is malformed: other rows may be sound."""
    try:
        row = json.loads(line)
    except ValueError:
        return {}
    return row if isinstance(row, dict) else {}


def _partitions(path: Path, file: Path) -> list[str]:
    """Return the partition columns, which are in the names of folders such as `day=2026-01-01`."""
    return [each.partition("=")[0] for each in file.relative_to(path).parts[:-1] if "=" in each]
