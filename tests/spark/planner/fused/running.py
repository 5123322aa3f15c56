"""Run fused plans on Spark over given feeds: several in one query, since starting a query takes most of the time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from tests.spark.conformance import _plain, _written, with_clock
from tests.spark.streams import finish

from slackwater.algebra.catalog import StreamDef
from slackwater.algebra.nodes import Plan
from slackwater.semantics import Feed
from slackwater.spark.planner.fused.fuse import fuse
from slackwater.testing.catalog import READINGS

Rows = Counter[tuple[Any, ...]]


def found(
    spark: SparkSession, plans: Mapping[str, Plan], feed: Feed, folder: Path, stream: StreamDef = READINGS
) -> dict[str, Rows]:
    """Return Spark's answer to each plan over one stream; the watermark follows the feed's punctuations."""
    rows = with_clock(*_written(spark, stream, feed, len(feed.batches), folder / stream.name))
    each = [named(name, fuse(plan, {stream.name: rows})) for name, plan in plans.items()]
    table = f"found_{uuid4().hex}"
    finish(reduce(lambda one, two: one.unionByName(two, allowMissingColumns=True), each), folder / "check", table)
    answers = spark.table(table).collect()
    spark.catalog.dropTempView(table)
    return {name: Counter(tuple(map(_plain, row[name])) for row in answers if row[name]) for name in plans}


def named(name: str, df: DataFrame) -> DataFrame:
    """Return the rows as structs in one column of that name."""
    return df.select(F.struct(*(F.col(f"`{column}`") for column in df.columns)).alias(name))
