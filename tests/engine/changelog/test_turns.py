"""Pairs as a stream where a window counts rows: rows of one time have their turns one after the other."""
# ruff: noqa: S608 (no query here reaches a database)

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.changelog.running import ran

from slackwater.engine.changelog.kernel import ChangelogKernel
from slackwater.engine.changelog.partitioning import partitioning
from slackwater.lang import bind_query
from slackwater.semantics import Feed, FeedBatch
from slackwater.spark.planner.fused.changelog import changes_of
from slackwater.testing.catalog import CATALOG

SECOND = 1_000_000
LAST = "(SELECT id FROM Events WHERE kind = 'a') AS a [RANGE 1 TUPLE]"
OTHER = "(SELECT id FROM Events WHERE kind = 'b') AS b"
QUERY = f"SELECT one, two FROM (SELECT a.id AS one, b.id AS two FROM {LAST}, {OTHER} [RANGE 3 seconds]) AS q"


def pairs(query: str, *rows: tuple[str, int, int, int]) -> list[tuple[Any, ...]]:
    """Return the pairs of a join over rows (kind, id, second, arrival)."""
    given = tuple(
        {"kind": kind, "id": number, "v": 0, "ts": second * SECOND, "arrived": arrival * SECOND}
        for kind, number, second, arrival in rows
    )
    plan = bind_query(f"{query} EMIT CHANGES", CATALOG)
    changes = ran(plan, {"Events": Feed((FeedBatch(given),))}).changes
    return [(*each.row.values(), each.valid_from // SECOND) for each in changes if each.type == "insert"]


@pytest.mark.parametrize(
    ("arrivals", "expected"),
    [
        ((1, 2, 3), [(1, 7, 5), (2, 7, 5)]),  # 7 is paired with 1, then 1 is pushed out by 2, which is paired with 7
        ((1, 3, 2), [(2, 7, 5)]),  # 1 is pushed out by 2 before 7 comes
    ],
)
def test_a_row_is_paired_with_what_is_there_when_its_turn_comes(arrivals, expected):
    first, seventh, second = arrivals
    assert pairs(QUERY, ("a", 1, 4, first), ("b", 7, 5, seventh), ("a", 2, 5, second)) == expected


def test_a_window_of_time_ends_a_row_at_the_first_instant_that_is_late_enough():
    rows = [("b", 7, 1, 1), ("a", 1, 3, 3), ("a", 2, 4, 4), ("b", 8, 9, 9)]
    assert pairs(QUERY, *rows) == [(1, 7, 3), (2, 8, 9)]


def test_equal_keys_make_buckets():
    query = f"SELECT one FROM (SELECT a.id AS one FROM {LAST[:-1]}, FREQUENCY 1 TUPLE PARTITIONED BY id], {OTHER} "
    made = ChangelogKernel(changes_of(bind_query(f"{query} WHERE a.id = b.id) AS q EMIT CHANGES", CATALOG)))
    assert partitioning(made.query) == {"Events": ("id",)}
