"""Checkpoints, views and side outputs in a store of another scheme, whose rename is not atomic and listing is slow."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.spark.stores import ebb

from slackwater.app.live.watch import Watch
from slackwater.app.run import Conditions, run
from slackwater.errors import RunError
from slackwater.lang import parse_script
from slackwater.spark.run.views.claims import claim
from slackwater.spark.store import LocalFiles, Location, locate
from slackwater.spark.watermark.state_files import StateFiles

SCRIPT = """
CREATE STREAM Readings (id INT, v INT, ts TIMESTAMP, received TIMESTAMP)
USING json OPTIONS (path '{folder}/in', maxFilesPerTrigger '1') TIMESTAMP BY ts ARRIVAL BY received;
CREATE VIEW Sums AS SELECT id, SUM(v) AS total FROM Readings [RANGE 4 seconds SLIDE 4 seconds SLACK 20] GROUP BY id;
CREATE SINK first USING parquet OPTIONS (path '{sinks}/first');
CREATE SINK second USING parquet OPTIONS (path '{sinks}/second');
CREATE SINK third USING parquet OPTIONS (path '{sinks}/third');
CREATE SINK fourth USING parquet OPTIONS (path '{sinks}/fourth');
CREATE SINK later USING parquet OPTIONS (path '{sinks}/later');
INSERT INTO first SELECT SUM(total) AS total, window_end FROM Sums [RANGE 8 seconds SLIDE 8 seconds];
INSERT INTO second SELECT id, total FROM Sums;
INSERT INTO third SELECT id, COUNT(*) AS n FROM Readings [RANGE 3 TUPLES SLACK 20] GROUP BY id;
INSERT INTO fourth SELECT id, COUNT(*) AS n FROM Readings [RANGE 4 seconds SLACK 20] GROUP BY id EMIT CHANGES;
INSERT INTO later SELECT id, v, late_by FROM third$late;
"""
SINKS = ("first", "second", "third", "fourth", "later")


@pytest.fixture(scope="module")
def store(spark) -> Iterator[Any]:
    yield ebb.register(spark)
    spark.conf.unset("fs.ebb.impl")


def rows(batch: int) -> str:
    """Return the text of a file of rows, some of them very late."""
    found = []
    for place in range(60):
        second = 60 * batch + place - (45 if place % 17 == 3 and batch else 0)
        at = f"2026-01-01T00:{second // 60:02d}:{second % 60:02d}Z"
        row = {"id": place % 5, "v": place, "ts": at, "received": f"2026-01-01T01:{batch:02d}:{place:02d}Z"}
        found.append(json.dumps(row))
    return "\n".join(found)


def answers(spark, folder: Path, place: str) -> dict[str, list[str]]:
    """Run the script twice, with more files the second time, and return the rows of every sink."""
    (folder / "in").mkdir(parents=True)
    text = SCRIPT.format(folder=folder, sinks=f"{place}/out")
    for batches in ((0, 1), (2, 3)):
        for batch in batches:
            (folder / "in" / f"{batch}.json").write_text(rows(batch))
            os.utime(folder / "in" / f"{batch}.json", (batch, batch))  # Spark takes the oldest file first
        conditions = Conditions(f"{place}/check", "local[2]", available_now=True, flush=batches[-1] == 3)
        run(parse_script(text), conditions, Watch(Console(file=StringIO())))
    found = {name: spark.read.parquet(f"{place}/out/{name}").drop("batch").collect() for name in SINKS}
    return {name: sorted(map(str, rows)) for name, rows in found.items()}


@pytest.mark.slow
def test_a_run_in_a_store_answers_as_one_on_a_path_and_goes_on_from_its_checkpoint(spark, store, tmp_path: Path):
    here = answers(spark, tmp_path / "here", str(tmp_path / "here"))
    renames = store.getField("renames").get(None)
    there = answers(spark, tmp_path / "there", ebb.address(tmp_path / "there"))
    assert there == here
    assert all(here.values()), {name: len(rows) for name, rows in here.items()}
    assert store.getField("renames").get(None) > renames + 50
    assert (tmp_path / "there" / "check.views" / "sums" / "log").is_dir()
    assert not Path("ebb:").exists(), "something took the address for a path"
    with pytest.raises(RunError, match="SW-511"):
        changed = SCRIPT.replace("COUNT(*) AS n FROM Readings [RANGE 3", "SUM(v) AS n FROM Readings [RANGE 3")
        text = changed.format(folder=tmp_path / "there", sinks=ebb.address(tmp_path / "there" / "out"))
        run(parse_script(text), Conditions(ebb.address(tmp_path / "there" / "check")), Watch(Console(file=StringIO())))


def test_files_of_a_store_are_read_listed_and_written_whole(spark, store, tmp_path: Path):
    place = locate(ebb.address(tmp_path / "deep" / "er"), spark)
    assert not isinstance(place.files, LocalFiles)
    assert (place.exists(), place.read(), place.list(), place.blocking_file()) == (False, None, [], None)
    large = bytes(range(256)) * 1_000
    for content in (b"first", b"again", large):
        (place / "7").write(content)
        assert (place / "7").read() == content == (tmp_path / "deep" / "er" / "7").read_bytes()
    (place / "12.json").write("{}")
    assert [str(each) for each in place.list(r"\d+")] == [ebb.address(tmp_path / "deep" / "er" / "7")]
    assert [each.name for each in place.list()] == ["12.json", "7"], "drafts are left"
    assert (place / "7" / "below").blocking_file() == place / "7"
    (place / "7").remove()
    (place / "7").remove()
    assert not (place / "7").exists()


def test_a_path_without_a_scheme_is_in_the_default_file_system(spark, store, tmp_path: Path):
    assert isinstance(locate(tmp_path, spark).files, LocalFiles)
    spark.conf.set("fs.defaultFS", "ebb://pool/")
    try:
        assert not isinstance(locate(tmp_path, spark).files, LocalFiles)
        assert locate(f"file:{tmp_path}", spark) == Location(str(tmp_path))
    finally:
        spark.conf.unset("fs.defaultFS")


def test_a_state_whose_rename_was_cut_short_is_that_of_a_batch_that_is_repeated(spark, store, tmp_path: Path):
    """Killed within a rename: Spark has not committed the batch, which finds the state before it whole."""
    kept = StateFiles(locate(ebb.address(tmp_path), spark), "Readings-0badcafe")
    kept.write(0, b"after the first batch")
    torn = kept.after(1)
    kept.write(1, b"after the second batch")
    (tmp_path / "control" / "Readings-0badcafe" / "1").write_bytes((torn.read() or b"")[:9])
    assert kept.read(1) == b"after the first batch"
    with pytest.raises(RunError, match="SW-523: the state after batch 1 is torn"):
        kept.read(2)
    kept.write(1, b"after the second batch")
    assert kept.read(2) == b"after the second batch"


def test_of_two_runs_one_keeps_a_view_and_another_follows_one_that_was_killed(spark, store, tmp_path: Path):
    lock = locate(ebb.address(tmp_path / "lock"), spark)
    first = claim(lock, beat=0.1)
    assert first is not None
    assert claim(lock, beat=0.2) is None
    first.close()
    assert not lock.exists()
    second = claim(lock, beat=0.1)
    assert second is not None
    second.over.set()  # type: ignore[attr-defined]
    time.sleep(0.3)
    assert lock.exists(), "as a killed run leaves it"
    third = claim(lock, beat=0.1)
    assert third is not None
    third.close()
