"""A plan that is divided between Spark and the engine means what it meant: by the interpreter, over random plans."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.divided import computed_feeds, finished_row

from slackwater.algebra.nodes import Mode, Project, Select, walk
from slackwater.errors import QueryError
from slackwater.lang import bind_query
from slackwater.rewrite import rewrite
from slackwater.semantics import Answer, interpret
from slackwater.semantics.values import orders
from slackwater.spark.planner.fused.fuse import describe
from slackwater.spark.planner.fused.split import After, split
from slackwater.testing.catalog import CATALOG
from slackwater.testing.plans import Case, Shape, seeded_cases

KINDS = {
    "final": Shape(sync=False),
    "nested": Shape(joins=False, sets=False, sync=False),
    "changes": Shape(mode=Mode.CHANGES, streams=("Readings", "Events", "Pulses", "Edits"), ordered=False, sync=False),
}


def has_meaning(case: Case) -> bool:
    """Return whether the interpreter has an answer: it has none if rows that may change are counted."""
    try:
        return interpret(case.plan, case.feeds, flush=True) is not None
    except QueryError as error:
        assert error.code in ("SW-243", "SW-363")
        return False


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None)
@given(data=st.data(), rewritten=st.booleans())
def test_the_parts_together_answer_what_the_plan_does(kind: str, data: st.DataObject, rewritten: bool):
    case: Case = data.draw(seeded_cases(KINDS[kind], max_rows=10).filter(has_meaning))
    plan = rewrite(case.plan).plan if rewritten else case.plan
    divided = split(plan)
    feeds = computed_feeds(divided.entries, case.feeds)
    found = interpret(divided.core, feeds, flush=True)
    wanted = interpret(plan, case.feeds, flush=True)
    if kind == "changes":
        assert told(found, divided.after) == told(wanted)
        return
    rows = [(finished_row(divided.after, tuple(each.row.values())), each.time, each.batch) for each in found.rows]
    expected = [(tuple(each.row.values()), each.time, each.batch) for each in wanted.rows]
    assert [(orders(row), *rest) for row, *rest in rows if row is not None] == [
        (orders(row), *rest) for row, *rest in expected
    ]


def told(answer: Answer, after: After | None = None) -> Counter[Any]:
    """Return the changes of an answer after the select list and HAVING."""
    rows = [(finished_row(after, tuple(each.row.values())), each) for each in answer.changes]
    return Counter(
        (each.type, orders(row), each.valid_from, each.valid_to, each.batch) for row, each in rows if row is not None
    )


QUERIES = {
    "SELECT upper(kind) AS k, SUM(v / 2) AS s FROM Readings [RANGE 5 seconds] WHERE x > 1 GROUP BY upper(kind)": (
        "in buckets by UPPER(kind)"
    ),
    "SELECT id % 2 AS g, COUNT(*) AS n FROM Readings [RANGE 5 seconds] GROUP BY id % 2": "in buckets by id % 2",
    "SELECT date_format(ts, 'HH') AS h, COUNT(*) AS n FROM Readings GROUP BY date_format(ts, 'HH') EMIT CHANGES": (
        "in buckets by Readings.DATE_FORMAT(ts, 'HH')"
    ),
}


@pytest.mark.parametrize("text", QUERIES)
def test_the_core_has_columns_only_and_expressions_make_buckets(text: str):
    plan = rewrite(bind_query(text, CATALOG)).plan
    core = split(plan).core
    stated = [expr.sql for node in walk(core) if isinstance(node, Select | Project) for expr in exprs(node)]
    assert all(sql.strip("`").replace("_", "").replace("#", "").isalnum() for sql in stated)
    assert QUERIES[text] in str(describe(plan))


def exprs(node: Select | Project) -> list[Any]:
    return [node.condition] if isinstance(node, Select) else [item.expr for item in node.items]


def test_what_can_fail_is_guarded_by_the_condition_that_rows_have_passed():
    text = "SELECT SUM(10 / v) AS s FROM Readings [RANGE 3 TUPLES] WHERE v <> 0"
    (entry,) = split(bind_query(text, CATALOG)).entries
    assert [item.expr.sql for item in entry.columns][-2:] == ["v <> 0", "CASE WHEN v <> 0 THEN 10 / v END"]


def test_rows_that_nobody_counts_are_left_out_before_the_engine():
    text = "SELECT id, COUNT(*) AS n FROM Readings [RANGE 5 seconds SLIDE 1 second] WHERE v > 3 GROUP BY id"
    (entry,) = split(rewrite(bind_query(text, CATALOG)).plan).entries
    assert [condition.sql for condition in entry.conditions] == ["v > 3"]
    assert [item.name for item in entry.columns] == ["id", "ts", "arrived"]
