"""Spark Connect: the same answers as the interpreter with the punctuations of the same controller, with kill -9."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, reduce
from itertools import pairwise
from operator import or_
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.docs.blocks import ROOT, blocks
from tests.spark.conformance import expected
from tests.spark.connect.program import KILLED
from tests.spark.planner.fused.test_changes import expected as expected_changes
from tests.spark.streams import write_batch

from slackwater.algebra.catalog import Catalog, StreamDef
from slackwater.algebra.nodes import Policy
from slackwater.algebra.schema import Field
from slackwater.lang import bind_query
from slackwater.rewrite import rewrite
from slackwater.semantics import Feed, FeedBatch, Late, interpret
from slackwater.spark.watermark.punctuate import Account, Controlled
from slackwater.spark.watermark.readings import read_parts
from slackwater.spark.watermark.rows_host import pack_clocks

START = 1_700_000_000_000
ROWS = 900
FIELDS = (Field("id", "int"), Field("v", "int"), Field("ts", "timestamp"), Field("received", "timestamp"))
CATALOG = Catalog((StreamDef("S", FIELDS, event_time="ts", arrival="received"),))
DATAFRAME = "SELECT window_end, COUNT(*) AS n FROM S [RANGE 10 seconds SLIDE 10 seconds DRATIO 9%]"
QUERIES = {
    "native": "SELECT id, COUNT(*) AS n, MAX(v) AS top FROM S [RANGE 10 seconds SLIDE 5 seconds DRATIO 9%] GROUP BY id",
    "joined": """SELECT a.id, a.v, b.v AS w FROM S AS a [RANGE 2 seconds SLIDE 2 seconds DRATIO 9%],
        S AS b [RANGE 4 seconds SLIDE 2 seconds DRATIO 9%] WHERE a.id = b.id AND a.v < b.v""",
    "ordered": "SELECT id, LAST(v) AS v FROM S [RANGE 10 seconds SLIDE 10 seconds DRATIO 9%] GROUP BY id",
    "tuples": "SELECT AVG(v) AS mean FROM S [RANGE 20 TUPLES, FREQUENCY 7 TUPLES, DRATIO 9%]",
    "changes": "SELECT id, COUNT(*) AS n FROM S [RANGE 30 seconds DRATIO 9%] GROUP BY id EMIT CHANGES",
}
PATIENCE = 280
PIPELINE = """
name: connect
storage: file://{folder}/storage
configuration:
  spark.sql.shuffle.partitions: "2"
  spark.sql.streaming.stateStore.providerClass: org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider
libraries:
  - glob:
      include: counts.py
"""


def batches() -> list[pa.Table]:
    """Return rows with heavy-tailed delays in three batches. Times are whole milliseconds, like Spark's watermark."""
    random = np.random.default_rng(23)
    event = np.sort(random.integers(0, 120_000, ROWS)) + START
    received = event + (1_000 * random.pareto(1.5, ROWS)).astype(np.int64)
    order = np.argsort(received, kind="stable")
    columns = {"id": order % 3, "v": random.integers(0, 50, ROWS), "ts": event[order], "received": received[order]}
    types = {"id": pa.int32(), "v": pa.int32(), "ts": pa.timestamp("ms", "UTC"), "received": pa.timestamp("ms", "UTC")}
    whole = pa.table({name: pa.array(values).cast(types[name]) for name, values in columns.items()})
    return [whole.slice(first, last - first) for first, last in pairwise([0, 600, 700, ROWS])]


@cache
def accounts() -> list[Account]:
    """Return the controller's account after each batch."""
    controlled, found = Controlled(Policy(dratio=0.09), in_arrival_order=True, kept=None), []
    for batch in batches():
        clocks = {name: batch[column].cast(pa.int64()) for name, column in (("event", "ts"), ("arrival", "received"))}
        parts = pack_clocks(0, iter(pa.table({"part": [0] * batch.num_rows, **clocks}).combine_chunks().to_batches()))
        found.append(controlled.enter(read_parts([each["body"][0].as_py() for each in parts], in_arrival_order=True)))
    return found


def feed() -> Feed:
    marks = [account.punctuation * 1_000 for account in accounts()]
    micros = {"ts": pa.timestamp("us", "UTC"), "received": pa.timestamp("us", "UTC")}
    whole = [
        pa.table(
            {
                name: each[name].cast(micros[name]).cast(pa.int64()) if name in micros else each[name]
                for name in each.column_names
            }
        )
        for each in batches()
    ]
    return Feed(tuple(FeedBatch(tuple(each.to_pylist()), mark) for each, mark in zip(whole, marks, strict=True)))


def begin(folder: Path, step: str) -> subprocess.Popen[bytes]:
    """Start the program with a server of its own, on a port that is free (SPARK_TESTING)."""
    settings = {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "SPARK_TESTING": "1"}
    with (folder / f"{step}.txt").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.spark.connect.program", str(folder), step],
            cwd=ROOT, env={**os.environ, **settings}, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip


def strike(process: subprocess.Popen[bytes]) -> None:
    """Kill the program and its server."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def deliver(folder: Path, *numbers: int) -> None:
    """Write some of the batches as files."""
    for number in numbers:
        batch = batches()[number]
        write_batch(folder / "in", number, dict(zip(batch.column_names, batch.columns, strict=True)))


def await_batch(process: subprocess.Popen[bytes], folder: Path, log: str, number: int) -> None:
    """Wait until all queries that are to be killed have an entry for a batch in a log of their checkpoints."""
    end = monotonic() + PATIENCE
    wanted = [folder / name / "check" / log / str(number) for name in KILLED]
    while not all(each.exists() for each in wanted) and process.poll() is None and monotonic() < end:
        sleep(0.05)
    assert process.poll() is None and monotonic() < end, (folder / "killed.txt").read_text()[-3000:]


def answers_after_a_kill(folder: Path) -> dict[str, Any]:
    """Return the answers of a program that was killed while its queries were in their second batch, and began again."""
    deliver(folder, 0)
    (folder / "queries.json").write_text(json.dumps(QUERIES))
    first = begin(folder, "killed")
    try:
        await_batch(first, folder, "commits", 0)
        deliver(folder, 1)
        await_batch(first, folder, "offsets", 1)
    finally:
        strike(first)
    deliver(folder, 2)
    second = begin(folder, "all")
    try:
        second.wait(PATIENCE)
    finally:
        if second.poll() is None:
            strike(second)
    assert second.returncode == 0, (folder / "all.txt").read_text()[-3000:]
    found: dict[str, Any] = json.loads((folder / "answers.json").read_text())
    return found


def lost_rows(late: Sequence[Late]) -> int:
    """Return how many rows missed a window of any reader of the stream."""
    by_reader: dict[str, Counter[tuple[Any, ...]]] = {}
    for each in late:
        if each.lost:
            by_reader.setdefault(each.alias, Counter())[tuple(each.row.values())] += 1
    return reduce(or_, by_reader.values(), Counter()).total()


def rows_out_of_place() -> int:
    """Return how many rows are behind the punctuation that acted in the batch before theirs."""
    passed = [0, 0, *(account.punctuation for account in accounts())]
    times = [batch["ts"].cast(pa.int64()).to_numpy() for batch in batches()]
    return sum(int(np.count_nonzero(each < before)) for each, before in zip(times, passed, strict=False))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_session_answers_as_the_interpreter_does_though_it_was_killed(tmp_path: Path):
    """One program for all: a server takes most of a minute to start."""
    answers = answers_after_a_kill(tmp_path)
    for name, text in {"dataframe": DATAFRAME, "late": DATAFRAME, **QUERIES}.items():
        plan = rewrite(bind_query(text, CATALOG)).plan
        late = interpret(plan, {"S": feed()}).late
        if name == "late":
            wanted = Counter((*each.row.values(), each.late_by, each.punctuation) for each in late)
        else:
            wanted = (expected_changes if name == "changes" else expected)(plan, {"S": feed()})
        assert len(wanted) > 3, name
        assert Counter(map(tuple, answers["found"][name]["rows"])) == wanted, name
        (account,) = answers["found"][name]["accounts"].values()
        lost = rows_out_of_place() if name in ("dataframe", "late") else lost_rows(late)
        assert Account(**account) == replace(accounts()[-1], lost=lost), name
        assert account["late"] > account["lost"] > 0, name
    marks = [f"{np.datetime64(account.punctuation, 'ms')}Z" for account in accounts()]
    assert answers["found"]["ordered"]["marks"][1:] == marks
    assert {"controlled", "counts", "result"} <= set(answers["readme"])
    _check_refusals(answers["refused"])


def _check_refusals(refused: dict[str, str]) -> None:
    """Check that features are refused that need the driver, the order of rows, or the package on a worker."""
    assert refused["run"].startswith("SW-505") and "Spark Connect" in refused["run"]
    assert refused["explain"].startswith("SW-505")
    assert refused["order"].startswith("SW-301") and "position of a row" in refused["order"]
    assert refused["late"].startswith("SW-498")
    assert refused["workers"].startswith("SW-502") and "which lacks slackwater.absent" in refused["workers"]
    assert "real-time" in refused["real time"].lower()


@pytest.mark.slow
def test_a_declarative_pipeline_reads_a_controlled_stream(tmp_path: Path):
    """The example of docs/connect.md under `spark-pipelines run`."""
    deliver(tmp_path, 0, 1, 2)
    (program,) = [block.text for block in blocks("py") if block.file.name == "connect.md"]
    limited = program.replace(".readStream", '.readStream.option("maxFilesPerTrigger", 1)')
    (tmp_path / "counts.py").write_text(limited.replace("/data/in", str(tmp_path / "in")))
    (tmp_path / "spark-pipeline.yml").write_text(PIPELINE.format(folder=tmp_path))
    command = [str(Path(sys.executable).with_name("spark-pipelines")), "run"]
    pythons = dict.fromkeys(("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"), sys.executable)
    environment = {**os.environ, **pythons, "SPARK_TESTING": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    found = pa.concat_tables(map(pq.read_table, sorted((tmp_path / "spark-warehouse" / "counts").glob("*.parquet"))))
    ends = found["window"].combine_chunks().field("end").cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    wanted = expected(rewrite(bind_query(DATAFRAME, CATALOG)).plan, {"S": feed()})
    assert Counter(zip(ends.to_pylist(), found["count"].to_pylist(), strict=True)) == wanted
