"""Kinds of plan over one small stream, into Parquet and a table; how to run them here, or in a process that can die.

The stream is in files, one a batch: to start a source of our own takes a process for each pipeline.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from io import StringIO
from pathlib import Path
from time import monotonic

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import SparkSession
from rich.console import Console
from tests.postgres import Database

from slackwater.app.live.watch import Watch
from slackwater.app.run import Conditions, run
from slackwater.lang import parse_script

ROWS, FILES = 600, 3
STREAM = """
CREATE STREAM Traffic (vehID INT, segment INT, speed DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING parquet OPTIONS (path '{path}', maxFilesPerTrigger '1')
TIMESTAMP BY timestamp ARRIVAL BY received;
"""
VIEW = """
CREATE VIEW Halves AS SELECT segment, COUNT(*) AS n, SUM(speed) AS total, window_end AS ended
FROM Traffic [RANGE 500 milliseconds SLIDE 500 milliseconds DRATIO 5%] GROUP BY segment;
"""
"""Kept by a query of its own where two pipelines read it."""
QUERIES = {
    "tumbling": "SELECT segment, n, total, ended FROM Halves",
    "overlapping": """SELECT segment, MAX(speed) AS top, window_end
        FROM Traffic [RANGE 3 seconds SLIDE 1 second DRATIO 5%] GROUP BY segment HAVING COUNT(*) > 1""",
    "joined": """SELECT a.segment, a.n, b.top, a.ended FROM
        (SELECT segment, COUNT(*) AS n, window_end AS ended
         FROM Traffic [RANGE 1 second SLIDE 1 second DRATIO 5%] GROUP BY segment) AS a,
        (SELECT segment, MAX(speed) AS top, window_end AS ended
         FROM Traffic [RANGE 2 seconds SLIDE 1 second DRATIO 5%] GROUP BY segment) AS b
        WHERE a.segment = b.segment""",
    "nested": "SELECT MAX(n) AS most, window_end FROM Halves [RANGE 2 seconds SLIDE 2 seconds]",
    "mixed": """SELECT segment, SUM(speed) AS total, window_end
        FROM Traffic [RANGE 10 TUPLES, FREQUENCY 500 milliseconds PARTITIONED BY segment, DRATIO 5%]
        GROUP BY segment""",
    "nested_rows": """SELECT segment, AVG(n) AS mean, row_time FROM
        (SELECT segment, COUNT(*) AS n [FREQUENCY 3 TUPLES PARTITIONED BY segment]
         FROM Traffic [RANGE 1 second, DRATIO 5%] GROUP BY segment) AS P
        [RANGE 2 seconds, FREQUENCY 1 TUPLE] GROUP BY segment""",
}
TABLE = """
CREATE SINK kept USING postgres OPTIONS ({options});
INSERT INTO kept SELECT segment, COUNT(*) AS n, MAX(speed) AS top FROM Traffic [SLACK 5000] GROUP BY segment
EMIT CHANGES;
"""
"""A changelog that keeps a table; nothing is late, and so every row is in it at the end."""
PATIENCE = 240
MOMENT = pa.timestamp("us", "UTC")


def script(folder: Path, names: Sequence[str] = tuple(QUERIES)) -> str:
    """Return the file to run; a sink and a pipeline for each name."""
    sinks = [f"CREATE SINK {name} USING parquet OPTIONS (path '{folder / 'out' / name}');" for name in names]
    pipelines = [f"INSERT INTO {name} {QUERIES[name]};" for name in names]
    return "\n".join([STREAM.format(path=folder / "in"), VIEW, *sinks, *pipelines])


def arrived(folder: Path) -> None:
    """Write files with a second of rows each, half a second late on average. Spark reads the oldest file first."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(11)
    received = 1_700_000_000_000_000 + np.sort(rng.integers(0, FILES * 1_000_000, ROWS))
    columns = {
        "vehID": rng.integers(0, 50, ROWS).astype(np.int32),
        "segment": rng.integers(0, 5, ROWS).astype(np.int32),
        "speed": rng.normal(60, 10, ROWS),
        "timestamp": pa.array(received - rng.exponential(500_000, ROWS).astype(np.int64), MOMENT),
        "received": pa.array(received, MOMENT),
    }
    table = pa.table(columns)
    for number in range(FILES):
        file = folder / f"{number}.parquet"
        parquet.write_table(table.slice(number * ROWS // FILES, ROWS // FILES), file)
        os.utime(file, (number, number))


def finish(folder: Path, text: str, *, flush: bool = True) -> str:
    """Resume a script from its checkpoint, run it to the end in this process, and return its console output."""
    console = Console(file=StringIO(), width=200, highlight=False)
    conditions = Conditions(folder / "check", "local[2]", available_now=True, flush=flush)
    run(parse_script(text), conditions, Watch(console))
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def answers(spark: SparkSession, folder: Path, names: Sequence[str] = tuple(QUERIES)) -> Mapping[str, Counter[object]]:
    """Return the rows of every sink, read through its log."""
    return {name: Counter(map(tuple, spark.read.parquet(str(folder / "out" / name)).collect())) for name in names}


def logged(folder: Path) -> Counter[object]:
    """Return the rows in the log of the view, without its punctuations."""
    rows = parquet.read_table(folder / "check.views" / "halves" / "log").to_pylist()
    return Counter(tuple(row.values()) for row in rows if row["segment"] is not None)


def kept(database: Database) -> list[tuple[object, ...]]:
    """Return the rows of the table."""
    return sorted(database.rows("SELECT segment, n, top FROM kept"))


def spawn(folder: Path, text: str, *options: str) -> subprocess.Popen[bytes]:
    """Start a run in a process group of its own, which includes the JVM and the workers."""
    folder.mkdir(exist_ok=True)
    file = folder / "run.sql"
    file.write_text(text)
    command = [sys.executable, "-m", "slackwater.cli.main", "run", str(file), "--available-now", "--quiet"]
    place = ["--checkpoint", (folder / "check").as_uri()]
    with (folder / "shown.txt").open("wb") as shown:
        return subprocess.Popen([*command, *place, *options], start_new_session=True, stdout=shown, stderr=shown)


def wait_until(reached: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait until a condition is true or the process has ended; check every millisecond."""
    end = monotonic() + PATIENCE
    while not reached() and process.poll() is None and monotonic() < end:
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.001)


def strike(process: subprocess.Popen[bytes]) -> None:
    """Kill the whole process group with SIGKILL, so that no shutdown hook runs."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
