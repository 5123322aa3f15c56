"""Check sources, sinks and pipelines without running a query: formats, columns and plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession

from slackwater.algebra.catalog import Pipeline, SinkDef, StreamDef
from slackwater.algebra.nodes import emits_changes
from slackwater.errors import InputError, found_in
from slackwater.spark.batches import DeliveredBatch
from slackwater.spark.io.kafka.stream import read_kafka
from slackwater.spark.io.names import check_columns, columns_found
from slackwater.spark.io.sinks import OWN_FORMATS, batch_sink, own_sink
from slackwater.spark.io.streams import check_own, unreadable
from slackwater.spark.planner.fused.changes import check_form
from slackwater.spark.planner.plan import compile_plan
from slackwater.spark.planner.ways import way_of
from slackwater.spark.refusals import REFUSALS, reason
from slackwater.spark.run.pipeline import split_form
from slackwater.spark.run.sides import entries
from slackwater.spark.shim.driver import look_up_format
from slackwater.spark.shim.spark_log import with_log

TEXT_WITHOUT_NAMES = ("csv", "text", "socket")
"""Formats whose data has no column names, so that the declared ones cannot be checked."""


def check_stream(session: SparkSession, stream: StreamDef) -> None:
    """Check that the format of a stream exists, and that the data has the declared columns if it names its columns."""
    check_own(session, stream)
    if stream.format.lower() == "kafka":
        read_kafka(session, stream)
        return
    if stream.format.lower() in TEXT_WITHOUT_NAMES:
        _check_format(session, stream.format, f"the stream '{stream.name}'")
        return
    try:
        check_columns(stream, columns_found(session, stream))
    except REFUSALS as cause:
        raise unreadable(stream, cause) from cause


def check_alone(pipeline: Pipeline) -> None:
    """Check a plan without a Spark session: that some operator can run it, and that its sink can take its changes."""
    with found_in(f"the pipeline '{pipeline.name}'"):
        way_of(pipeline.plan)
        form, _ = split_form(pipeline)
        if emits_changes(pipeline.plan):
            check_form(pipeline.plan, form)


def check_plan(pipeline: Pipeline, streams: Mapping[str, DataFrame]) -> list[tuple[str, str]]:
    """Compile a pipeline and return the columns and types of its rows."""
    return compile_or_refuse(
        pipeline, lambda: compile_plan(pipeline.plan, streams, form=split_form(pipeline)[0])
    ).dtypes


def compile_or_refuse(pipeline: Pipeline, compiled: Callable[[], DataFrame]) -> DataFrame:
    """Return the rows of a pipeline; if Spark refuses its plan, raise an error that names the pipeline."""
    try:
        with found_in(f"the pipeline '{pipeline.name}'"):
            return compiled()
    except REFUSALS as cause:
        raise InputError(
            "SW-436",
            f"Spark refuses the pipeline '{pipeline.name}': {reason(cause)}",
            expected="functions and types that Spark SQL has",
            hint=with_log("check the expressions of the query"),
        ) from cause


def check_sink(session: SparkSession, sink: SinkDef | None) -> None:
    """Check that the format of a sink exists."""
    # Spark's lookup of data sources does not know `memory`, because it is only a streaming sink.
    if sink is not None and sink.format.lower() not in (*OWN_FORMATS, "memory"):
        _check_format(session, sink.format, f"the sink '{sink.name}'")


def check_outputs(pipeline: Pipeline, sides: Sequence[Pipeline]) -> None:
    """Check that the sink of a pipeline can take its rows.

    If sides are read, the query has several outputs: then each sink must be able to take a batch once.
    """
    if not sides:
        own_sink(pipeline)
        return
    for each in (pipeline, *sides):
        batch_sink(each)


def check_sides(
    pipeline: Pipeline, sides: Sequence[Pipeline], streams: Mapping[str, DataFrame]
) -> list[tuple[Pipeline, list[tuple[str, str]]]]:
    """Return the columns and types of each query over the sides of a pipeline."""
    return [
        (each, entry.read_by(each, entry.rows(streams), DeliveredBatch(0, "")).dtypes)
        for entry in entries(pipeline, sides)
        for each in entry.readers
    ]


def _check_format(session: SparkSession, name: str, what: str) -> None:
    try:
        look_up_format(session, name)
    except REFUSALS as cause:
        raise InputError(
            "SW-435",
            f"{what} has the format '{name}', which this Spark session does not know",
            expected="a format such as parquet, csv, json, console, memory, kafka",
            hint="check USING, or give Spark the connector: --conf spark.jars.packages=GROUP:NAME:VERSION",
        ) from cause
