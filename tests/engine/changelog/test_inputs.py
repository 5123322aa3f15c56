"""Incoming changelogs: what becomes of negatives that come late, twice, or before their positive."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.changelog.trees import E, S, grouped, kernel, rows, steps, window
from tests.engine.running import plain_rows

from slackwater.engine.columns.arrays import EARLIEST, LATEST
from slackwater.errors import QueryError

FOREVER = 10**15


def told(*batches: tuple[list[tuple[Any, ...]], int]) -> tuple[list[Any], list[Any]]:
    """Return the changes of all batches as (type, from, to, k, x), and the refused rows."""
    made = kernel(E)
    found = steps(made, *(({"E": rows(*given)} if given else {}, mark) for given, mark in batches))
    changes = [(*line[:3], *line[4:6]) for step in found for line in plain_rows(step.changelog)]
    return changes, [line for step in found for line in plain_rows(step.refused["E"])]


def test_a_delete_out_of_order_ends_what_lived_at_its_own_time_and_nothing_newer():
    """The key is ended at 3 and lives again from 5; the delete at 3 arrives after both."""
    given = [("insert", 1, 10, 1), ("insert", 1, 20, 5), ("delete", 1, None, 3)]
    changes, refused = told((given, EARLIEST), ([], FOREVER))
    assert changes == [
        ("insert", 1, None, 1, 10),
        ("delete", 3, 3, 1, 10),
        ("insert", 5, None, 1, 20),
    ]
    assert not refused


def test_a_delete_whose_place_is_gone_is_late_and_destroys_nothing():
    changes, _ = told(
        ([("insert", 1, 10, 1), ("update_postimage", 1, 20, 5)], EARLIEST), ([], 8), ([("delete", 1, None, 3)], 8)
    )
    assert [change[0] for change in changes] == ["insert", "delete", "insert"]


def test_a_delete_twice_is_one():
    given = [("insert", 1, 10, 1), ("delete", 1, None, 3), ("delete", 1, None, 4)]
    changes, refused = told((given, EARLIEST), ([], FOREVER))
    assert [change[:2] for change in changes] == [("insert", 1), ("delete", 3)]
    assert not refused


def test_a_delete_before_its_insert_does_nothing():
    changes, refused = told(([("delete", 1, None, 2), ("insert", 1, 10, 4)], EARLIEST), ([], FOREVER))
    assert changes == [("insert", 4, None, 1, 10)]
    assert not refused


def test_at_one_time_rows_count_in_the_order_of_their_arrival():
    """Deleted, then inserted at 4: the key lives on with the new row. Inserted, then deleted at 6: nothing is sent."""
    given = [("insert", 1, 10, 1), ("delete", 1, None, 4), ("insert", 1, 20, 4)]
    given += [("insert", 2, 30, 6), ("delete", 2, None, 6)]
    changes, refused = told((given, EARLIEST), ([], FOREVER))
    assert changes == [("insert", 1, None, 1, 10), ("delete", 4, 4, 1, 10), ("insert", 4, None, 1, 20)]
    assert not refused


def test_a_key_that_lives_is_refused_in_this_batch_and_in_a_later_one():
    given = [("insert", 1, 10, 1), ("insert", 1, 20, 2), ("upsert", 2, 0, 3)]
    changes, refused = told((given, EARLIEST), ([], 5), ([("insert", 1, 30, 7)], 5), ([], FOREVER))
    assert [change[3:] for change in changes] == [(1, 10)]
    assert refused == [("insert", 1, 20, 2), ("upsert", 2, 0, 3), ("insert", 1, 30, 7)]


def test_ended_keys_are_forgotten():
    """A key a batch, each ended in the next: what is kept does not grow, in rows or in codes."""
    made, state = kernel(grouped(E, "max", "x")), None
    state = made.init()
    for number in range(200):
        batch = rows(("insert", number, 1, 2 * number), ("delete", number - 1, None, 2 * number))
        state = made.step(state, {"E": batch}, 2 * number + 1).state
    assert state.rows <= 8
    assert max(len(column) for column in state.head.values()) <= 8


def test_a_tuple_that_may_be_ended_needs_class_4():
    with pytest.raises(QueryError, match="SW-360"):
        kernel(window(E, 5))


def test_rows_without_a_time_have_no_place():
    (found,) = steps(kernel(S), ({"S": rows((1, 1, None), (2, 2, 5))}, LATEST))
    assert [row[3:] for row in plain_rows(found.changelog)] == [(2, 2, 5)]
