"""From plans to trees of changelog operators: classes, keys, what finds the pairs of a join, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.engine.changelog.kernel import ChangelogKernel
from slackwater.engine.changelog.operators import name_of
from slackwater.engine.plan import (
    AggregateStep,
    Chained,
    JoinLogs,
    ProjectStep,
    Size,
    Source,
    Streamed,
    Turn,
    Turns,
    WindowStep,
    children,
    walk,
)
from slackwater.errors import QueryError
from slackwater.lang import bind_query, parse_script
from slackwater.spark.planner.fused.changelog import changes_of

CATALOG = parse_script(
    """
    CREATE STREAM S (id INT, v INT, name STRING, ts TIMESTAMP) USING rate OPTIONS (a '1') TIMESTAMP BY ts;
    CREATE STREAM R (id INT, w DOUBLE, ts TIMESTAMP) USING rate OPTIONS (a '1') TIMESTAMP BY ts;
    CREATE STREAM Edits (op STRING, id INT, v INT, ts TIMESTAMP, PRIMARY KEY (id)) USING rate OPTIONS (a '1')
        TIMESTAMP BY ts CHANGELOG BY op;
    """
).catalog


def tree(query: str) -> Any:
    return changes_of(bind_query(f"{query} EMIT CHANGES", CATALOG))


def lines(query: str) -> list[tuple[str, int, Any]]:
    return [(name_of(node), node.edge.level, node.edge.key) for node in walk(ChangelogKernel(tree(query)).query.root)]


def test_classes_and_keys_are_those_of_the_algebra():
    assert lines("SELECT id, SUM(v) AS total FROM S [RANGE 10 seconds] GROUP BY id") == [
        ("project", 4, ("id",)),
        ("aggregate", 4, ("id",)),
        ("window", 2, None),
        ("source", 1, None),
    ]


def test_a_changelog_makes_all_above_it_class_4():
    found = lines("SELECT DISTINCT v FROM Edits [RANGE 10 seconds]")
    assert {level for _, level, _ in found} == {4}
    assert found[-1] == ("source", 4, ("id",))


def test_windows_of_different_lengths_make_class_3():
    found = lines("SELECT id FROM S [RANGE 10 seconds] UNION ALL SELECT id FROM R [RANGE 5 seconds]")
    assert [(operator, level) for operator, level, _ in found if operator in ("union", "window")] == [
        ("union", 3),
        ("window", 2),
        ("window", 2),
    ]


@pytest.mark.parametrize(
    "where",
    [
        "FROM S [RANGE 5 seconds], R [RANGE 5 seconds] WHERE S.id = R.id AND v < w",
        "FROM S, R WHERE v < w AND R.id = S.id",
    ],
)
def test_what_compares_one_side_with_the_other_finds_the_pairs(where: str):
    node = tree(f"SELECT S.id, v, w {where}").root.child
    assert isinstance(node, JoinLogs)
    assert node.on == ((("column", "id"), ("column", "id")),)
    assert node.condition == ("<", ("column", "v"), ("column", "w"))
    assert node.columns == ("S.id", "v", "name", "S.ts", "R.id", "w", "R.ts")


def test_a_condition_over_both_sides_at_once_does_not():
    node = tree("SELECT v FROM S, R WHERE S.id + R.id = 3").root.child
    assert node.on == ()
    assert node.condition == ("=", ("+", ("column", "S.id"), ("column", "R.id")), ("literal", 3, "int"))


def test_a_stream_that_is_read_twice_is_one_input():
    made = tree("SELECT a.v FROM S a [RANGE 5 seconds], S b [RANGE 3 seconds] WHERE a.id = b.id")
    assert list(made.inputs) == ["S"]


def test_a_subquery_that_looks_at_single_rows_is_a_stream():
    found = lines("SELECT COUNT(*) AS n FROM (SELECT v FROM S [RANGE 5 seconds] WHERE v > 1) AS q [RANGE 3 seconds]")
    assert [operator for operator, _, _ in found] == ["project", "aggregate", "window", "project", "filter", "source"]
    assert found[2][1] == 2


def test_a_subquery_that_may_still_change_is_its_changelog():
    found = lines("SELECT MAX(n) AS most FROM (SELECT id, COUNT(*) AS n FROM S GROUP BY id) AS q")
    assert [operator for operator, _, _ in found] == ["project", "aggregate", "project", "aggregate", "source"]
    assert {level for _, level, _ in found[:-1]} == {4}


def test_a_window_in_tuples_is_counted_per_part():
    node = tree("SELECT id, v FROM S [RANGE 1 TUPLE, FREQUENCY 1 TUPLE PARTITIONED BY id]").root.child
    assert node.step == WindowStep(Size(1, is_time=False), by=("id",), count_by=("id",))
    assert node.edge.level == 4


def test_an_answer_at_a_boundary_lives_for_a_slide():
    made = tree("SELECT id, COUNT(*) AS n FROM S [RANGE 10 seconds SLIDE 5 seconds] GROUP BY id").root
    assert (made.input, made.lifetime, made.edge.key) == ("S", 5_000_000, ("id",))
    assert [type(step) for step in made.chain.steps] == [WindowStep, AggregateStep, ProjectStep]


def test_a_subquery_with_final_answers_is_a_chain_whose_rows_live_for_ever():
    node = tree("SELECT COUNT(*) AS n FROM (SELECT MAX(v) AS m FROM S [RANGE 5 seconds]) AS q").root
    leaf = node.child.child
    assert (type(leaf), leaf.edge.level, leaf.lifetime) == (Chained, 1, None)


def test_the_pairs_of_a_subquery_are_rows_that_live_for_ever():
    node = tree("SELECT COUNT(*) AS n FROM (SELECT v FROM S [RANGE 5 seconds], R [RANGE 5 seconds]) AS q").root
    leaf = node.child.child
    assert (type(leaf), leaf.edge.level, leaf.lifetime) == (Streamed, 1, None)


def test_pairs_of_a_window_in_tuples_are_made_in_turns():
    node = tree("SELECT v FROM (SELECT v FROM S [RANGE 2 TUPLES], R [RANGE 5 seconds]) AS q").root.child
    turns = node.child.child
    counted, window = turns.child.left, turns.child.right
    assert (type(node), type(turns), type(counted.step)) == (Streamed, Turns, WindowStep)
    assert [(type(each), each.range) for each in (counted.child, window)] == [(Turn, None), (Turn, 5_000_000)]


def test_extents_of_two_streams_meet_at_their_boundaries():
    made = tree("SELECT v FROM S [RANGE 9 seconds SLIDE 5 seconds], R [RANGE 5 seconds SLIDE 5 seconds]")
    sides = children(made.root.child)
    assert [(type(each), each.edge.level, each.lifetime) for each in sides] == [(Chained, 2, 5_000_000)] * 2


def test_the_last_rows_of_a_stream_know_with_which_windows_they_are_read():
    made = tree("SELECT v FROM S [RANGE 5 TUPLES, FREQUENCY 5 seconds], R [RANGE 5 seconds SLIDE 5 seconds]")
    assert [each.meeting for each in children(made.root.child)] == [1, 1]


def test_marks_of_an_instant_are_columns_where_they_are_asked_for():
    counted = tree("SELECT v, row_number FROM S [RANGE 5 TUPLES]").root.child
    assert (type(counted.step), counted.numbered) == (WindowStep, True)
    source = tree("SELECT v, row_number FROM S [RANGE 5 seconds]").root.child.child
    assert (type(source), source.numbered) == (Source, True)
    assert ChangelogKernel(tree("SELECT v, row_time FROM S [RANGE 5 seconds]")).schema.names[3:] == ["v", "row_time"]


def test_answers_of_different_slides_are_not_compared():
    extents = "SELECT id FROM S [RANGE 6 seconds SLIDE {} seconds]"
    with pytest.raises(QueryError, match="SW-227"):
        tree(f"{extents.format(3)} UNION ALL {extents.format(2)} EXCEPT {extents.format(3)}")
