"""The fused operator on Spark: against Spark's own windows, and over ten million rows.

A grouped average that Spark can run natively, over the same files, one a batch, in turns, at three overlaps. The
watermark of both is a second behind the newest row: Spark's by `withWatermark`, ours by a buffer of a second's rows
(SLACK), with the gauge that every query of ours has. Then plans in a chain of operators and in one bucket, in turns.
Then CSQL's query 3, which Spark cannot run, over 10 million rows with 1, 1,000 and 100,000 keys: rows a second and
memory, early and late.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from slackwater.lang import bind_query, parse_script
from slackwater.rewrite import rewrite
from slackwater.spark.planner.fused.fuse import fuse
from slackwater.spark.planner.fused.stages import CHAIN
from slackwater.spark.session import local_session

SCHEMA = "k int, x double, ts timestamp"
CATALOG = parse_script(f"CREATE STREAM S ({SCHEMA}) USING parquet OPTIONS (path 'p') TIMESTAMP BY ts").catalog
UTC = pa.timestamp("us", "UTC")
START = 1_700_000_000_000_000
WARM = 3
"""The number of first batches of a query that do not count."""
COMPARED = 10
"""The number of batches of each compared run."""
OVERLAPS = {1: (60, 60), 10: (60, 6), 60: (60, 1)}
SLACK = "SLACK 10000"
"""Holds the rows of a second."""
AVERAGE = "SELECT k, AVG(x) AS mean, window_end FROM S [RANGE {length} seconds SLIDE {slide} seconds SLACK] GROUP BY k"
RATES = "SELECT k, COUNT(*) AS n [FREQUENCY 10 TUPLES PARTITIONED BY k] FROM S [RANGE 10 seconds SLACK] GROUP BY k"

CHAINS = {
    "query 3, then an average over all": "SELECT AVG(n) AS mean FROM (RATES) AS P [RANGE 60 seconds]".replace(
        "RATES", RATES
    ),
    "an average at every row, then one over all": "SELECT AVG(n) AS mean FROM "
    "(SELECT k, AVG(x) AS n FROM S [RANGE 10 seconds SLACK] GROUP BY k) AS P [RANGE 60 seconds]",
}


@dataclass(slots=True)
class Run:
    """The batches of one run: seconds of each, and megabytes of the Python workers after it."""

    seconds: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)


def write_files(folder: Path, rows: int, files: int, keys: int) -> None:
    """10,000 rows a second, up to 50 ms out of order."""
    for number in range(files):
        rng = np.random.default_rng(number)
        time = START + np.arange(number * rows, (number + 1) * rows) * 100 - rng.integers(0, 50_000, rows)
        table = {
            "k": pa.array(rng.integers(0, keys, rows).astype(np.int32)),
            "x": pa.array(rng.random(rows) * 100),
            "ts": pa.array(time, UTC),
        }
        pyarrow.parquet.write_table(pa.table(table), folder / f"{number:03}.parquet")


def stream(session: SparkSession, folder: Path) -> DataFrame:
    return session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder))


def fused(session: SparkSession, folder: Path, text: str) -> DataFrame:
    return fuse(rewrite(bind_query(text.replace("SLACK", SLACK), CATALOG)).plan, {"S": stream(session, folder)})


def native(session: SparkSession, folder: Path, length: int, slide: int) -> DataFrame:
    window = F.window("ts", f"{length} seconds", f"{slide} seconds")
    df = stream(session, folder).withWatermark("ts", "1 second")
    return df.groupBy(window, "k").agg(F.avg("x").alias("mean"))


def run(df: DataFrame) -> Run:
    checkpoint = tempfile.mkdtemp()
    found = Run()
    writer = df.writeStream.format("noop").option("checkpointLocation", checkpoint)
    query = writer.trigger(availableNow=True).start()
    seen = -1
    while query.isActive:
        query.awaitTermination(0.2)  # type: ignore[arg-type]
        last = query.lastProgress
        if last and last["batchId"] > seen:
            seen = last["batchId"]
            found.memory.append(workers())
    query.awaitTermination()
    events = [event for event in query.recentProgress if event["numInputRows"] > 1]
    found.seconds = [event["batchDuration"] / 1000 for event in events[WARM:]]
    shutil.rmtree(checkpoint)
    return found


def workers() -> float:
    """Megabytes of all Python workers."""
    total = 0
    for each in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            total += each.memory_info().rss if "python" in each.name() else 0
    return total / 1e6


def against_native(session: SparkSession, rows: int, turns: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, rows, COMPARED, keys=1_000)
        for overlap, (length, slide) in OVERLAPS.items():
            text = AVERAGE.format(length=length, slide=slide)
            ours, theirs = Run(), Run()
            for _ in range(turns):
                theirs.seconds += run(native(session, folder, length, slide)).seconds
                ours.seconds += run(fused(session, folder, text)).seconds
            one, two = statistics.median(ours.seconds), statistics.median(theirs.seconds)
            print(
                f"overlap {overlap:>3}, {rows:,} rows a batch: fused {one:.2f} s, Spark {two:.2f} s, "
                f"{one / two:.2f} times as long",
                flush=True,
            )


def in_a_chain(session: SparkSession, rows: int, turns: int) -> None:
    """Plans that no columns serve as a whole: as operators in a chain, and in one bucket."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, rows, COMPARED, keys=1_000)
        for what, text in CHAINS.items():
            took: dict[str, list[float]] = {"true": [], "false": []}
            for _ in range(turns):
                for asked in took:
                    session.conf.set(CHAIN, asked)
                    took[asked] += run(fused(session, folder, text)).seconds
            chain, whole = (statistics.median(took[asked]) for asked in ("true", "false"))
            print(f"{what}, {rows:,} rows a batch: in a chain {chain:.2f} s, in one bucket {whole:.2f} s", flush=True)
    session.conf.unset(CHAIN)


def at_length(session: SparkSession, rows: int, files: int, keys: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name), rows, files, keys)
        found = run(fused(session, Path(name), RATES))
    third = max(1, len(found.seconds) // 3)
    early, late = statistics.median(found.seconds[:third]), statistics.median(found.seconds[-third:])
    memory = found.memory[len(found.memory) // 3], found.memory[-1]
    print(
        f"{keys:>8,} keys, {rows * files:,} rows: {rows / early:,.0f} rows/s in the first third, {rows / late:,.0f} "
        f"in the last; workers {memory[0]:.0f} MB after a third, {memory[1]:.0f} MB at the end",
        flush=True,
    )


def main(rows: int = 500_000, files: int = 20, turns: int = 2) -> None:
    session = local_session("windows", master="local[2]", options={"spark.driver.memory": "2g"})
    against_native(session, rows, turns)
    in_a_chain(session, rows, turns)
    for keys in (1, 1_000, 100_000):
        at_length(session, rows, files, keys)
    session.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=500_000, help="a batch")
    parser.add_argument("--files", type=int, default=20, help="batches of the long run")
    parser.add_argument("--turns", type=int, default=2)
    asked = parser.parse_args()
    main(asked.rows, asked.files, asked.turns)
