"""A batch that was added up says the same to a controller as its rows, one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.disorder import controller
from slackwater.disorder.clock import EARLIEST
from slackwater.disorder.controller import Tallies
from slackwater.disorder.tally import LAST, UNKNOWN, Tally

batches = st.lists(st.integers(0, 3_000), min_size=1, max_size=12)


@settings(max_examples=40, deadline=None)
@given(sizes=batches, seed=st.integers(0, 2**32), pace=st.sampled_from([0, 1, 40]), scale=st.sampled_from([0, 5, 900]))
def test_a_controller_takes_tallies_for_rows(sizes, seed, pace, scale):
    rng = np.random.default_rng(seed)
    by_rows, by_tallies = controller(0.01, unit="ms"), controller(0.01, unit="ms")
    clock = 1_000_000
    for size in sizes:
        arrival = clock + np.cumsum(rng.integers(0, pace + 1, size))
        event = arrival - (rng.exponential(scale, size)).astype(np.int64)
        clock = int(arrival.max(initial=clock))
        late = int(np.count_nonzero(event < by_tallies.progress.punctuation))
        expected = by_rows.observe(event, arrival)
        if by_tallies.tallies is Tallies.NOW:
            found = by_tallies.enter(added_up(event, arrival) if size else None, late)
        else:
            found = by_tallies.observe(event, arrival)
        assert found == expected
        assert by_tallies.progress == by_rows.progress
    assert by_tallies.state() == by_rows.state()


def added_up(event, arrival):
    """Return a tally of rows that has counts of delays instead of the rows themselves."""
    delay, count = np.unique(arrival - event, return_counts=True)
    return replace(Tally.of(event, arrival), delay=delay, delay_count=count, rows=UNKNOWN)


@pytest.mark.parametrize("rows", [1, LAST, LAST + 1, 3 * LAST])
def test_the_last_rows_are_known_and_what_came_before_them(rows):
    event, arrival = np.arange(rows)[::-1] + 5, np.arange(rows) + 50
    tally = Tally.of(event, arrival)
    assert tally.last_event.tolist() == event.tolist()[-LAST:]
    assert (tally.newest_before, tally.clock_before) == (
        (EARLIEST, EARLIEST) if rows <= LAST else (rows + 4, rows + 49 - LAST)
    )


@given(delays=st.lists(st.integers(-5, 5), min_size=1), data=st.data())
def test_the_rank_of_a_delay_is_that_of_the_sorted_delays(delays, data):
    rank = data.draw(st.integers(0, len(delays) - 1))
    event = np.zeros(len(delays), np.int64)
    tally = Tally.of(event, np.array(delays))
    assert tally.delay_at(rank) == added_up(event, np.array(delays)).delay_at(rank) == sorted(delays)[rank]
