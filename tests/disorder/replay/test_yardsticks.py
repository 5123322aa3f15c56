"""Yardsticks against every possible answer, on cases small enough to try them all."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.disorder.replay.optimum import optimum
from slackwater.disorder.replay.replaying import batches_by_rows, measure
from slackwater.disorder.replay.yardsticks import best_constant, best_of_constants, best_per_interval
from slackwater.testing import disordered as streams

pytestmark = pytest.mark.long


def total_hold(measures):
    return measures.mean_hold * (measures.rows - measures.late)


@st.composite
def small_streams(draw, rows=7):
    count = draw(st.integers(2, rows))
    arrival = np.cumsum(np.array(draw(st.lists(st.integers(0, 4), min_size=count, max_size=count)), np.int64))
    delay = np.array(draw(st.lists(st.integers(0, 9), min_size=count, max_size=count)), np.int64)
    return batches_by_rows(arrival - delay, arrival, draw(st.integers(1, 3)))


def every_punctuation(batches):
    """Return all non-decreasing punctuations that differ in effect: at an event time, or just above it."""
    levels = sorted({int(e) for e in batches.event} | {int(e) + 1 for e in batches.event})
    return itertools.combinations_with_replacement([levels[0] - 1, *levels], len(batches.ends))


@settings(max_examples=60, deadline=None)
@given(small_streams(5))
def test_the_optimum_is_the_lower_hull_of_everything_possible(batches):
    least = {}
    for punctuation in every_punctuation(batches):
        found = measure(batches, np.array(punctuation, np.int64))
        least[found.late] = min(least.get(found.late, np.inf), total_hold(found))
    for late in range(len(batches.event)):
        hull = max(
            min(hold + price * (lost - late) for lost, hold in least.items()) for price in [0.0, *_slopes(least)]
        )
        assert optimum(batches, late).hold == pytest.approx(max(0.0, hull), abs=1e-3)


def _slopes(least):
    pairs = itertools.combinations(least.items(), 2)
    return [abs((hold - other) / (more - late)) for (late, hold), (more, other) in pairs]


@settings(max_examples=60, deadline=None)
@given(small_streams(), st.integers(0, 4), st.sampled_from(["now", "newest"]))
def test_no_smaller_constant_keeps_the_rows(batches, late, form):
    found = best_constant(batches, late, form)
    assert found.measures.late <= late
    clock = batches.clock if form == "now" else np.maximum.accumulate(batches.event)[batches.ends - 1]
    latest = np.maximum.accumulate(batches.event)[batches.ends - 1]
    for delay in range(-3, max(-3, found.delay)):
        shorter = measure(batches, np.minimum(clock - delay, latest))
        assert shorter.late > late or total_hold(shorter) >= total_hold(found.measures)


@settings(max_examples=30, deadline=None)
@given(small_streams(6), st.integers(0, 3))
def test_yardsticks_are_ordered(batches, late):
    constant = best_of_constants(batches, late)
    interval = best_per_interval(batches, late, intervals=3)
    for found in (constant, interval):
        if found.measures.late <= late:
            assert optimum(batches, found.measures.late).hold <= total_hold(found.measures) + 1e-6


def test_one_price_beats_one_constant_where_delays_drift():
    stream = streams.lognormal_drift(20_000, rate=50.0, seed=4)
    batches = batches_by_rows(stream.event, stream.arrival, 64)
    constant = best_of_constants(batches, 200)
    interval = best_per_interval(batches, 200)
    best = optimum(batches, 200)
    assert interval.measures.late <= 200
    assert best.mean_hold < interval.measures.mean_hold < 0.8 * constant.measures.mean_hold


def test_a_lost_row_costs_what_it_would_have_held_back():
    # Ten rows on time, one that is 100 ticks late: losing it saves the others from waiting for it.
    event = np.array([0, 10, 11, 12, 13, 14, 15, 16, 17, 18, 1], np.int64)
    arrival = np.array([0, 10, 11, 12, 13, 14, 15, 16, 17, 18, 101], np.int64)
    batches = batches_by_rows(event, arrival, 1)
    assert optimum(batches, 1).hold == pytest.approx(0.0)
    assert optimum(batches, 0).hold == pytest.approx(sum(101 - a for a in range(10, 19)))


def test_far_future_rows_do_not_move_the_newest_form():
    stream = streams.far_future(streams.normal(20_000, seed=1), one_in=1_000)
    batches = batches_by_rows(stream.event, stream.arrival, 64)
    honest = stream.event - stream.arrival < 300_000
    assert best_constant(batches, 200, "newest", honest).measures.mean_hold < 20_000
