"""Punctuations stay at event times that were seen: worked out by hand, and against a search through all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.disorder import controller
from slackwater.disorder.budget.seen import MOST, Seen, scores
from slackwater.disorder.clock import LATEST
from slackwater.disorder.replay.replaying import batches_by_rows, replay
from slackwater.disorder.replay.yardsticks import best_of_constants
from slackwater.disorder.tally import Tally


def tally(*event: int) -> Tally:
    times = np.array(event)
    return Tally.of(times, times)


def entered(*batches: Tally) -> Seen:
    seen = Seen()
    for batch in batches:
        seen.enter(batch)
    return seen


def test_a_row_is_spared_up_to_the_next_event_time_above_it():
    seen = entered(tally(10, 40))
    before, now = seen.enter(tally(20, 30, 50))
    assert before.tolist() == [39, 39, LATEST - 1]
    assert now.tolist() == [29, 39, LATEST - 1]


def test_rows_that_share_their_event_time_are_spared_up_to_it():
    seen = entered(tally(10, 20, 40, 60, 80))
    before, _ = seen.enter(tally(20, 30, 30, 50))
    assert before.tolist() == [20, 30, 59]


def test_what_is_older_than_all_that_are_remembered_is_spared_up_to_its_own_time():
    seen = entered(tally(*range(10, 10 + MOST)))
    before, _ = seen.enter(tally(5, 10 + MOST))
    assert before.tolist() == [5, LATEST - 1]


def test_a_punctuation_stays_at_what_it_passes_but_not_far_behind_its_aim():
    seen = entered(tally(100, 200))
    delay = np.array([10.0, 10.0, 30.0])
    assert seen.below(np.array([115, 199, 199]), delay).tolist() == [100, 169, 109]
    assert seen.below(np.array([99, 200, 205]), delay).tolist() == [99, 200, 200]


def test_nothing_is_gained_between_timestamps_that_most_rows_share():
    seen = entered(tally(1_000, 1_000, 1_000, 2_000, 2_000))
    before, now = seen.enter(tally(1_500))
    assert before.tolist() == now.tolist() == [1_500]
    assert seen.below(np.array([1_700]), np.array([900.0])).tolist() == [1_700]


TIMES = st.lists(st.integers(0, 300), min_size=1, max_size=12, unique=True)


@given(first=TIMES, event=st.integers(0, 300), clock=st.integers(0, 400), delay=st.integers(0, 400))
def test_the_score_is_the_least_delay_with_which_a_row_is_on_time(first, event, clock, delay):
    """But for rows that share their event time and for those older than all others, of which it is the most."""
    seen = entered(tally(*first))
    spares, _ = entered(tally(*first)).enter(tally(event))
    least = int(scores(np.array([clock]), np.array([event]), spares)[0])
    late = event < int(seen.below(np.array([clock - delay]), np.array([float(delay)]))[0])
    assert late == (delay < least) or (not late and (event in first or event < min(first)))


@pytest.mark.parametrize("rows", [1, 2])
def test_a_sparse_stream_is_released_sooner_than_by_the_constant_that_loses_as_many(rows):
    """Four rows a second, a fifth of a second late on average: mostly nothing is held, and nothing need be passed."""
    rng = np.random.default_rng(4)
    event = np.cumsum(rng.exponential(250, 4_000)).astype(np.int64)
    arrival = event + rng.exponential(200, len(event)).astype(np.int64)
    order = np.argsort(arrival, kind="stable")
    batches = batches_by_rows(event[order], arrival[order], rows)
    _, found = replay(batches, controller(0.01, unit="ms"))
    assert found.late <= 40
    assert found.mean_hold < 0.97 * best_of_constants(batches, found.late).measures.mean_hold
