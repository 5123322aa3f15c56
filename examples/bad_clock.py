"""Counts one stream twice: with `withWatermark("ts", "10 seconds")`, and with `sw.with_disorder_control("ts", "1%")`.

    python examples/bad_clock.py

Twenty sensors report for 15 minutes. Delays have a heavy tail: half of the rows take less than 1.6 seconds, one in a
hundred more than 20. After 3 minutes the clock of one sensor jumps a day ahead. Both queries count the rows of each
sensor in windows of 10 seconds. The table shows how many windows of the 19 honest sensors were answered, and how many
of their rows the answers hold. Windows of the last 3 minutes are left out: they are open when the stream stops.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from rich.console import Console
from rich.table import Table

import slackwater as sw

SENSORS, BAD = 20, 7
SECONDS, JUMP, OPEN = 900, 180, 180
BATCH = 60
"""Seconds of arrivals in one file, which Spark reads as one micro-batch."""
START = pd.Timestamp("2024-01-01", tz="UTC")
QUERIES: dict[str, Callable[[DataFrame], DataFrame]] = {
    'withWatermark("ts", "10 seconds")': lambda rows: rows.withWatermark("ts", "10 seconds"),
    'with_disorder_control("ts", "1%")': lambda rows: sw.with_disorder_control(rows, "ts", "1%", arrival="received"),
}


def stream(rate: int = 40) -> pd.DataFrame:
    """Return the rows in the order of their arrival; `received` is the clock of the machine that reads them."""
    rng = np.random.default_rng(7)
    rows = SECONDS * rate
    received = np.sort(rng.uniform(0, SECONDS, rows))
    ts = received - np.minimum(1 + rng.pareto(1.5, rows), 170)
    sensor = rng.integers(0, SENSORS, rows)
    ts[(sensor == BAD) & (received > JUMP)] += 86_400
    found = pd.DataFrame({"sensor": sensor, "ts": _moments(ts), "received": _moments(received)})
    return found[found.ts >= START]


def write(rows: pd.DataFrame, folder: Path) -> None:
    """Write one file per batch, each a little younger than the one before: Spark reads the oldest first."""
    numbers = (rows.received - START).dt.total_seconds() // BATCH
    for number, part in rows.groupby(numbers):
        part.to_parquet(folder / f"{int(number):03}.parquet", coerce_timestamps="us")


def answered(spark: SparkSession, folder: Path, name: str) -> pd.DataFrame:
    """Return the windows that a query has answered when it has read every file."""
    rows = spark.readStream.schema("sensor LONG, ts TIMESTAMP, received TIMESTAMP")
    rows = rows.option("maxFilesPerTrigger", 1).option("latestFirst", "false").parquet(str(folder))
    counts = QUERIES[name](rows).groupBy(F.window("ts", "10 seconds"), "sensor").count()
    shown = counts.select(F.unix_seconds("window.end").alias("end"), "sensor", "count")
    query = shown.writeStream.format("memory").queryName("answers").trigger(availableNow=True).start()
    query.awaitTermination()
    return spark.table("answers").toPandas()


def compare(spark: SparkSession, rows: pd.DataFrame) -> list[tuple[str, int, int, int, int]]:
    """Return for each query: its name, windows answered, windows there are, rows in the answers, rows there are."""
    last = START.timestamp() + SECONDS - OPEN
    honest = rows[(rows.sensor != BAD)].assign(end=_ends(rows.ts))
    honest = honest[honest.end <= last]
    windows = len(honest[["end", "sensor"]].drop_duplicates())
    found = []
    with TemporaryDirectory() as folder:
        write(rows, Path(folder))
        for name in QUERIES:
            answers = answered(spark, Path(folder), name)
            answers = answers[(answers.sensor != BAD) & (answers.end <= last)]
            found.append((name, len(answers), windows, int(answers["count"].sum()), len(honest)))
    return found


def _moments(seconds: np.ndarray) -> pd.Series:
    return START + pd.Series(pd.to_timedelta(np.floor(seconds * 1e6), unit="us"))


def _ends(moments: pd.Series) -> pd.Series:
    return (moments - pd.Timestamp(0, tz="UTC")).dt.total_seconds() // 10 * 10 + 10


def main() -> int:
    builder = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", 2)
    spark = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    table = Table("", "windows answered", "rows counted")
    for name, answers, windows, counted, rows in compare(spark, stream()):
        table.add_row(name, f"{answers:,} of {windows:,}", f"{counted / rows:.1%} of {rows:,}")
    Console(width=100).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
