"""The three models say the same of every point in time, and what the interpreter says; figures 2 to 4 of APAS as each
of them sends them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from bench.changelog.older.positive_negative import PositiveNegative
from bench.changelog.older.temporal import FOREVER, Temporal, pieces_by_inputs
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.changelog.running import moments, ran, table_at
from tests.semantics.endings import ended

from slackwater.lang import bind_query, parse_script
from slackwater.semantics import Feed, interpret
from slackwater.semantics.values import orders
from slackwater.spark.planner.fused.changelog import changes_of

pytestmark = pytest.mark.long

CATALOG = parse_script(
    """
    CREATE STREAM S (k INT, x INT, ts TIMESTAMP) USING rate OPTIONS (a '1') TIMESTAMP BY ts;
    CREATE STREAM R (k INT, x INT, ts TIMESTAMP) USING rate OPTIONS (a '1') TIMESTAMP BY ts;
    """
).catalog
SECOND = 1_000_000
WINDOWS = {"S": "S [RANGE 5 seconds]", "R": "R [RANGE 3 seconds]"}
QUERIES = {
    "window": "SELECT k, x FROM {S} WHERE x > 1",
    "union": "SELECT k FROM {S} UNION ALL SELECT k FROM {R}",
    "join": "SELECT S.k, S.x, R.x AS y FROM {S}, {R} WHERE S.k = R.k",
    "join with a condition": "SELECT S.k, R.x AS y FROM {S}, {R} WHERE S.k = R.k AND S.x < R.x",
    "sum": "SELECT k, SUM(x) AS total, COUNT(*) AS n FROM {S} GROUP BY k",
    "sum of everything": "SELECT SUM(x) AS total FROM S",
    "most": "SELECT k, MAX(x) AS top, MIN(x) AS least FROM {S} GROUP BY k HAVING MAX(x) > 1",
    "distinct": "SELECT DISTINCT k FROM {S}",
    "minus": "SELECT k FROM {S} EXCEPT SELECT k FROM {R}",
    "distinct of a join": "SELECT DISTINCT R.x FROM {S}, {R} WHERE S.k = R.k",
    "sum of a join": "SELECT R.x, COUNT(*) AS n FROM {S}, {R} WHERE S.k = R.k GROUP BY R.x",
    "sums of sums": "SELECT n, COUNT(*) AS m FROM (SELECT k, COUNT(*) AS n FROM S GROUP BY k) AS q GROUP BY n",
    "distinct of sums": "SELECT DISTINCT n FROM (SELECT k, COUNT(*) AS n FROM S GROUP BY k) AS q",
    "sum of distinct": "SELECT COUNT(*) AS n FROM (SELECT DISTINCT k FROM {S}) AS q",
}
ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 14)), max_size=12)


def plan_of(query):
    return bind_query(query.format(**WINDOWS) + " EMIT CHANGES", CATALOG)


def streams(**given):
    """Return streams for the models, and feeds for the interpreter, from (k, x, seconds)."""
    ordered = {name: sorted((t * SECOND, (k, x, t * SECOND)) for k, x, t in rows) for name, rows in given.items()}
    rows = {name: [dict(zip("kx", row, strict=False), ts=time) for time, row in each] for name, each in ordered.items()}
    return {name: (["k", "x", "ts"], each) for name, each in ordered.items()}, {
        name: Feed.of(each, [7 * SECOND], cuts=[len(each)]) for name, each in rows.items()
    }


@pytest.mark.parametrize("name", QUERIES)
@settings(max_examples=12, deadline=None)
@given(s=ROWS, r=ROWS)
def test_each_model_has_the_same_table_at_every_point_in_time(name, s, r):
    plan = plan_of(QUERIES[name])
    rows, feeds = streams(S=s, R=r)
    feeds = ended(plan, feeds)
    wanted = interpret(plan, feeds, flush=True).changes
    tree = changes_of(plan).root
    older = PositiveNegative(rows).run(tree), Temporal(rows).run(tree)
    mixed = ran(plan, feeds).changes
    for time in moments(wanted, mixed):
        expected = table_at(wanted, time)
        assert table_at(mixed, time) == expected
        for edge in older:
            assert Counter({orders(row): n for row, n in edge.table(time).items()}) == expected


SUM = "SELECT SUM(x) AS total FROM S [RANGE 10 seconds]"
GIVEN = streams(S=[(0, 1, 0), (0, 2, 3), (0, 4, 5)])
"""APAS figures 3 and 4: 1 at 0, 2 at 3, 4 at 5, over a window of 10."""


def in_seconds(*times):
    return tuple(None if time in (None, FOREVER) else time / SECOND for time in times)


def test_figure_2_a_negative_after_the_bound_of_a_pair_is_only_sent_where_tuples_have_no_bound():
    """A tuple of the left lives [1, 6), one of the right [3, 6): both end the pair, as its bound has told."""
    plan = plan_of("SELECT S.x, R.x AS y FROM S [RANGE 5 seconds], R [RANGE 3 seconds] WHERE S.k = R.k")
    rows, feeds = streams(S=[(0, 1, 1)], R=[(0, 2, 3)])
    tree = changes_of(plan).root
    events = PositiveNegative(rows).run(tree).events
    assert [(event.time / SECOND, event.sign) for event in events] == [(3, 1), (6, -1)]
    (pair,) = Temporal(rows).run(tree).tuples
    assert in_seconds(pair.start, pair.end, pair.sent) == (3, 6, 3)
    (change,) = ran(plan, feeds).changes
    assert (change.type, *in_seconds(change.valid_from, change.valid_to)) == ("insert", 3, 6)


def test_figure_3a_a_value_is_sent_when_its_end_is_known():
    edge = Temporal(GIVEN[0]).run(changes_of(plan_of(SUM)).root)
    assert [in_seconds(each.start, each.end, each.sent) for each in edge.tuples] == [
        (0, 3, 3),
        (3, 5, 5),
        (5, 10, 10),
        (10, 13, 13),
        (13, 15, 15),
    ]
    assert [delay / SECOND for delay in edge.delays(100 * SECOND)] == [3, 2, 5, 3, 2]
    assert edge.sent(11 * SECOND) == 3


def test_figure_3b_every_end_is_a_negative():
    made = PositiveNegative(GIVEN[0])
    edge = made.run(changes_of(plan_of(SUM)).root)
    for sign, times in ((1, [0, 3, 5, 10, 13]), (-1, [3, 5, 10, 13, 15])):
        assert [event.time / SECOND for event in edge.events if event.sign == sign] == times
    source, window, *_ = made.edges
    assert len(window.events) == 2 * len(source.events)


def test_figure_4_the_mixed_model():
    changes = ran(plan_of(SUM), ended(plan_of(SUM), GIVEN[1])).changes
    told = [(each.type, *in_seconds(each.valid_from, each.valid_to)) for each in changes]
    assert [each[1:] for each in told if each[0] == "insert"] == [(0, 10), (3, 10), (5, 10), (10, 13), (13, 15)]
    assert [each[1:] for each in told if each[0] == "delete"] == [(3, 3), (5, 5)]


def test_by_inputs_every_living_group_is_sent_at_each_input():
    """Two groups; an input of one cuts the result of the other."""
    rows, _ = streams(S=[(0, 1, 0), (1, 1, 2), (0, 1, 4)])
    edge = Temporal(rows).run(changes_of(plan_of("SELECT k, SUM(x) AS t FROM S [RANGE 10 seconds] GROUP BY k")).root)
    count, delays = pieces_by_inputs(edge, np.array([0, 2, 4, 50]) * SECOND, 100 * SECOND)
    assert count == 6  # of group 0 [0, 2), [2, 4), [4, 10), [10, 14), of group 1 [2, 4), [4, 12)
    assert sorted(delay / SECOND for delay in delays) == [2, 2, 40, 46]


def test_what_comes_late_from_below_makes_what_is_above_it_later():
    """The count of a key is told when it changes, that of key 1 never; the count of counts can be told no earlier."""
    rows, _ = streams(S=[(0, 1, 0), (1, 1, 2), (0, 1, 6)])
    edge = Temporal(rows).run(changes_of(plan_of(QUERIES["sums of sums"])).root)
    assert [in_seconds(each.start, each.end, each.sent) for each in edge.tuples][:2] == [(0, 2, 6), (2, 6, None)]
