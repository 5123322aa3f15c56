"""Runs a plan on Spark over feeds whose batches and punctuations are given, to be compared with the interpreter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType
from tests.spark.streams import finish, read_batches, write_batch

from slackwater.algebra.catalog import Catalog, StreamDef
from slackwater.algebra.lengths import TICK
from slackwater.algebra.nodes import Emit, Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.semantics import Answer, Feed, FeedBatch, interpret
from slackwater.spark.planner import plan as planning
from slackwater.spark.shim.schema import arrow_schema
from slackwater.spark.watermark.control import CLOCK
from slackwater.spark.watermark.readings import read_parts

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TIMESTAMP = pa.timestamp("us", "UTC")


class Punctuations:
    """In the place of a controller: gives the punctuations of a feed."""

    def __init__(self, feed: Feed, *_: object) -> None:
        self.latest = list(accumulate((each.punctuation or 0 for each in feed.batches), max))
        self.answer = "0 0 0 0"
        self.seen = None
        self.lost = 0

    def step(self, batch: int, readings: list[bytes]) -> None:
        self.lost += read_parts(readings, in_arrival_order=True).lost
        mark = self.latest[min(batch, len(self.latest) - 1)] // 1_000
        self.answer = f"{mark} 0 0 0"


def expected(plan: Plan, feeds: Mapping[str, Feed]) -> Counter[tuple[Any, ...]]:
    """Return the interpreter's rows after an additional empty batch, in which the last punctuations act as in Spark."""
    longest = max(len(feed.batches) for feed in feeds.values())
    ended = {
        name: replace(feed, batches=feed.batches + (FeedBatch(),) * (longest - len(feed.batches) + 1))
        for name, feed in feeds.items()
    }
    return answered(plan, interpret(plan, ended))


def answered(plan: Plan, answer: Answer) -> Counter[tuple[Any, ...]]:
    """Return the rows of an answer as a sink gets them, including sync rows."""
    rows = [tuple(map(_plain, result.row.values())) for result in answer.rows]
    if not (isinstance(plan, Emit) and plan.sync):
        return Counter(rows)
    width = len(schema_of(plan))
    told = [(*row, result.time + TICK, False) for row, result in zip(rows, answer.rows, strict=True)]
    return Counter(told + [(*[None] * width, each.window_end, True) for each in answer.syncs])


def found_at_rest(
    spark: SparkSession, plan: Plan, feeds: Mapping[str, Feed], catalog: Catalog
) -> Counter[tuple[Any, ...]]:
    """Return Spark's rows over the feeds as batch DataFrames: all rows at once, none of them late."""
    streams = {}
    for name, feed in feeds.items():
        stream = catalog.source(name)
        assert isinstance(stream, StreamDef)
        empty = spark.createDataFrame([], _columns(stream))
        rows = [row for batch in feed.batches for row in batch.rows]
        streams[name] = spark.createDataFrame(_table(empty.schema, rows))
    return Counter(tuple(map(_plain, row)) for row in planning.compile_plan(plan, streams).collect())


def found(
    spark: SparkSession, plan: Plan, feeds: Mapping[str, Feed], catalog: Catalog, folder: Path
) -> Counter[tuple[Any, ...]]:
    """Return Spark's rows. Its watermarks follow the punctuations of the feeds."""
    longest = max(len(feed.batches) for feed in feeds.values())
    streams: dict[str, DataFrame] = {}
    for name, feed in feeds.items():
        stream = catalog.source(name)
        assert isinstance(stream, StreamDef)
        streams[name] = with_clock(*_written(spark, stream, feed, longest, folder / name))
    df = planning.compile_plan(plan, streams)
    table = f"found_{uuid4().hex}"
    finish(df, folder / "check", table)
    rows = spark.table(table).collect()
    spark.catalog.dropTempView(table)
    return Counter(tuple(map(_plain, row)) for row in rows)


def with_clock(rows: DataFrame, clock: DataFrame) -> DataFrame:
    """Return a stream whose rows include its punctuations, like the log of a view."""
    return rows.unionByName(clock, allowMissingColumns=True)


def _written(
    spark: SparkSession, stream: StreamDef, feed: Feed, batches: int, folder: Path
) -> tuple[DataFrame, DataFrame]:
    rows = read_batches(spark, folder / "rows", _columns(stream))
    latest = 0
    for number in range(batches):
        batch = feed.batches[number] if number < len(feed.batches) else FeedBatch()
        latest = max(latest, batch.punctuation or 0)
        table = _table(rows.schema, batch.rows)
        write_batch(folder / "rows", number, dict(zip(table.column_names, table.columns, strict=True)))
        write_batch(folder / "clock", number, {CLOCK: pa.array([latest], TIMESTAMP)})
    return rows, read_batches(spark, folder / "clock", f"{CLOCK} timestamp")


def _columns(stream: StreamDef) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in stream.fields)


def _table(schema: StructType, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return rows as an Arrow table. The interpreter's times are microseconds, as are Arrow's timestamps."""
    fields = arrow_schema(schema)
    return pa.table({field.name: pa.array([row[field.name] for row in rows], field.type) for field in fields})


def _plain(value: Any) -> Any:
    """Return a value as the interpreter represents it. Floats are rounded: sums may differ in the last digit."""
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.astimezone(UTC)
        return round((aware - EPOCH).total_seconds() * 1_000_000)
    if isinstance(value, list):
        return tuple(map(_plain, value))
    return round(value, 9) if isinstance(value, float) else value
