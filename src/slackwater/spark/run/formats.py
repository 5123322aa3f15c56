"""What can be known about a source or a sink without running a query: that its format exists, and its columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession

from slackwater.algebra.catalog import Pipeline, SinkDef, StreamDef
from slackwater.algebra.nodes import emits_changes
from slackwater.errors import InputError, found_in
from slackwater.spark.batches import DeliveredBatch
from slackwater.spark.io.kafka.reading import read_kafka
from slackwater.spark.io.names import check_columns, columns_found
from slackwater.spark.io.sinks import OWN_FORMATS, batch_sink, own_sink
from slackwater.spark.io.streams import check_own, unreadable
from slackwater.spark.planner.fused.changes import check_form
from slackwater.spark.planner.plan import compile_plan
from slackwater.spark.planner.ways import way_of
from slackwater.spark.refusals import REFUSALS, reason
from slackwater.spark.run.pipeline import formed
from slackwater.spark.run.sides import entries
from slackwater.spark.shim.driver import look_up_format
from slackwater.spark.shim.log import with_log

TEXT_WITHOUT_NAMES = ("csv", "text", "socket")
"""Formats whose columns are what the declaration says, not what the data says."""


def check_stream(session: SparkSession, stream: StreamDef) -> None:
    """The format exists, and where the data itself names its columns, the declared ones are among them."""
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
    """Check all of a plan that can be checked before there is a session: who can run it, and how it writes changes."""
    with found_in(f"the pipeline '{pipeline.name}'"):
        way_of(pipeline.plan)
        form, _ = formed(pipeline)
        if emits_changes(pipeline.plan):
            check_form(pipeline.plan, form)


def check_plan(pipeline: Pipeline, streams: Mapping[str, DataFrame]) -> list[tuple[str, str]]:
    """Return the columns and types that Spark gives the rows of a pipeline."""
    return accepted(pipeline, lambda: compile_plan(pipeline.plan, streams, form=formed(pipeline)[0])).dtypes


def accepted(pipeline: Pipeline, compiled: Callable[[], DataFrame]) -> DataFrame:
    """Return the rows of a pipeline; what Spark refuses of its plan is an error that names the pipeline."""
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
    """The format of a sink exists."""
    # `memory` is a sink of streams alone, which the lookup of data sources does not know.
    if sink is not None and sink.format.lower() not in (*OWN_FORMATS, "memory"):
        _check_format(session, sink.format, f"the sink '{sink.name}'")


def check_outputs(pipeline: Pipeline, sides: Sequence[Pipeline]) -> None:
    """The sink of a pipeline can take its rows; beside sides, each of all of them one of several outputs."""
    if not sides:
        own_sink(pipeline)
        return
    for each in (pipeline, *sides):
        batch_sink(each)


def check_sides(
    pipeline: Pipeline, sides: Sequence[Pipeline], streams: Mapping[str, DataFrame]
) -> list[tuple[Pipeline, list[tuple[str, str]]]]:
    """The columns and types of queries over the sides of a pipeline."""
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
