"""Inputs taken apart into buckets: the tables of the buckets together are the table of the whole."""

from __future__ import annotations

from collections import Counter
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.changelog.running import Given, given_by, moments, run, table_at
from tests.engine.changelog.test_laws import KINDS as LAWS
from tests.spark.planner.fused.test_changelog import tree

from slackwater.engine.changelog.kernel import ChangelogKernel
from slackwater.engine.changelog.partitioning import partitioning
from slackwater.engine.plan import EnginePlan
from slackwater.spark.planner.fused.changelog import changes_of
from slackwater.testing.plans import Case

BUCKETS = 3
QUERIES = {
    "SELECT id, SUM(v) AS s FROM S [RANGE 5 seconds] GROUP BY id": {"S": ("id",)},
    "SELECT SUM(v) AS s FROM S [RANGE 5 seconds]": None,
    "SELECT name, id, COUNT(*) AS n FROM S GROUP BY name, id": {"S": ("id", "name")},
    "SELECT id + 1 AS next, COUNT(*) AS n FROM S GROUP BY id + 1": None,
    "SELECT S.id, w FROM S [RANGE 5 seconds], R [RANGE 5 seconds] WHERE S.id = R.id": {"S": ("id",), "R": ("id",)},
    "SELECT v, COUNT(*) AS n FROM S, R WHERE S.id = R.id GROUP BY v": None,
    "SELECT S.v FROM S, R WHERE S.v < R.w": None,
    "SELECT a.v FROM S a, S b WHERE a.id = b.v": None,
    "SELECT id FROM S [RANGE 5 seconds] EXCEPT SELECT id FROM R [RANGE 3 seconds]": {"S": ("id",), "R": ("id",)},
    "SELECT DISTINCT v, name FROM S [RANGE 5 seconds]": {"S": ("name", "v")},
    "SELECT v, COUNT(*) AS n FROM Edits GROUP BY v": None,
    "SELECT DISTINCT id, v FROM Edits": {"Edits": ("id",)},
    "SELECT id, v FROM S [RANGE 1 TUPLE, FREQUENCY 1 TUPLE PARTITIONED BY id]": {"S": ("id",)},
    "SELECT v FROM S [RANGE 2 TUPLES]": None,
    "SELECT id FROM S [RANGE 2 TUPLES, FREQUENCY 5 seconds PARTITIONED BY id] "
    "UNION ALL SELECT id FROM R [RANGE 5 seconds SLIDE 5 seconds]": None,
}


@pytest.mark.parametrize("query", QUERIES)
def test_columns_that_all_operators_have_in_common(query: str):
    assert partitioning(tree(query)) == QUERIES[query]


def apart(batches: list[Given], columns: dict[str, tuple[str, ...]], bucket: int) -> list[Given]:
    """Return the rows of one bucket, with the same punctuations."""

    def mine(name: str, row: Any) -> bool:
        return crc32(repr([row.get(column) for column in columns[name]]).encode()) % BUCKETS == bucket

    return [
        ({name: tuple(row for row in rows if mine(name, row)) for name, rows in given.items()}, marks)
        for given, marks in batches
    ]


@settings(max_examples=20, deadline=None)
@given(case=st.one_of(*LAWS.values()).filter(lambda case: isinstance(changes_of(case.plan), EnginePlan)))
def test_buckets_together_are_the_whole(case: Case):
    kernel, batches = ChangelogKernel(changes_of(case.plan)), given_by(case.plan, case.feeds)
    columns = partitioning(kernel.query)
    if columns is None:
        return
    whole = run(kernel, batches, stored=False).changes
    parts = [run(kernel, apart(batches, columns, bucket), stored=False).changes for bucket in range(BUCKETS)]
    for time in moments(whole, *parts):
        together: Counter[Any] = Counter()
        for part in parts:
            together += table_at(part, time)
        assert together == table_at(whole, time)
