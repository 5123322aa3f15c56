"""What a running pipeline asks Spark for: no more progress than there is news, and another start if one was slow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

from slackwater.algebra.catalog import Pipeline
from slackwater.errors import RunError
from slackwater.lang import bind_query
from slackwater.spark.run.pipeline import Running, closed_before
from slackwater.spark.run.ticks import Tick, flushing, give
from slackwater.spark.store import Location
from slackwater.spark.watermark.punctuate import Account
from slackwater.testing.catalog import CATALOG

PLAN = bind_query("SELECT COUNT(*) AS n FROM Readings [RANGE 2 seconds SLIDE 2 seconds]", CATALOG)


class Query:
    """A query in the place of Spark's: its progress, and how often all of it was asked for."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.asked = 0
        self.started = 0
        self.failures: list[str] = []

    def start(self) -> Query:
        self.started += 1
        return self

    @property
    def isActive(self) -> bool:  # noqa: N802
        return bool(self.failures)

    def awaitTermination(self, _: float) -> None:  # noqa: N802
        if self.failures:
            raise StreamingQueryException(self.failures.pop(0))

    def ends(self, batch: int, *, idle: bool = False) -> None:
        durations = {"triggerExecution": 5} if idle else {"triggerExecution": 5, "addBatch": 3}
        told = {
            "runId": "r",
            "batchId": batch,
            "timestamp": f"2026-01-01T00:00:{len(self.events):02d}Z",
            "durationMs": durations,
        }
        self.events.append({**told, "stateOperators": [], "observedMetrics": {}})

    @property
    def lastProgress(self) -> dict[str, Any] | None:  # noqa: N802
        return self.events[-1] if self.events else None

    @property
    def recentProgress(self) -> list[dict[str, Any]]:  # noqa: N802
        self.asked += 1
        return self.events


@pytest.fixture
def query() -> Query:
    return Query()


@pytest.fixture
def running(query: Query, tmp_path: Path) -> Running:
    return Running(Pipeline("answers", None, PLAN), Location(str(tmp_path)), query.start)  # type: ignore[arg-type]


def batches(running: Running) -> list[int]:
    return [record.batch for record in running.news()]


def test_a_poll_without_news_fetches_no_progress(running, query):
    assert batches(running) == []
    query.ends(0)
    assert [batches(running) for _ in range(5)] == [[0], [], [], [], []]
    query.ends(1)
    assert batches(running) == [1]
    assert query.asked == 0


def test_batches_that_ended_between_two_polls_are_all_told(running, query):
    query.ends(0)
    assert batches(running) == [0]
    for batch in (1, 2, 3):
        query.ends(batch)
    assert batches(running) == [1, 2, 3]
    query.ends(4)
    query.ends(4, idle=True)
    assert batches(running) == [4]
    query.ends(5, idle=True)
    assert batches(running) == []
    query.ends(5)
    assert batches(running) == [5]


def test_a_pipeline_that_goes_on_begins_with_the_batch_that_its_checkpoint_has(running, query):
    query.ends(57)
    assert batches(running) == [57]


SLOW = "[STREAM_FAILED] Query [id = 1] terminated with exception: Python worker failed to connect back."


def test_a_query_whose_python_process_was_slow_to_start_is_started_again(running, query):
    query.failures = [SLOW, SLOW]
    query.ends(0)
    running.wait(0)
    assert [record.batch for record in running.progress()] == [0]
    assert query.started == 3
    assert running.notes[1].endswith("starting again (2 of 3)")


def test_a_query_is_started_again_only_so_often(running, query):
    query.failures = [SLOW] * 9
    for _ in range(3):
        running.wait(0)
    with pytest.raises(RunError, match=r"SW-519.*10 seconds") as caught:
        running.wait(0)
    assert "run fewer pipelines at once" in caught.value.problem.hint
    assert query.started == 4


def test_a_flush_has_the_starts_that_are_left(running, query, tmp_path):
    (tmp_path / "ticks").mkdir()
    query.failures = [SLOW]
    running.wait(0)
    running.flush()
    query.failures = [SLOW]
    running.wait(0)
    assert (query.started, running.restarts) == (4, 2)


@pytest.mark.parametrize(
    ("ticks", "account", "closed"),
    [
        ([], Account(punctuation=900, newest=1_000), {}),
        ([Tick("Readings", silence=5_000)], Account(punctuation=4_000, newest=1_000), {}),
        (flushing(PLAN, 0), Account(punctuation=5_001, newest=1_000), {"Readings": 5_001}),
        (
            [*flushing(PLAN, 0), Tick("Readings", silence=5_000)],
            Account(punctuation=5_001, newest=1_000),
            {"Readings": 5_001},
        ),
        (flushing(PLAN, 0), Account(punctuation=5_001, newest=9_000), {}),
    ],
    ids=["no tick", "silence", "a flush", "silence after a flush", "rows have passed it"],
)
def test_a_flush_of_the_run_before_is_known_until_a_row_passes_it(tmp_path, ticks, account, closed):
    (tmp_path / "ticks").mkdir()
    give([[tick] for tick in ticks], Location(str(tmp_path)))
    assert closed_before(Location(str(tmp_path)), {"Readings-0badcafe": account}) == closed
