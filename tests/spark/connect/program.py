"""A program in a session of Spark Connect, which cannot share a process with a classic one: `program FOLDER STEP`.

It begins as docs/connect.md does. The step `killed` starts the queries of KILLED and waits to be killed; the step `all`
resumes them, runs all others of queries.json, and writes what they gave, and what was refused, to answers.json.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from tests.docs.blocks import ROOT, blocks
from tests.spark.conformance import _plain
from tests.spark.streams import read_batches

import slackwater as sw
from slackwater.spark.run.progress import accounts_in_plan
from slackwater.spark.shim import workers

KILLED = ("dataframe", "native", "tuples", "changes")
SCHEMA = "id int, v int, ts timestamp, received timestamp"
REFUSED = {
    "run": lambda _: sw.run(SCRIPT, checkpoint="never"),
    "explain": lambda _: sw.explain(SCRIPT, physical=True),
    "order": lambda stream: sw.sql(
        """SELECT LAST(v) AS v FROM S [RANGE 5 seconds SLIDE 5 seconds]
           UNION ALL SELECT MAX(v) AS v FROM S [RANGE 5 seconds SLIDE 5 seconds]""",
        S=sw.stream(stream, "ts", arrival="received"),
    ),
    "late": lambda stream: sw.late(stream.alias("a")),
    "workers": lambda stream: lacking_package(stream.sparkSession),
    "real time": lambda stream: (
        windows(stream).writeStream.format("console").outputMode("append").trigger(realTime="5 minutes").start()
    ),
}
SCRIPT = """CREATE STREAM Cars (vehID INT, speed DOUBLE, timestamp TIMESTAMP)
USING generate OPTIONS (stream 'vehicles') TIMESTAMP BY timestamp;
SELECT COUNT(*) AS n FROM Cars [RANGE 1 minute SLIDE 1 minute];"""


def windows(stream: DataFrame) -> DataFrame:
    controlled = sw.with_disorder_control(stream, "ts", "9%", arrival="received")
    counts = controlled.groupBy(F.window("ts", "10 seconds")).count()
    return counts.select(F.col("window.end").alias("window_end"), F.col("count").alias("n"))


def lacking_package(spark: SparkSession) -> None:
    """Raise the error about a server whose workers lack a package."""
    (worker,) = workers.ask_workers(spark, ("slackwater", "slackwater.absent"))
    workers._judge("of the server", lambda: (list(worker.version), list(worker.lacking)))


def documented(file: Path, names: dict[str, Any]) -> dict[str, Any]:
    """Run the Python blocks of a document as one program."""
    program = "\n".join(block.text for block in blocks("python") if block.file == file)
    exec(compile(program, str(file), "exec"), names)  # noqa: S102 (our own documents)
    return names


def late_rows(stream: DataFrame) -> DataFrame:
    return sw.late(sw.with_disorder_control(stream, "ts", "9%", arrival="received"))


def queries(stream: DataFrame, folder: Path) -> dict[str, Callable[[], DataFrame]]:
    """Return what makes the DataFrame of each query, by its name."""
    given = sw.stream(stream, "ts", arrival="received")
    texts = json.loads((folder / "queries.json").read_text())
    frames = {"dataframe": partial(windows, stream), "late": partial(late_rows, stream)}
    return frames | {name: partial(sw.sql, text, S=given) for name, text in texts.items()}


def start(df: DataFrame, folder: Path, **trigger: Any) -> Any:
    """Start a query into files, which know the batches that they have."""
    write = df.writeStream.format("parquet").option("path", str(folder / "out"))
    return write.option("checkpointLocation", str(folder / "check")).trigger(**trigger).start()


def told(query: Any, rows: list[Any]) -> dict[str, Any]:
    marks = [each["eventTime"].get("watermark") for each in query.recentProgress]
    accounts = {name: asdict(account) for name, account in accounts_in_plan(query).items()}
    return {"rows": [[_plain(value) for value in row] for row in rows], "marks": marks, "accounts": accounts}


def refusal(tried: Callable[[DataFrame], Any], stream: DataFrame) -> str:
    try:
        tried(stream)
    except (sw.SlackwaterError, PySparkException) as error:
        return str(error)
    return "not refused"


def main(folder: Path, step: str) -> None:
    names = documented(ROOT / "docs" / "connect.md", {})
    spark: SparkSession = names["spark"]
    stream = read_batches(spark, folder / "in", SCHEMA)
    if step == "killed":
        spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")  # as with `availableNow`
        asked = queries(stream, folder)
        started = [start(asked[name](), folder / name, processingTime="0 seconds") for name in KILLED]
        started[0].awaitTermination()
    running = {name: start(make(), folder / name, availableNow=True) for name, make in queries(stream, folder).items()}
    found = {}
    for name, query in running.items():
        query.awaitTermination()
        found[name] = told(query, spark.read.parquet(str(folder / name / "out")).collect())
    refused = {name: refusal(tried, stream) for name, tried in REFUSED.items()}
    readme = sorted(documented(ROOT / "README.md", {"spark": spark}))
    answers = {"found": found, "refused": refused, "readme": readme}
    (folder / "answers.json").write_text(json.dumps(answers))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
