"""A pipeline that is killed in the middle of a batch and resumed answers as one that was not."""

import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from time import monotonic

import pytest
from pyspark.sql import SparkSession

from slackwater.algebra.catalog import Pipeline
from slackwater.lang import parse_script
from slackwater.rewrite import rewrite
from slackwater.spark.pipeline import Manner, start
from slackwater.spark.progress import Progress
from slackwater.spark.streams import read_streams

SCRIPT = """
CREATE STREAM Traffic (vehID INT, segment INT, speed DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (rate '200', rows '1000', pace 'max', batch '1 second', mean '0.5 seconds', seed '11')
TIMESTAMP BY timestamp ARRIVAL BY received;
CREATE SINK out USING parquet OPTIONS (path '{sink}');
INSERT INTO out SELECT segment, COUNT(*) AS n, SUM(speed) AS total, window_end
FROM Traffic [RANGE 2 seconds SLIDE 1 second DRATIO 5% USING adaptive] GROUP BY segment;
"""
KILLED_AFTER = 2
PATIENCE = 240


def finished(spark: SparkSession, folder: Path) -> Progress:
    """Runs the pipeline to the end of its stream, from wherever its checkpoint stands."""
    script = parse_script(SCRIPT.format(sink=folder / "sink"))
    (pipeline,) = script.pipelines
    ready = Pipeline(pipeline.name, pipeline.sink, rewrite(pipeline.plan).plan)
    running = start(ready, read_streams(spark, script), folder / "check" / "out", Manner(available_now=True))
    return list(running.progress())[-1]


def killed(folder: Path) -> None:
    """Starts the same pipeline in a process of its own; kills JVM and driver at once while a batch is under way."""
    file = folder / "traffic.sql"
    file.write_text(SCRIPT.format(sink=folder / "sink"))
    command = [sys.executable, "-m", "slackwater.cli.main", "run", str(file), "--available-now"]
    process = subprocess.Popen(
        [*command, "--checkpoint", str(folder / "check")], start_new_session=True, stdout=subprocess.DEVNULL
    )
    offsets = folder / "check" / "out" / "offsets" / str(KILLED_AFTER)
    end = monotonic() + PATIENCE
    while not offsets.exists() and process.poll() is None and monotonic() < end:
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def rows(spark: SparkSession, folder: Path) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row) for row in spark.read.parquet(str(folder / "sink")).collect())


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_killed_pipeline_resumes_to_the_identical_answer(spark, tmp_path):
    spared, struck = tmp_path / "spared", tmp_path / "struck"
    struck.mkdir()
    last = finished(spark, spared)
    killed(struck)
    commits = struck / "check" / "out" / "commits"
    assert (commits / str(KILLED_AFTER - 1)).exists()
    assert not (commits / str(KILLED_AFTER)).exists(), "the kill came too late to be in mid-batch"
    resumed = finished(spark, struck)
    assert rows(spark, struck) == rows(spark, spared)
    assert sum(rows(spark, spared).values()) > 10
    assert resumed.controls == last.controls
    assert resumed.batch == last.batch
    account = resumed.controls[0].account
    assert account.rows == 1_000 == account.on_time + account.late + account.untimed
