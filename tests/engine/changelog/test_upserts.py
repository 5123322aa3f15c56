"""Updates as one row: a table by key that takes the rows one after the other has, at every point in time, the rows that
the interpreter says live."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.changelog.compositions import compositions
from tests.engine.changelog.running import Ran, given_by, moments, ran, rounded, table_at
from tests.engine.changelog.trees import S, grouped, kernel, rows, steps, window
from tests.engine.running import plain_rows
from tests.semantics.endings import ended

from slackwater.algebra.lengths import Kind
from slackwater.algebra.nodes import Mode
from slackwater.engine.columns.arrays import EARLIEST, LATEST
from slackwater.engine.plan import Edge, EnginePlan
from slackwater.errors import QueryError
from slackwater.semantics import interpret
from slackwater.semantics.values import orders
from slackwater.spark.planner.fused.changelog import changes_of
from slackwater.testing.plans import Case, Shape, seeded_cases

pytestmark = pytest.mark.long

KEYED = Shape(
    mode=Mode.CHANGES, instants=("stream", "rows"), ranges=(Kind.TIME,), subqueries=False, ordered=False, sync=False
)


def key_of(case: Case) -> tuple[str, ...] | None:
    made = changes_of(case.plan)
    return made.root.edge.key if isinstance(made, EnginePlan) else made.key


def end(case: Case) -> Case:
    return replace(case, feeds=ended(case.plan, case.feeds))


OPEN = st.one_of(compositions(), seeded_cases(KEYED, max_rows=12)).filter(lambda case: key_of(case) is not None)
CASES = OPEN.map(end)
Line = dict[str, Any]


def lines_of(found: Ran) -> list[list[Line]]:
    return [[dict(zip(each.schema.names, row, strict=True)) for row in plain_rows(each)] for each in found.lines]


def table(lines: Sequence[Line], key: Sequence[str], time: int) -> Counter[Any]:
    """Return the live rows: a row replaces the live row of its key, a delete ends it, and it expires at its bound."""
    live: dict[Any, Line] = {}
    for line in lines:
        place = orders(line[name] for name in key)
        if line["_change_type"] == "delete":
            live.pop(place, None)
        else:
            live[place] = line
    there = [line for line in live.values() if line["_valid_to"] is None or line["_valid_to"] > time]
    return Counter(orders(map(rounded, list(line.values())[3:])) for line in there)


@settings(max_examples=20, deadline=None)
@given(case=CASES)
def test_a_row_ends_the_live_row_of_its_key(case: Case):
    key = key_of(case) or []
    found, full = ran(case.plan, case.feeds, upserts=True), ran(case.plan, case.feeds)
    wanted = interpret(case.plan, case.feeds, flush=True).changes
    lines = [line for batch in lines_of(found) for line in batch]
    for time in moments(wanted, full.changes):
        assert table([line for line in lines if line["_valid_from"] <= time], key, time) == table_at(wanted, time)
    updates = sum(line["_change_type"] == "update_postimage" for line in lines)
    assert len(lines) == len(full.changes) - updates


@settings(max_examples=20, deadline=None)
@given(case=CASES)
def test_of_net_changes_too_at_the_end_of_every_batch(case: Case):
    key, lines = key_of(case) or [], []
    wanted = interpret(case.plan, case.feeds, flush=True).changes
    batches = given_by(case.plan, case.feeds)
    for (_, marks), batch in zip(batches, lines_of(ran(case.plan, case.feeds, net=True, upserts=True)), strict=True):
        lines += batch
        now = min(marks.values())
        if EARLIEST < now < LATEST:
            come = [each for each in wanted if each.valid_from < now]
            assert table(lines, key, now - 1) == table_at(come, now - 1)


BATCHES = (({"S": rows((1, 5, 0), (2, 7, 2), (1, 6, 4))}, EARLIEST), ({}, 11))
QUERY = grouped(window(S, 10), "sum", "x")


@pytest.mark.parametrize(
    ("profile", "names"),
    [("changes", ["insert", "insert", "update_postimage", "insert"]), ("flink", ["+I", "+I", "+U", "+I"])],
)
def test_one_row_for_an_update(profile: str, names: list[str]):
    """Of key 1 the sums 5 [0, 10), 11 [4, 10), 6 [10, 14): at 4 an update, at 10 the bound has come."""
    (_, found) = steps(kernel(QUERY, profile=profile, upserts=True), *BATCHES)
    assert found.changelog.column(0).to_pylist() == names
    assert found.changelog.column("a").to_pylist() == [5, 7, 11, 6]


def test_without_a_key_it_is_refused():
    with pytest.raises(QueryError, match="SW-364"):
        kernel(replace(QUERY, edge=Edge(4)), upserts=True)
