"""How many of the latest rows had been sent before a stream began, and how many are later than it is old."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.disorder.histogram import BUCKETS, bucket
from slackwater.disorder.start import Start
from slackwater.disorder.tally import Tally


def one(event, arrival):
    return Tally.of(np.array([event]), np.array([arrival]))


def aged(*rows):
    """A stream of single rows, event time and arrival, that began at 0."""
    start = Start()
    start.begin(one(0, 0))
    for event, arrival in rows:
        start.enter(one(event, arrival), arrival, 0)
    return start


@pytest.mark.parametrize(
    ("rows", "share"),
    [
        ([], 0.0),
        ([(-5, 1_000)], 1.0),
        ([(-5, 1_000), (1_000, 1_001), (1_002, 1_003), (-7, 1_004)], 0.5),
        ([(-5, 1_000), (1_100, 1_100)], 0.5),
        ([(-5, 1_000), (1_100, 1_100), (1_300, 1_300)], 0.0),
        ([(-5, 1_000), (2_000, 2_000)], 0.0),
    ],
)
def test_it_is_the_share_of_the_latest_two_steps_of_age(rows, share):
    assert aged(*rows).sent_before == share


@given(st.lists(st.tuples(st.integers(-100, 100), st.integers(0, 2_000)), min_size=1, max_size=30))
def test_a_first_batch_counts_as_its_rows_one_by_one(rows):
    event, arrival = np.array([(0, 0), *sorted(rows, key=lambda row: row[1])]).T
    whole = Start()
    whole.begin(Tally.of(event, arrival))
    single = aged(*zip(event[1:].tolist(), arrival[1:].tolist(), strict=True))
    assert whole.sent_before == single.sent_before


def watched(delay, age, rate=10):
    """What a stream of this age has shown of rows with these delays, so many of them a tick, in random order."""
    event = np.arange(len(delay)) // rate
    shown = event + delay <= age
    start = Start()
    start.count(Tally.of(np.sort(event[shown]), event[shown]), 0)
    return start, np.bincount(bucket(delay[shown]), minlength=BUCKETS).astype(float)


def later(delay, age, *, released=False, **stream):
    start, counts = watched(delay, age, **stream)
    return start.later(counts, age, released=released)


RNG = np.random.default_rng(12)
PARETO = (100 * RNG.random(2_000_000) ** (-1 / 1.5)).astype(np.int64)
NORMAL = np.maximum(RNG.normal(3_000, 1_000, 2_000_000), 0).astype(np.int64)


@pytest.mark.parametrize("age", [2_000, 10_000])
def test_a_heavy_tail_goes_on_as_it_is(age):
    assert later(PARETO, age) == pytest.approx(np.mean(age < PARETO), rel=0.5)


@pytest.mark.parametrize("age", [5_000, 5_500, 6_000])
def test_of_a_light_tail_too_much_is_expected_but_not_for_long(age):
    truth = np.mean(age < NORMAL)
    assert truth <= later(NORMAL, age) <= 6 * truth + 0.001


@pytest.mark.parametrize("age", [1_000, 2_000, 3_000])
def test_as_long_as_longer_delays_are_no_rarer_the_bulk_is_to_come(age):
    assert later(NORMAL, age) > 0.3


def test_a_second_mode_that_shows_up_is_no_bulk_once_rows_were_released():
    slow = np.where(RNG.random(1_000_000) < 0.015, RNG.integers(20_000, 60_000, 1_000_000), 0) + 100
    assert later(slow, 30_000, released=True) < 0.02
    assert later(slow, 30_000) > 0.015


def test_between_whole_seconds_no_rows_are_missing():
    """Delays of whole seconds, up to 19: an eighth of an octave below 7.9 s has none because none can be there."""
    start, counts = watched(RNG.integers(0, 20, 400_000) * 1_000, 7_900)
    assert start.later(counts, 7_900, released=True, grain=1_000) == pytest.approx(0.6, rel=0.2)
    assert start.later(counts, 7_900, released=True) < 0.01


def test_where_nothing_is_late_nothing_is_to_come():
    assert later(np.full(100_000, 3), 9_000) == 0.0


@pytest.mark.parametrize("age", [0, 1, 2, 3])
def test_a_stream_of_few_ticks_has_shown_nothing(age):
    assert later(np.arange(1_000) % 3, age) in (0.0, 1.0)
