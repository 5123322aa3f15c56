"""The sinks of pipelines: Spark's own sinks, with their options passed on, and our own."""

from __future__ import annotations

from slackwater.algebra.catalog import Pipeline, SinkDef
from slackwater.algebra.nodes import emits_changes
from slackwater.algebra.properties.keys import key_of
from slackwater.errors import InputError
from slackwater.spark.io.kafka.sink import KafkaSink
from slackwater.spark.io.sinks.files import FILES, Appended, FileSink, check_files
from slackwater.spark.io.sinks.memory import MemorySink
from slackwater.spark.io.sinks.shown import TABLE as SHOWN
from slackwater.spark.io.sinks.shown import ShownSink
from slackwater.spark.io.sinks.sink import OnRows, Sink
from slackwater.spark.options import Options

__all__ = ["OWN_FORMATS", "OnRows", "Sink", "batch_sink", "own_sink"]

OWN_FORMATS = ("console", "kafka", "postgres")
"""Formats that are not Spark's own writers."""
APPENDED = ("delta", "noop")


def own_sink(pipeline: Pipeline, on_rows: OnRows | None = None) -> Sink | None:
    """Return the sink of a pipeline if it is one of our own, or None if Spark writes the rows."""
    match pipeline.sink:
        case None:
            return ShownSink(on_rows)
        case SinkDef(format=format_, options=options, name=name) if format_.lower() == "console":
            Options(SHOWN, options, f"the sink '{name}'")
            return ShownSink(on_rows)
        case SinkDef(format=format_, options=options, name=name) if format_.lower() == "postgres":
            from slackwater.spark.io.sinks.postgres.sink import Postgres  # noqa: PLC0415 (psycopg is an extra)

            return Postgres(pipeline.name, name, options, emits_changes(pipeline.plan), key_of(pipeline.plan))
        case SinkDef(format=format_, options=options, name=name) if format_.lower() == "kafka":
            return KafkaSink(name, options, key_of(pipeline.plan))
        case SinkDef(format=format_, options=options, name=name):
            check_files(name, format_.lower(), options)
    return None


def batch_sink(pipeline: Pipeline, on_rows: OnRows | None = None) -> Sink:
    """Return the sink of a pipeline as one that takes batches, for our own and Spark's formats."""
    if pipeline.sink is not None and pipeline.sink.format.lower() in FILES:
        return FileSink(pipeline.sink.name, pipeline.sink.format.lower(), pipeline.sink.options)
    if (own := own_sink(pipeline, on_rows)) or pipeline.sink is None:
        return own or ShownSink(on_rows)
    name, format_ = pipeline.sink.name, pipeline.sink.format.lower()
    if format_ == "memory":
        return MemorySink(name)
    if format_ in APPENDED:
        return Appended(name, format_, pipeline.sink.options)
    raise InputError(
        "SW-456",
        f"the sink '{name}' has the format {format_}, which cannot take one of several outputs exactly once",
        expected="one of " + ", ".join((*OWN_FORMATS, "memory", *FILES, *APPENDED)),
        hint="write late, rejected and refused rows, and the result that they belong to, to one of these",
    )
