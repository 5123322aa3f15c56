"""Buckets: by which columns a plan is taken apart, and that taking it apart changes nothing."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.rich import rich_expressions
from tests.engine.running import Given, given_by, run
from tests.law_cases import law_cases

from slackwater.engine.chain import ChainKernel
from slackwater.lang import bind_query
from slackwater.rewrite import rewrite
from slackwater.spark.planner.fused.chains import chain_of
from slackwater.spark.planner.fused.stages import partitioning
from slackwater.testing.catalog import CATALOG
from slackwater.testing.plans import Case, Shape, seeded_cases

KINDS = {
    "rows": Shape(joins=False, sets=False, subqueries=False, instants=("rows", "sampled")),
    "jumps": Shape(joins=False, sets=False, subqueries=False, instants=("jumps", "boundaries")),
    "nested": Shape(joins=False, sets=False),
}
FAR = 400
"""Beyond all rows. No flush: where windows go on for ever, it ends them after the last row of all, not of the part."""
QUERIES = {
    "SELECT id, COUNT(*) FROM Readings [RANGE 5 seconds] GROUP BY id": ("id",),
    "SELECT id, kind, MAX(v) FROM Readings [RANGE 5 seconds SLIDE 1 second] GROUP BY id, kind": ("id", "kind"),
    "SELECT id, kind, MAX(v) [FREQUENCY 3 TUPLES PARTITIONED BY kind] "
    "FROM Readings [RANGE 5 seconds] GROUP BY id, kind": ("kind",),
    "SELECT AVG(v) FROM Readings [RANGE 5 TUPLES, FREQUENCY 1 TUPLE PARTITIONED BY id]": ("id",),
    "SELECT AVG(v) FROM Readings [RANGE 5 TUPLES]": (),
    "SELECT id, AVG(v) FROM Readings [RANGE 5 TUPLES] GROUP BY id": (),
    "SELECT id, AVG(v) FROM Readings [RANGE 5 seconds, FREQUENCY 3 TUPLES] GROUP BY id": (),
    "SELECT * [FREQUENCY 2 TUPLES PARTITIONED BY id] FROM Readings [FREQUENCY 3 TUPLES PARTITIONED BY kind]": (),
    "SELECT id % 2, COUNT(*) FROM Readings [RANGE 5 seconds] GROUP BY id % 2": (),
    "SELECT id, row_number FROM Readings [RANGE 5 seconds]": (),
    "SELECT a, AVG(n) FROM (SELECT id AS a, kind, COUNT(*) AS n FROM Readings [RANGE 5 seconds] GROUP BY id, kind) "
    "AS P [RANGE 9 seconds] GROUP BY a": ("id",),
}


@pytest.mark.parametrize("text", QUERIES)
def test_the_columns_are_those_that_every_step_has_in_common(text: str):
    with rich_expressions():
        assert partitioning(chain_of(bind_query(text, CATALOG))).columns == QUERIES[text]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=law_cases(40))
@given(data=st.data(), rewritten=st.booleans())
def test_each_part_by_itself_gives_its_own_rows(kind: str, data: st.DataObject, rewritten: bool):
    case: Case = data.draw(seeded_cases(KINDS[kind]))
    plan = rewrite(case.plan).plan if rewritten else case.plan
    with rich_expressions():
        kernel = ChainKernel(chain_of(plan))
        columns = partitioning(kernel.chain).columns
        ((_, feed),) = case.feeds.items()
        batches = [*given_by(feed, flush=False), ((), FAR)]
        parts = {key(row, columns) for rows, _ in batches for row in rows}
        whole = run(kernel, batches)
        apart = [run(kernel, [own(each, columns, part) for each in batches]) for part in parts]
        for number in range(len(batches)):
            assert Counter(whole.rows[number]) == Counter(chain(*(each.rows[number] for each in apart)))


def key(row: Any, columns: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in columns)


def own(given: Given, columns: tuple[str, ...], part: tuple[Any, ...]) -> Given:
    rows, punctuation = given
    return tuple(row for row in rows if key(row, columns) == part), punctuation
