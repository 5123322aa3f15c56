"""Runs a plan on Spark over feeds whose batches and punctuations are given, to be compared with the interpreter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from tests.spark.streams import finish, read_batches, write_batch

from slackwater.algebra.catalog import Catalog, StreamDef
from slackwater.algebra.nodes import Plan
from slackwater.semantics import Batch, Feed, interpret
from slackwater.spark import plan as planning
from slackwater.spark.control import CLOCK

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TIMESTAMP = pa.timestamp("us", "UTC")


def expected(plan: Plan, feeds: Mapping[str, Feed]) -> Counter[tuple[Any, ...]]:
    """What the interpreter answers when the last punctuations have acted, as Spark's last batch lets them."""
    longest = max(len(feed.batches) for feed in feeds.values())
    ended = {
        name: replace(feed, batches=feed.batches + (Batch(),) * (longest - len(feed.batches) + 1))
        for name, feed in feeds.items()
    }
    return Counter(tuple(map(_plain, result.row.values())) for result in interpret(plan, ended).rows)


def found(
    spark: SparkSession, plan: Plan, feeds: Mapping[str, Feed], catalog: Catalog, folder: Path
) -> Counter[tuple[Any, ...]]:
    """What Spark answers, its watermarks following the punctuations that the feeds give."""
    longest = max(len(feed.batches) for feed in feeds.values())
    clocks: dict[str, DataFrame] = {}
    streams: dict[str, DataFrame] = {}
    for name, feed in feeds.items():
        stream = catalog.source(name)
        assert isinstance(stream, StreamDef)
        streams[name], clocks[name] = _written(spark, stream, feed, longest, folder / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "punctuations", lambda *_, name, **__: clocks[name])
        df = planning.compile_plan(plan, streams)
    table = f"found_{uuid4().hex}"
    finish(df, folder / "check", table)
    rows = spark.table(table).collect()
    spark.catalog.dropTempView(table)
    return Counter(tuple(map(_plain, row)) for row in rows)


def _written(
    spark: SparkSession, stream: StreamDef, feed: Feed, batches: int, folder: Path
) -> tuple[DataFrame, DataFrame]:
    columns = ", ".join(f"{field.name} {field.type}" for field in stream.fields)
    rows = read_batches(spark, folder / "rows", columns)
    schema = to_arrow_schema(rows.schema, timezone="UTC")
    latest = 0
    for number in range(batches):
        batch = feed.batches[number] if number < len(feed.batches) else Batch()
        latest = max(latest, batch.punctuation or 0)
        # The interpreter's times are whole microseconds; Arrow takes them for timestamps as they are.
        arrays = {field.name: pa.array([row[field.name] for row in batch.rows], field.type) for field in schema}
        write_batch(folder / "rows", number, arrays)
        write_batch(folder / "clock", number, {CLOCK: pa.array([latest], TIMESTAMP)})
    return rows, read_batches(spark, folder / "clock", f"{CLOCK} timestamp")


def _plain(value: Any) -> Any:
    """A value in the interpreter's terms; sums of fractions may differ in their last digit."""
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.astimezone(UTC)
        return round((aware - EPOCH).total_seconds() * 1_000_000)
    return round(value, 9) if isinstance(value, float) else value
