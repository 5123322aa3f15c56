"""The sinks of pipelines: Spark's own sinks, with their options passed on, and our own."""

from __future__ import annotations

from collections.abc import Callable

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

APPENDED = ("delta", "noop")


def _console(pipeline: Pipeline, sink: SinkDef, on_rows: OnRows | None) -> Sink:
    Options(SHOWN, sink.options, f"the sink '{sink.name}'")
    return ShownSink(on_rows)


def _kafka(pipeline: Pipeline, sink: SinkDef, on_rows: OnRows | None) -> Sink:
    return KafkaSink(sink.name, sink.options, key_of(pipeline.plan))


def _postgres(pipeline: Pipeline, sink: SinkDef, on_rows: OnRows | None) -> Sink:
    from slackwater.spark.io.sinks.postgres.sink import Postgres  # noqa: PLC0415 (psycopg is an extra)

    return Postgres(pipeline.name, sink.name, sink.options, emits_changes(pipeline.plan), key_of(pipeline.plan))


OWN: dict[str, Callable[[Pipeline, SinkDef, OnRows | None], Sink]] = {
    "console": _console,
    "kafka": _kafka,
    "postgres": _postgres,
}
"""For each format that is not Spark's own, a function that returns the sink of a pipeline."""
OWN_FORMATS = tuple(OWN)


def own_sink(pipeline: Pipeline, on_rows: OnRows | None = None) -> Sink | None:
    """Return the sink of a pipeline if it is one of our own, or None if Spark writes the rows."""
    sink = pipeline.sink
    if sink is None:
        return ShownSink(on_rows)
    if sink.format.lower() in OWN:
        return OWN[sink.format.lower()](pipeline, sink, on_rows)
    check_files(sink.name, sink.format.lower(), sink.options)
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
