"""How many rows are later than a stream is old, by what it has shown: held against what is true."""

import numpy as np
import pytest

from slackwater.disorder.budget.histogram import BUCKETS, bucket
from slackwater.disorder.budget.tail import beyond


def counts(ticks):
    return np.bincount(bucket(ticks), minlength=BUCKETS).astype(float)


def later(delay, age, *, released=False, grain=1, rate=10):
    """For a stream of this age that has rows with these delays, so many of them a tick, in random order."""
    event = np.arange(len(delay)) // rate
    shown = event + delay <= age
    return beyond(counts(delay[shown]), counts(event[shown]), age, released=released, grain=grain)


RNG = np.random.default_rng(12)
ROWS = 2_000_000
PARETO = (100 * RNG.random(ROWS) ** (-1 / 1.5)).astype(np.int64)
NORMAL = np.maximum(RNG.normal(3_000, 1_000, ROWS), 0).astype(np.int64)
WIDE = np.maximum(RNG.normal(3_000, 5_000, ROWS), 0).astype(np.int64)
LOG_NORMAL = np.exp(RNG.normal(6.5, 0.8, ROWS)).astype(np.int64)
EXPONENTIAL = RNG.exponential(1_000, ROWS).astype(np.int64)


@pytest.mark.parametrize("age", [2_000, 10_000])
def test_a_heavy_tail_goes_on_as_it_is(age):
    assert later(PARETO, age) == pytest.approx(np.mean(age < PARETO), rel=0.5)


@pytest.mark.parametrize(
    ("delay", "age"),
    [
        *((NORMAL, age) for age in (4_000, 4_500, 5_000, 5_500, 6_000)),
        *((WIDE, age) for age in (9_000, 11_000, 13_000, 16_000)),
        *((LOG_NORMAL, age) for age in (2_500, 4_000, 6_000)),
        *((EXPONENTIAL, age) for age in (3_000, 5_000, 7_000)),
    ],
)
def test_of_a_light_tail_too_much_is_expected_but_not_for_long(delay, age):
    truth = np.mean(age < delay)
    assert truth <= later(delay, age) <= 6 * truth


@pytest.mark.parametrize("age", [4_500, 5_000, 5_500, 6_000])
def test_a_normal_tail_goes_on_as_it_bends(age):
    truth = np.mean(age < NORMAL)
    assert truth <= later(NORMAL, age) <= 2.5 * truth


@pytest.mark.parametrize("age", [1_000, 2_000, 3_000])
def test_as_long_as_longer_delays_are_no_rarer_the_bulk_is_to_come(age):
    assert later(NORMAL, age) > 0.3


def test_what_a_few_rows_look_like_is_not_taken_for_the_end_of_the_bulk():
    """Half of the bulk is to come, or more; looked at two hundred times, some looks are steep by chance."""
    looks = [later(RNG.permutation(WIDE)[:200_000], age) for age in range(400, 4_400, 20)]
    assert np.mean(np.array(looks) < 0.075) < 0.01


def test_a_second_mode_that_shows_up_is_no_bulk_once_rows_were_released():
    slow = np.where(RNG.random(1_000_000) < 0.015, RNG.integers(20_000, 60_000, 1_000_000), 0) + 100
    assert later(slow, 30_000, released=True) < 0.02
    assert later(slow, 30_000) > 0.015


def test_between_the_grains_no_rows_are_missing():
    """Delays of 0, 2, ... 38 s: a quarter of an octave below 7.9 s has none because none can be there."""
    seconds = RNG.integers(0, 20, 400_000) * 2_000
    assert later(seconds, 7_900, released=True, grain=2_000) > 0.4
    assert later(seconds, 7_900, released=True) < 0.01


def test_where_nothing_is_late_nothing_is_to_come():
    assert later(np.full(100_000, 3), 9_000) == 0.0


@pytest.mark.parametrize("age", [0, 1, 2, 3])
def test_a_stream_of_few_ticks_has_shown_nothing(age):
    assert later(np.arange(1_000) % 3, age) in (0.0, 1.0)
