"""The check that declared columns exist in the data: Spark would read a misspelt name as NULL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from urllib.parse import unquote

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from slackwater.algebra.catalog import StreamDef
from slackwater.errors import InputError, nearest
from slackwater.spark.io.mapping import map_columns
from slackwater.spark.io.peek import peek_columns
from slackwater.spark.io.sources.registry import SOURCES

NAMED_BY_ROWS = ("json", "xml")
"""Formats in which every row names its columns, and may leave some out."""
FEW = 16
"""The number of files to look at first if every row names its columns. Larger: slower, since each is read whole."""
EMPTY = "UNABLE_TO_INFER_SCHEMA"
"""Spark's error condition for a folder without files. It is not an error here, because a stream waits for files."""


def check_columns(stream: StreamDef, found: Iterable[Sequence[str]]) -> None:
    """Raise an error if a declared column is not in the data. Each of `found` covers more files than the one before."""
    wrong: tuple[str, Sequence[str]] | None = None
    for names in found:
        name = _absent(stream, names)
        if name is None:
            return
        wrong = name, names
    if wrong is not None:
        name, names = wrong
        raise InputError(
            "SW-434",
            f"the stream '{stream.name}' declares '{name}', which its source does not have",
            expected="a column of: " + ", ".join(names[:12]),
            hint=nearest(name, names),
        )


def columns_found(session: SparkSession, stream: StreamDef) -> Iterator[Sequence[str]]:
    """Yield the columns of the source: file formats tell them to a batch reader, others to a streaming reader.

    The first result is the cheapest to get, the last one covers all files. A folder without files yields nothing.
    """
    options = map_columns(stream)[1]
    path = next((value for name, value in options.items() if name.lower() == "path"), None)
    if path is None or stream.format.lower() in SOURCES:
        yield session.readStream.format(stream.format).options(**options).load().columns
        return
    if (peeked := peek_columns(stream.format, options)) is not None:
        yield peeked
    reader = session.read.format(stream.format).options(**options)
    try:
        if stream.format.lower() in NAMED_BY_ROWS:
            yield from _of_few(session, stream.format, options)
        else:
            yield reader.load().columns
        yield reader.option("mergeSchema", "true").load().columns
    except AnalysisException as cause:
        if cause.getCondition() != EMPTY:
            raise


def _of_few(session: SparkSession, format_: str, options: dict[str, str]) -> Iterator[Sequence[str]]:
    """Yield the columns of the first files, or nothing if they cannot be read alone."""
    files = session.read.format(format_).options(**options).schema("any STRING").load().inputFiles()
    own = {name: value for name, value in options.items() if name.lower() != "path"}
    try:
        yield session.read.format(format_).options(**own).load([unquote(each) for each in files[:FEW]]).columns
    except AnalysisException:
        return


def _absent(stream: StreamDef, found: Sequence[str]) -> str | None:
    """Return the first declared column that is missing, or None.

    If every row names its columns, a row may leave columns out. Then a column counts as missing only if the data has an
    undeclared column with a similar name.
    """
    names = {name.lower() for name in found}
    declared = {each.source.lower(): each.source for each in map_columns(stream)[0]}
    absent = [name for name in declared if name not in names]
    if stream.format.lower() in NAMED_BY_ROWS:
        absent = [name for name in absent if get_close_matches(name, names - declared.keys(), 1, 0.6)]
    return declared[absent[0]] if absent else None
