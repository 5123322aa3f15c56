"""What is kept is in proportion to what is open: rows in segments are counted, and codes of groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.engine.chains import batch, every, grouped, kernel, ticks, tuples, window

from slackwater.engine.columns.state import FEW, State

ROWS, BATCHES = 500, 20
RANGE, KEYS, BEHIND = 700, 5, 90
"""A row every tick; the punctuation is BEHIND ticks behind the last row."""


def states(*steps: dict[str, Any], keys: int = KEYS, churn: bool = False) -> list[State]:
    """Return the state after each batch; with `churn` the keys of a batch never come again."""
    rng = np.random.default_rng(3)
    fused, found = kernel(*steps), []
    state = fused.init()
    for number in range(BATCHES):
        times = np.arange(number * ROWS, (number + 1) * ROWS)
        group = rng.integers(0, keys, ROWS) + (number * keys if churn else 0)
        state = fused.step(state, batch(group, rng.random(ROWS), times), int(times[-1]) + 1 - BEHIND).state
        found.append(state)
    return found


def most(found: list[State], store: str) -> int:
    """Return the most rows that a store ever held, once the stream was under way."""
    return max(state.stores[store].size for state in found[5:])


OPEN = {
    "rows of the last RANGE ticks": ([window(ticks(RANGE)), grouped("avg")], "1.sums", RANGE),
    "the last RANGE rows": ([window(tuples(RANGE)), grouped("avg")], "1.sums", RANGE),
    "the last 10 rows of each part": ([window(tuples(10), tuples(1), "k"), grouped("sum")], "1.sums", 10 * KEYS),
    "rows that can be the first": ([window(ticks(RANGE)), grouped("first")], "1.first.a0", RANGE),
    "distinct values in the window": (
        [window(ticks(RANGE)), grouped("count", "k", (), distinct=True)],
        "1.distinct.a0",
        KEYS,
    ),
    "the last row of each slot and part": ([every(ticks(100), "k")], "1", KEYS),
    "rows of the last window (W > F)": ([window(tuples(RANGE), tuples(50))], "1.rows", RANGE),
    "rows of the next window (W < F)": ([window(tuples(150), tuples(400))], "1.rows", 60),
    "rows that a later row may see": ([window(ticks(RANGE), tuples(50))], "1.rows", RANGE),
    "the last rows before a boundary": ([window(tuples(30), ticks(400))], "1.rows", 30),
    "rows of open extents": ([window(ticks(RANGE), ticks(100))], "0.rows", RANGE + 100),
}


@pytest.mark.parametrize("name", OPEN)
def test_rows_are_kept_while_a_window_to_come_holds_them(name: str):
    steps, store, open_ = OPEN[name]
    assert open_ / 2 <= most(states(*steps), store) <= 2 * open_ + 1


PANES = {
    "panes of W > F": ([window(tuples(RANGE), tuples(50)), grouped("avg")], "1.sums", KEYS * RANGE // 50),
    "panes of extents": ([window(ticks(RANGE), ticks(100)), grouped("avg")], "0.sums", KEYS * RANGE // 100),
    "extents that do not overlap": ([window(ticks(100), ticks(100)), grouped("avg")], "0.sums", KEYS),
}


@pytest.mark.parametrize("name", PANES)
def test_of_rows_that_come_and_go_together_one_tally_per_group_is_kept(name: str):
    steps, store, panes = PANES[name]
    assert most(states(*steps), store) <= 2 * (panes + KEYS) + FEW < RANGE


def test_rows_wait_only_for_the_punctuation():
    assert most(states(window(ticks(RANGE)), grouped("avg")), "hold") <= 2 * BEHIND


def test_rows_that_no_window_will_hold_are_never_kept():
    """CSQL's jump_to: after every 400th row, 250 rows go by that the next window of 150 rows does not hold."""
    found = states(window(tuples(150), tuples(400)))
    released = [ROWS * (number + 1) - BEHIND for number in range(BATCHES)]
    assert [state.stores["1.rows"].size for state in found] == [max(0, count % 400 - 250) for count in released]


def test_of_maxima_only_those_that_nothing_later_exceeds_are_kept():
    """In random order about ln(n) of n rows are greater than all that follow: far fewer than the window has."""
    assert most(states(window(ticks(RANGE)), grouped("max")), "1.max.a0") < RANGE / 4


def test_without_an_aggregate_a_row_level_window_keeps_nothing():
    assert max(state.rows for state in states(window(ticks(RANGE)))) <= 2 * BEHIND


@pytest.mark.parametrize("function", ["avg", "max", "first", "last", "count"])
@pytest.mark.parametrize("jump", [tuples(1), tuples(50), ticks(100)])
def test_groups_that_have_gone_are_forgotten(function: str, jump: dict[str, int]):
    found = states(window(ticks(RANGE), jump), grouped(function), churn=True)
    sizes = [len(state.piece("head")) for state in found]
    assert max(sizes[10:]) <= 1.2 * max(sizes[5:10])
    assert found[-1].rows <= max(state.rows for state in found[5:10])


def test_counts_of_parts_are_kept_only_in_the_middle_of_a_count():
    """Every part has had 500 rows, a multiple of 10: all are as good as new."""
    fused = kernel(every(tuples(10), "k"))
    state = fused.init()
    for number in range(4):
        times = np.arange(number * ROWS, (number + 1) * ROWS)
        state = fused.step(state, batch(np.full(ROWS, number), np.ones(ROWS), times), int(times[-1]) + 1).state
    assert len(state.head["1.count"]) == 0
