"""A checkpoint with a torn file: the identical answer, or an error that says so; never another answer."""

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.spark.streams import timestamps, write_batch

from slackwater.errors import SlackwaterError
from slackwater.lang import parse_script
from slackwater.rewrite import rewrite
from slackwater.spark.io.streams import read_streams
from slackwater.spark.run.checkpoint import admit
from slackwater.spark.run.pipeline import Manner, start
from slackwater.spark.store import Location

SCRIPT = """
CREATE STREAM Traffic (segment INT, speed DOUBLE, ts TIMESTAMP, received TIMESTAMP)
USING parquet OPTIONS (path '{path}', maxFilesPerTrigger '1')
TIMESTAMP BY ts ARRIVAL BY received;
CREATE SINK shown USING console;
INSERT INTO shown SELECT segment, COUNT(*) AS n, SUM(speed) AS total, window_end
FROM Traffic [RANGE 4 seconds SLIDE 2 seconds DRATIO 5%] GROUP BY segment;
"""
BEFORE, ALL = 3, 6
TEARS = {
    "emptied": lambda file: file.write_bytes(b""),
    "truncated": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "deleted": lambda file: file.unlink(),
}
CASES = [
    ("control", "emptied"),
    ("control", "truncated"),
    ("control", "deleted"),
    ("offsets", "truncated"),
    ("offsets", "deleted"),
    ("commits", "deleted"),
    ("state/0/0", "deleted"),
    ("state/0/0", "truncated"),
    ("slackwater.json", "truncated"),
]
Rows = Counter[tuple[object, ...]]


def write(folder: Path, number: int) -> None:
    rng = np.random.default_rng(number)
    arrived = np.sort(rng.uniform(3 * number, 3 * number + 3, 120))
    times = {"ts": timestamps(arrived - rng.exponential(0.5, 120)), "received": timestamps(arrived)}
    values = {"segment": pa.array(rng.integers(0, 3, 120), pa.int32()), "speed": rng.normal(60, 10, 120).round(1)}
    write_batch(folder, number, values | times)


def resumed(spark: SparkSession, stream: Path, checkpoint: Path) -> dict[int, Rows]:
    """Return the rows of each batch of a run that resumes from the checkpoint and reads all files."""
    script = parse_script(SCRIPT.format(path=stream))
    (pipeline,) = script.pipelines
    ready = replace(pipeline, plan=rewrite(pipeline.plan).plan)
    found: dict[int, Rows] = {}

    def keep(batch: int, rows: object) -> None:
        found[batch] = Counter(map(tuple, rows))  # type: ignore[call-overload]

    frames = read_streams(spark, script)
    running = start(ready, frames, checkpoint, Manner(available_now=True), lambda _: keep)
    list(running.progress())
    return found


def total(*runs: dict[int, Rows]) -> Rows:
    """Return the rows of all batches. The last run of a repeated batch counts."""
    batches: dict[int, Rows] = {}
    for each in runs:
        batches |= each
    return sum(batches.values(), Counter())


@pytest.fixture(scope="module")
def begun(spark, tmp_path_factory):
    """Return a folder with a half-read stream and its checkpoint, the rows so far, and the rows of the whole stream.

    An earlier run was killed while Spark logged its first batch. The file that it left must do no harm.
    """
    folder = tmp_path_factory.mktemp("torn")
    (pipeline,) = parse_script(SCRIPT.format(path=folder / "stream")).pipelines
    admit(rewrite(pipeline.plan).plan, Location(str(folder / "check")))
    (folder / "check" / "offsets").mkdir()
    (folder / "check" / "offsets" / ".0.94023235.tmp").write_text("v1")
    for number in range(BEFORE):
        write(folder / "stream", number)
    first = resumed(spark, folder / "stream", folder / "check")
    for number in range(BEFORE, ALL):
        write(folder / "stream", number)
    shutil.copytree(folder / "check", folder / "spared")
    second = resumed(spark, folder / "stream", folder / "spared")
    assert first and second
    return folder, first, total(first, second)


@pytest.mark.parametrize(("place", "tear"), CASES)
def test_a_torn_file_is_found_out_or_does_not_matter(spark, begun, tmp_path, place, tear):
    folder, first, answer = begun
    check = tmp_path / "check"
    shutil.copytree(folder / "check", check)
    latest = latest_of(check / place)
    TEARS[tear](latest)
    try:
        again = resumed(spark, folder / "stream", check)
    except SlackwaterError as told:
        assert told.code in (("SW-523",) if place == "control" else ("SW-510", "SW-511")), told
        return
    assert total(first, again) == answer


def latest_of(place: Path) -> Path:
    """Return the file that was written last in a folder, ignoring Hadoop's checksum files."""
    if place.is_file():
        return place
    files = [each for each in place.rglob("*") if each.is_file() and not each.name.startswith((".", "_"))]
    return max(files, key=lambda each: (each.stat().st_mtime_ns, each.name))
