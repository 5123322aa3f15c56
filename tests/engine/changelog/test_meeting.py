"""Windows at boundaries that are read together: how long the last n rows of a stream go on."""
# ruff: noqa: S608 (no query here reaches a database)

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.changelog.running import given_by, run, table_at
from tests.engine.changelog.tuples import MET

from slackwater.engine.changelog.kernel import ChangelogKernel
from slackwater.engine.changelog.partitioning import partitioning
from slackwater.engine.columns.arrays import LATEST
from slackwater.lang import bind_query
from slackwater.semantics import Feed, FeedBatch
from slackwater.spark.planner.fused.changelog import changes_of
from slackwater.testing.catalog import CATALOG

SECOND = 1_000_000
LATEST_ROW = "Readings AS r [RANGE 1 TUPLE, FREQUENCY 3 seconds]"
EXTENTS = "Pulses AS p [RANGE 3 seconds SLIDE 3 seconds]"


def feed(*rows: tuple[int, int], punctuation: int | None = None) -> Feed:
    """Return a feed of rows, each given by its id and its second."""
    given = tuple({"id": each, "v": each, "ts": second * SECOND} for each, second in rows)
    return Feed((FeedBatch(given, None if punctuation is None else punctuation * SECOND),))


def shown(query: str, feeds: dict[str, Feed], flush: bool = True) -> dict[int, list[Any]]:
    """Return the ids that live just before the boundaries at 3, 6, ... 24 seconds."""
    plan = bind_query(f"{query} EMIT CHANGES", CATALOG)
    end = [({}, dict.fromkeys(feeds, LATEST))] if flush else []
    changes = run(ChangelogKernel(changes_of(plan)), [*given_by(plan, feeds, flush=False), *end]).changes
    tables = {second: table_at(changes, second * SECOND - 1) for second in range(3, 25, 3)}
    return {second: sorted(value[0][1] for value in table.elements()) for second, table in tables.items() if table}


def test_after_a_flush_the_last_rows_are_there_where_another_window_is_evaluated():
    feeds = {"Readings": feed((7, 1)), "Pulses": feed((5, 1), (5, 7), (5, 19))}
    assert shown(f"SELECT r.id, p.id AS other FROM {LATEST_ROW}, {EXTENTS}", feeds) == {3: [7], 9: [7], 21: [7]}
    less = f"SELECT id FROM {LATEST_ROW} EXCEPT SELECT id FROM {EXTENTS}"
    assert shown(less, feeds) == {3: [7], 9: [7], 21: [7]}


def test_before_it_they_are_there_at_every_boundary_that_has_passed():
    marks = {"Readings": feed((7, 1), punctuation=12), "Pulses": feed((5, 19), punctuation=12)}
    less = f"SELECT id FROM {LATEST_ROW} EXCEPT SELECT id FROM {EXTENTS}"
    ended = {name: Feed((*each.batches, FeedBatch())) for name, each in marks.items()}
    assert shown(less, ended, flush=False) == {3: [7], 6: [7], 9: [7], 12: [7]}
    assert shown(less, ended) == {3: [7], 6: [7], 9: [7], 12: [7], 21: [7]}


def test_alone_they_end_with_the_boundary_after_the_last_row():
    feeds = {"Readings": feed((7, 1)), "Pulses": feed((5, 7))}
    both = f"SELECT id FROM {LATEST_ROW} UNION ALL SELECT id FROM {EXTENTS}"
    assert shown(both, feeds) == {3: [7], 9: [5]}


@pytest.mark.parametrize("name", ["the last rows with extents", "the last rows of each key with extents, grouped"])
def test_rows_of_all_keys_stay_together(name: str):
    made = ChangelogKernel(changes_of(bind_query(f"{MET[name]} EMIT CHANGES", CATALOG)))
    assert partitioning(made.query) is None
