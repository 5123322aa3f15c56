"""A changelog that EMIT CHANGES wrote, read again: rows end when their bound has come, as where it was written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.changelog.running import answer_of, moments, ran, table_at
from tests.engine.running import plain_rows
from tests.semantics.endings import ended

from slackwater.lang import bind_query, parse_script
from slackwater.semantics import Feed, interpret

pytestmark = pytest.mark.long

SECOND = 1_000_000
CATALOG = parse_script(
    """
    CREATE STREAM S (k INT, x INT, ts TIMESTAMP) USING rate OPTIONS (a '1') TIMESTAMP BY ts;
    CREATE STREAM R (k INT, x INT, ts TIMESTAMP) USING rate OPTIONS (a '1') TIMESTAMP BY ts;
    CREATE STREAM Log (_change_type STRING, _valid_from TIMESTAMP, _valid_to TIMESTAMP, k INT, n INT, PRIMARY KEY (k))
        USING rate OPTIONS (a '1') TIMESTAMP BY _valid_from CHANGELOG BY _change_type;
    """
).catalog
ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 14)), max_size=14)
QUERIES = {
    "sum": "SELECT k, CAST(SUM(x) AS INT) AS n FROM S [RANGE 5 seconds] GROUP BY k",
    "distinct": """SELECT k, CAST(COUNT(*) AS INT) AS n
        FROM (SELECT DISTINCT k, x FROM S [RANGE 5 seconds]) AS q GROUP BY k""",
    "minus": "SELECT k, k AS n FROM S [RANGE 5 seconds] EXCEPT SELECT k, k AS n FROM R [RANGE 3 seconds]",
}


def feed(rows: list[tuple[int, int, int]]) -> Feed:
    given = [{"k": k, "x": x, "ts": t * SECOND} for k, x, t in rows]
    return Feed.of(given, [0, 6 * SECOND], cuts=[len(given) // 2])


def plan_of(query: str) -> Any:
    return bind_query(f"{query} EMIT CHANGES", CATALOG)


@pytest.mark.parametrize("upserts", [False, True])
@pytest.mark.parametrize("name", QUERIES)
@settings(max_examples=6, deadline=None)
@given(s=ROWS, r=ROWS)
def test_what_was_written_is_read_as_the_same_table(name: str, upserts: bool, s: Any, r: Any):
    plan, again = plan_of(QUERIES[name]), plan_of("SELECT k, n FROM Log")
    feeds = ended(plan, {"S": feed(s), "R": feed(r)})
    wanted = interpret(plan, feeds, flush=True).changes
    lines = [
        dict(zip(each.schema.names, row, strict=True))
        for each in ran(plan, feeds, upserts=upserts).lines
        for row in plain_rows(each)
    ]
    written = ended(again, {"Log": Feed.of(lines)})
    answer, found = interpret(again, written, flush=True), ran(again, written)
    assert not answer.refused and not answer_of(again, found).refused
    for time in moments(wanted):
        assert table_at(answer.changes, time) == table_at(found.changes, time) == table_at(wanted, time)


KINDS = st.sampled_from(["insert", "insert", "delete", "update_postimage", "other"])
EDITS = st.lists(
    st.tuples(KINDS, st.integers(0, 1), st.integers(0, 3), st.integers(0, 12), st.none() | st.integers(0, 6)),
    max_size=12,
)


@pytest.mark.parametrize("source", ["Log", "Log [RANGE 4 seconds]"])
@settings(max_examples=25, deadline=None)
@given(rows=EDITS, marks=st.lists(st.integers(0, 14), max_size=3))
def test_bounds_of_any_rows_are_what_the_interpreter_takes_them_for(source: str, rows: Any, marks: list[int]):
    lines = [
        {"_change_type": kind, "_valid_from": t * SECOND, "_valid_to": None if life is None else (t + life) * SECOND}
        | {"k": k, "n": n}
        for kind, k, n, t, life in rows
    ]
    feeds = {"Log": Feed.of(lines, [mark * SECOND for mark in sorted(marks)], cuts=range(3, len(lines), 4))}
    plan = plan_of("SELECT n, COUNT(*) AS m FROM Log GROUP BY n".replace("Log", source))
    feeds = ended(plan, feeds)
    wanted, found = interpret(plan, feeds, flush=True), ran(plan, feeds)
    for time in moments(wanted.changes, found.changes):
        assert table_at(found.changes, time) == table_at(wanted.changes, time)
    mine = answer_of(plan, found)
    assert sorted(map(repr, mine.refused)) == sorted(map(repr, wanted.refused))
