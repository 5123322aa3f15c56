"""The columns that the data of a stream has, against those that are declared: a name that is misspelt reads as NULL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from urllib.parse import unquote

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from slackwater.algebra.catalog import StreamDef
from slackwater.errors import InputError, nearest
from slackwater.spark.io.mapping import mapped
from slackwater.spark.io.peek import peek_columns
from slackwater.spark.io.sources.registry import SOURCES

NAMED_BY_ROWS = ("json", "xml")
"""Formats in which every row names its columns, and may leave out what it does not have."""
FEW = 16
"""Files that are read first where every row names its columns: of all of them, each would be read as a whole."""
EMPTY = "UNABLE_TO_INFER_SCHEMA"
"""What Spark says of a folder without files: a stream waits for them."""


def check_columns(stream: StreamDef, found: Iterable[Sequence[str]]) -> None:
    """Check that the declared columns are in the data; each of `found` has the columns of more files than the last."""
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
    """Return the columns of the source itself: file formats tell them to a batch reader, others to a streaming one.

    First as cheaply as they can be had, then of all files together; none of a folder without files.
    """
    options = mapped(stream)[1]
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
    """The columns of the first files; none if these cannot be read alone."""
    files = session.read.format(format_).options(**options).schema("any STRING").load().inputFiles()
    own = {name: value for name, value in options.items() if name.lower() != "path"}
    try:
        yield session.read.format(format_).options(**own).load([unquote(each) for each in files[:FEW]]).columns
    except AnalysisException:
        return


def _absent(stream: StreamDef, found: Sequence[str]) -> str | None:
    """The first declared column that is not there. A row may leave a column out where it names them itself: there it
    must be a column that is there under nearly that name, and is not declared."""
    names = {name.lower() for name in found}
    declared = {each.source.lower(): each.source for each in mapped(stream)[0]}
    absent = [name for name in declared if name not in names]
    if stream.format.lower() in NAMED_BY_ROWS:
        absent = [name for name in absent if get_close_matches(name, names - declared.keys(), 1, 0.6)]
    return declared[absent[0]] if absent else None
