"""Streams for tests whose cut into batches is given: one file a batch."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from slackwater.spark.shim.available_now import start_available_now

SECOND = 1_000_000
START = 1_700_000_000 * SECOND
Rows = Mapping[str, Sequence[Any]]


def timestamps(seconds: Iterable[float | None]) -> pa.Array:
    """Return seconds after START as an Arrow array of timestamps; None is NULL."""
    return pa.array([None if s is None else START + round(s * SECOND) for s in seconds], pa.timestamp("us", "UTC"))


def write_batch(folder: Path, number: int, columns: Mapping[str, Any]) -> None:
    """Write the file of a batch. Spark reads files in the order of their modification times."""
    folder.mkdir(parents=True, exist_ok=True)
    hidden = folder / f"_{number:05d}.parquet"
    pq.write_table(pa.table(dict(columns)), hidden)
    os.utime(hidden, (1_600_000_000 + number,) * 2)
    hidden.rename(folder / f"{number:05d}.parquet")


def read_batches(spark: SparkSession, folder: Path, schema: str) -> DataFrame:
    folder.mkdir(parents=True, exist_ok=True)
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


def finish(df: DataFrame, checkpoint: Path, name: str, mode: str = "append") -> StreamingQuery:
    """Run a query over all available rows, into the in-memory table `name`."""
    writer = df.writeStream.format("memory").queryName(name).outputMode(mode)
    query = start_available_now(writer.option("checkpointLocation", str(checkpoint)))
    query.awaitTermination()
    return query
