"""Queries over the log of a view answer what the interpreter answers over the view itself, late rows and all."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.spark.conformance import _plain, _written, expected, with_clock

from slackwater.algebra.catalog import Pipeline, Script, SinkDef
from slackwater.algebra.nodes import Plan
from slackwater.app.views import share_views
from slackwater.lang import parse_script
from slackwater.semantics import Feed, FeedBatch, interpret
from slackwater.spark.run.pipeline import Manner, start
from slackwater.spark.run.views.plans import log_name
from slackwater.spark.run.views.view_log import LogSink, read_log
from slackwater.spark.store import Location
from slackwater.testing.catalog import CATALOG, READINGS
from slackwater.testing.choices import Seeded
from slackwater.testing.streams import make_feed

NATIVE = """
    CREATE VIEW Sums AS SELECT id, COUNT(*) AS n, MAX(v) AS most
        FROM Readings [RANGE 6 seconds SLIDE 2 seconds] GROUP BY id;
    CREATE SINK wider USING console;
    CREATE SINK itself USING console;
    CREATE SINK fewer USING console;
    INSERT INTO wider SELECT id, SUM(n) AS total, MAX(most) AS top, window_end
        FROM Sums [RANGE 8 seconds SLIDE 4 seconds] WHERE n > 0 GROUP BY id;
    INSERT INTO itself SELECT DISTINCT a.n, row_time
        FROM Sums AS a, Sums AS b WHERE a.n = b.n AND a.id < b.id EMIT FINAL WITH SYNC;
    INSERT INTO fewer SELECT id, MAX(v) + 1 AS more FROM Readings [RANGE 6 seconds SLIDE 6 seconds] GROUP BY id;
"""
FUSED = """
    CREATE VIEW Rates AS SELECT id, AVG(v) AS mean, COUNT(*) AS n [FREQUENCY 2 TUPLES PARTITIONED BY id]
        FROM Readings [RANGE 5 seconds] GROUP BY id;
    CREATE SINK fewer USING console;
    CREATE SINK slow USING console;
    INSERT INTO fewer SELECT id, COUNT(*) AS beats [FREQUENCY 4 TUPLES PARTITIONED BY id]
        FROM Readings [RANGE 5 seconds] GROUP BY id;
    INSERT INTO slow SELECT id, COUNT(*) AS rows FROM Rates [RANGE 6 seconds SLIDE 3 seconds] GROUP BY id;
"""


class Runs:
    """The queries of a script over a feed of which part is there, each from its own checkpoint."""

    def __init__(self, spark: SparkSession, script: Script, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        self.sharing, _ = share_views(script)
        (self.kept,) = self.sharing.kept
        self.name = log_name(self.kept.view.name)
        self.log = read_log(spark, Location(str(folder / "log")), self.kept.plan)

    def keep(self, feed: Feed) -> None:
        """Run the view's query over the feed."""
        rows = with_clock(*_written(self.spark, READINGS, feed, len(feed.batches), self.folder / "Readings"))
        pipeline = Pipeline(self.kept.name, None, self.kept.run)
        self._run(pipeline, {"Readings": rows}, LogSink(Location(str(self.folder / "log")), self.kept.plan))

    def read(self, name: str) -> Counter[tuple[object, ...]]:
        """Run a pipeline over the log, and return all rows of its sink."""
        (plan,) = [each.plan for each in self.sharing.pipelines if each.name == name]
        out = str(self.folder / f"{name}.out")
        self._run(Pipeline(name, SinkDef(name, "parquet", {"path": out}), plan), {self.name: self.log})
        return Counter(tuple(map(_plain, row)) for row in self.spark.read.parquet(out).collect())

    def _run(self, pipeline: Pipeline, frames: Mapping[str, DataFrame], log: LogSink | None = None) -> None:
        running = start(pipeline, frames, self.folder / pipeline.name, Manner(available_now=True), log=log)
        for _ in running.progress():
            pass


def cut_in_two(view: Plan, plans: Iterable[Plan]) -> tuple[Feed, Feed]:
    """Return the first two batches of a feed, and the whole feed, which has an empty batch after them.

    In the empty batch the last punctuation of the first run acts. Every plan has answers over the feed; the view
    yields rows before and after the cut, and some rows are too late for it.
    """
    for seed in count():
        made = make_feed(Seeded(seed), READINGS, punctuation="trailing", unit=1_000_000, max_rows=60, max_batches=5)
        whole = Feed((*made.batches[:2], FeedBatch(), *made.batches[2:]))
        seen = interpret(view, {"Readings": whole})
        cut = {each.batch > 2 for each in seen.rows} == {False, True}
        if cut and seen.lost and all(len(interpret(plan, {"Readings": whole}).rows) > 3 for plan in plans):
            return Feed(whole.batches[:2]), whole
    raise AssertionError


@pytest.mark.slow
@pytest.mark.parametrize("text", [NATIVE, FUSED], ids=["native", "fused"])
def test_a_run_that_is_stopped_and_resumed_answers_from_the_log_as_the_interpreter_does(spark, tmp_path, text):
    script = parse_script(text, catalog=CATALOG)
    plans = {each.name: each.plan for each in script.pipelines}
    head, whole = cut_in_two(script.views[0].query, plans.values())
    runs = Runs(spark, script, tmp_path)
    assert all(f"reads view {runs.kept.view.name}" in runs.sharing.notes[name] for name in plans)
    early = list(plans)[-1]
    runs.keep(head)
    runs.read(early)
    written = sorted((tmp_path / "log").glob("*.parquet"))
    runs.keep(whole)
    assert 0 < len(written) < len(list((tmp_path / "log").glob("*.parquet")))
    for name, plan in plans.items():
        assert runs.read(name) == expected(plan, {"Readings": whole}), name
