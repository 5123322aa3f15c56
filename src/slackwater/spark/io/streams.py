"""Declared streams as streaming DataFrames: our own sources, and all formats of Spark."""

from __future__ import annotations

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import CaseInsensitiveDict

from slackwater.algebra.catalog import Script, StreamDef
from slackwater.algebra.nodes import Scan, walk
from slackwater.algebra.schema import Field
from slackwater.disorder.replay.trace import RAW
from slackwater.errors import InputError
from slackwater.spark.io.kafka.stream import read_kafka
from slackwater.spark.io.mapping import map_columns
from slackwater.spark.io.rejects import REASON, TEXTS, observe_rejects, set_aside, sets_aside
from slackwater.spark.io.sources.registry import SOURCES, register
from slackwater.spark.refusals import REFUSALS, reason
from slackwater.spark.relation import quote
from slackwater.spark.shim.reader import TELLS_AVAILABLE_NOW
from slackwater.spark.shim.spark_log import with_log

__all__ = ["DataFrame", "SparkSession", "check_own", "definition_of", "read_stream", "read_streams", "unreadable"]


def read_streams(session: SparkSession, script: Script, *, available_now: bool = False) -> dict[str, DataFrame]:
    """Return every stream that a pipeline of the script reads, by name; see `read_stream`."""
    nodes = [node for each in script.pipelines for node in walk(each.plan)]
    read = {node.stream for node in nodes if isinstance(node, Scan)}
    return {
        each.name: read_stream(session, each, available_now=available_now)
        for each in script.streams
        if each.name in read
    }


def definition_of(name: str, df: DataFrame) -> StreamDef:
    """Return the declaration of a DataFrame as a stream, with its columns and nothing else."""
    return StreamDef(name, tuple(Field(column.name, column.dataType.simpleString()) for column in df.schema))


def read_stream(session: SparkSession, stream: StreamDef, *, available_now: bool = False) -> DataFrame:
    """Return the rows of a stream with its declared columns. Options are passed on to the format.

    With `available_now` our own sources do not wait for the clock. Up to Spark 4.1 only their options can tell them.

    Malformed rows are included as rows of NULLs if the format can tell them (rejects.py).
    """
    if stream.format.lower() == "kafka":
        return read_kafka(session, stream)
    own = SOURCES.get(stream.format.lower())
    check_own(session, stream)
    columns, options = map_columns(stream)
    if available_now and own and not TELLS_AVAILABLE_NOW:
        options = {**options, "pace": "max"}
    aside = sets_aside(stream)
    fields = [each.read for each in columns] + ([Field(RAW, "string")] if aside else [])
    schema = ", ".join(f"{quote(field.name)} {field.type}" for field in fields)
    reader = session.readStream.format(stream.format).schema(schema).options(**options)
    try:
        told = aside and stream.format.lower() in TEXTS
        df = (reader.option("columnNameOfCorruptRecord", RAW) if told else reader).load()
    except REFUSALS as cause:
        raise unreadable(stream, cause) from cause
    if own:
        # Check the source now: Spark reports a problem of a Python source only after the query has started.
        made = own(CaseInsensitiveDict(options)).streamReader(df.schema)
        if available_now:
            made.prepareForTriggerAvailableNow()
    if aside:
        df = set_aside(observe_rejects(df, stream, columns), [each.source for each in columns])
    return df.select(*(each.column for each in columns), *([RAW, REASON] if aside else []))


def check_own(session: SparkSession, stream: StreamDef) -> None:
    """Check the options of one of our own sources and register it. Spark would report only one line of an error."""
    if own := SOURCES.get(stream.format.lower()):
        own(CaseInsensitiveDict(map_columns(stream)[1]))
        register(session)


def unreadable(stream: StreamDef, cause: Exception) -> InputError:
    """Return the error about a stream that Spark cannot read. A path that does not exist has an error of its own."""
    if isinstance(cause, PySparkException) and cause.getCondition() == "PATH_NOT_FOUND":
        path = next((value for name, value in stream.options.items() if name.lower() == "path"), "")
        return InputError(
            "SW-462",
            f"the stream '{stream.name}' reads '{path}', which does not exist",
            hint="create it, or correct the option path",
        )
    return InputError(
        "SW-433",
        f"the stream '{stream.name}' cannot be read: {reason(cause)}",
        expected="a format that this Spark session knows, with the options that it needs",
        hint=with_log("check USING and OPTIONS of CREATE STREAM"),
    )
