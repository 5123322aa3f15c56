"""Changelog operators over logs written by hand."""

from slackwater.semantics.changelog.merging import aggregate, minus
from slackwater.semantics.changelog.pointwise import join, union
from slackwater.semantics.changelog.temporal import Event, Log, Temporal
from slackwater.semantics.feeds import END_OF_TIME
from slackwater.semantics.relational import pair
from slackwater.semantics.rows import Row


def tuple_of(value: object, start: int, end: int = END_OF_TIME) -> Temporal:
    return Temporal(Row((value,), start), end)


def log(*tuples: Temporal, ended: dict[Temporal, int] | None = None) -> Log:
    """Return the log of tuples that begin at their start, with a negative for each tuple in `ended`."""
    negatives = [Event(at, each, positive=False) for each, at in (ended or {}).items()]
    return Log.of([*(Event(each.start, each) for each in tuples), *negatives])


def told(found: Log) -> list[tuple]:
    """Return positives as (start, end, values) and negatives as (point, values)."""
    return [
        (event.at, event.tuple.end, *event.tuple.values) if event.positive else (event.at, *event.tuple.values)
        for event in found
    ]


def everything(left: list[Row], right: list[Row]) -> list[Row]:
    return [pair(one, two) for one in left for two in right]


def test_a_pair_lives_as_long_as_both():
    assert told(join(log(tuple_of("a", 1, 6)), log(tuple_of("b", 3, 9)), everything)) == [(3, 6, "a", "b")]


def test_rows_that_never_meet_make_no_pair():
    assert told(join(log(tuple_of("a", 1, 3)), log(tuple_of("b", 3, 9)), everything)) == []


def test_a_negative_before_the_bound_of_a_pair_ends_it_and_one_after_does_not():
    late, early = tuple_of("late", 2), tuple_of("early", 2)
    right = log(late, early, ended={late: 8, early: 4})
    found = told(join(log(tuple_of("a", 1, 5)), right, everything))
    assert found == [(2, 5, "a", "late"), (2, 5, "a", "early"), (4, "a", "early")]


def test_a_tuple_that_replaces_another_at_one_moment_takes_its_place_in_pairs():
    old, new = tuple_of("old", 1), tuple_of("new", 4)
    found = told(join(log(old, new, ended={old: 4}), log(tuple_of("b", 2, 9)), everything))
    assert found == [(2, 9, "old", "b"), (4, "old", "b"), (4, 9, "new", "b")]


def test_a_union_keeps_the_order_of_time():
    left, right = log(tuple_of(1, 1, 4), tuple_of(2, 5, 8)), log(tuple_of(3, 2, 3))
    assert told(union(left, right)) == [(1, 4, 1), (2, 3, 3), (5, 8, 2)]


def test_an_aggregate_of_ended_tuples_shrinks():
    """Two tuples with open ends; the first is ended by a negative, then the second: the group empties."""
    one, two = tuple_of(1, 1), tuple_of(2, 3)
    found = aggregate(log(one, two, ended={one: 5, two: 7}), lambda row: "all", total)
    assert told(found) == [
        (1, END_OF_TIME, 1),
        (3, 1),
        (3, END_OF_TIME, 3),
        (5, 3),
        (5, END_OF_TIME, 2),
        (7, 2),
    ]


def total(rows: list[Row]) -> tuple | None:
    return (sum(row.values[0] for row in rows),) if rows else None


def test_minus_waits_for_the_last_of_several_matches():
    right = log(tuple_of("x", 2, 5), tuple_of("x", 3, 7))
    assert told(minus(log(tuple_of("x", 1, 9)), right)) == [(1, 9, "x"), (2, "x"), (7, 9, "x")]
