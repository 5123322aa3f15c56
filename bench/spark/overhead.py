"""What disorder control costs on Spark, by host: the same windowed query under it and under a plain `withWatermark`.

Both read the same files, one a batch, in turns; the plain query has the fixed delay that makes the same share of rows
late. Times are the medians of warm batches. The processor time, per batch and of all processes, is what a busy machine
disturbs less.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from slackwater.spark.run.progress import accounts
from slackwater.spark.session import local_session
from slackwater.spark.watermark.control import with_disorder_control
from slackwater.spark.watermark.hosts import GAUGE, HOST, ROWS

SCHEMA = "id long, name string, x double, speed double, segment long, ts timestamp, received timestamp"
DRATIO = 0.01
WARM = 2
"""So many first batches of a query do not count."""


@dataclass(slots=True)
class Measured:
    """Batches of one way of running a query."""

    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    @property
    def typical(self) -> float:
        return statistics.median(self.seconds)


def write_files(folder: Path, rows: int, files: int, seed: int = 1) -> list[np.ndarray]:
    """Write the stream as Parquet and CSV, 20,000 rows a second with exponential delays; return the event times."""
    rng = np.random.default_rng(seed)
    arrival = 1_700_000_000_000_000 + np.cumsum(rng.exponential(50, rows * files)).astype(np.int64)
    event = arrival - rng.exponential(2e6, rows * files).astype(np.int64)
    for number in range(files):
        here = slice(number * rows, (number + 1) * rows)
        values = {"id": rng.integers(0, 1000, rows), "name": ["vehicle"] * rows, "x": rng.normal(size=rows)}
        values |= {"speed": rng.normal(60, 10, rows), "segment": rng.integers(0, 100, rows)}
        clocks = {
            "ts": pa.array(event[here], pa.timestamp("us")),
            "received": pa.array(arrival[here], pa.timestamp("us")),
        }
        for form in ("parquet", "csv"):
            (folder / form).mkdir(parents=True, exist_ok=True)
        zoned = {name: column.cast(pa.timestamp("us", "UTC")) for name, column in clocks.items()}
        pyarrow.parquet.write_table(pa.table(values | zoned), folder / "parquet" / f"{number:03}.parquet")
        table = pa.table(values | clocks)
        without_header = pyarrow.csv.WriteOptions(include_header=False)
        pyarrow.csv.write_csv(table, folder / "csv" / f"{number:03}.csv", without_header)
    return np.split(event, files)


def fixed_delay(batches: list[np.ndarray], share: float) -> str:
    """Return the delay at which a plain watermark makes this share of rows late."""
    newest = np.maximum.accumulate([batch.max() for batch in batches])
    behind = np.concatenate([before - batch for before, batch in zip(newest[:-1], batches[1:], strict=True)])
    rows = sum(map(len, batches))
    kept = max(0.0, 1 - share * rows / len(behind))
    return f"{max(1, int(np.quantile(behind, kept) / 1000))} milliseconds"


def windowed(df: DataFrame) -> DataFrame:
    measures = (F.max("speed"), F.avg("speed"), F.count("*"))
    return df.groupBy(F.window("ts", "10 seconds"), "segment").agg(*measures)


def run(stream: DataFrame, measured: Measured) -> float:
    """Run over all files once; return the share of late rows that the controller counted, 0 without one."""
    checkpoint = tempfile.mkdtemp()
    before = processor_seconds()
    write = windowed(stream).writeStream.format("noop").option("checkpointLocation", checkpoint)
    query = write.trigger(availableNow=True).start()
    query.awaitTermination()
    events = [event for event in query.recentProgress if _read_files(event)]
    measured.seconds += [event["batchDuration"] / 1000 for event in events[WARM:]]
    measured.processor.append((processor_seconds() - before) / len(events))
    shutil.rmtree(checkpoint)
    return sum(each.late / each.rows for each in accounts(query).values())


def _read_files(event: Mapping[str, Any]) -> bool:
    """Return whether a batch read a file. Spark does not count the rows of a plan that reads a source twice."""
    return any(each["startOffset"] != each["endOffset"] for each in event["sources"])


def processor_seconds() -> float:
    total = 0.0
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        times = process.cpu_times()
        total += times.user + times.system
    return total


def compare(
    session: SparkSession,
    form: str,
    folder: Path,
    batches: list[np.ndarray],
    repeats: int,
    hosts: Sequence[str] = (GAUGE, ROWS),
) -> None:
    def stream() -> DataFrame:
        reader = session.readStream.format(form).schema(SCHEMA).option("maxFilesPerTrigger", 1)
        return reader.load(str(folder / form))

    plain, controlled, share = Measured(), {host: Measured() for host in hosts}, 0.0
    for turn in range(repeats + 1):
        if turn == 1:  # what came before was for warming up
            plain, controlled = Measured(), {host: Measured() for host in hosts}
        for host, measured in controlled.items():
            session.conf.set(HOST, host)
            share = run(with_disorder_control(stream(), "ts", DRATIO, arrival="received"), measured)
        run(stream().withWatermark("ts", fixed_delay(batches, share)), plain)
    told = [
        f"{host} {each.typical:.2f} s: {each.typical / plain.typical:.2f} times,"
        f" processor {min(each.processor) / min(plain.processor):.2f} times"
        for host, each in controlled.items()
    ]
    about = f"{form:8} {len(batches[0]):>9,} rows a batch, {share:.2%} late: plain {plain.typical:.2f} s"
    print("; ".join([about, *told]), flush=True)


def main(
    sizes: tuple[int, ...] = (50_000, 200_000, 1_000_000),
    repeats: int = 3,
    forms: Sequence[str] = ("parquet", "csv"),
) -> None:
    options = {"spark.driver.memory": "3g"}
    session = local_session("overhead", master="local[2]", options=options)
    for rows in sizes:
        with tempfile.TemporaryDirectory() as name:
            batches = write_files(Path(name), rows, files=6 if rows > 500_000 else 12)
            for form in forms:
                compare(session, form, Path(name), batches, repeats)
    session.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sizes", nargs="*", type=int, default=[50_000, 200_000, 1_000_000], help="rows a batch")
    parser.add_argument("--repeats", type=int, default=3, help="runs that count, after one that does not")
    parser.add_argument("--format", choices=["parquet", "csv"], help="only files of this format")
    asked = parser.parse_args()
    main(tuple(asked.sizes), asked.repeats, [asked.format] if asked.format else ["parquet", "csv"])
