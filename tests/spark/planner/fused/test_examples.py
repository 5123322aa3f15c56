"""The queries in examples/, as printed in the papers, on Spark: equal to the interpreter over generated animals."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from tests.spark.conformance import expected
from tests.spark.planner.fused.running import found

from slackwater.algebra.catalog import Script
from slackwater.lang import parse_script
from slackwater.rewrite import rewrite
from slackwater.semantics import Feed, FeedBatch
from slackwater.spark.io.sources.recipe import GENERATE, Recipe
from slackwater.spark.options import Options

EXAMPLES = Path(__file__).parents[4] / "examples"
STREAMS = {"BodyCondition": (240, "1a", "1b", "1c", "2"), "Pulse": (130, "3", "4")}
"""How many seconds of each stream are recorded, and its queries."""
BATCHES = 3
BEHIND = 3_000_000
"""The punctuation follows the newest row at this distance, so that some rows are late."""


def script(name: str) -> Script:
    return parse_script((EXAMPLES / "csql" / f"{name}.sql").read_text())


def recorded(stream: Script, seconds: int) -> Feed:
    """Return the first minutes of the stream that an example generates, for fewer animals, in batches."""
    (declared,) = stream.streams
    options = {name: value for name, value in declared.options.items() if name != "pace"} | {"senders": "8"}
    recipe = Recipe.of(Options(GENERATE, options | {"rate": "4", "start": "1970-01-01T01:00:00"}))
    edges = [seconds * 1_000_000 * edge // BATCHES for edge in range(BATCHES + 1)]
    batches, latest = [], 0
    for since, until in pairwise(edges):
        columns = recipe.between(since, until)
        rows = [dict(zip(columns, values, strict=True)) for values in zip(*map(list, columns.values()), strict=True)]
        plain = [{name: value.item() for name, value in row.items()} for row in rows]
        latest = max(latest, *(row["Timestamp"] for row in plain))
        batches.append(FeedBatch(tuple(plain), (latest - BEHIND) // 1000 * 1000))
    return Feed(tuple(batches))


@pytest.mark.parametrize("stream", STREAMS)
def test_a_printed_query_answers_as_the_interpreter_does(spark, tmp_path, stream):
    seconds, *names = STREAMS[stream]
    scripts = {name: script(name) for name in names}
    first = scripts[names[0]]
    feed = recorded(first, seconds)
    plans = {name: each.pipelines[0].plan for name, each in scripts.items()}
    answers = {name: expected(plan, {stream: feed}) for name, plan in plans.items()}
    assert all(answers.values())
    ready = {name: rewrite(plan).plan for name, plan in plans.items()}
    assert found(spark, ready, feed, tmp_path, first.streams[0]) == answers
