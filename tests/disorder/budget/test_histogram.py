"""The histogram against plain counting."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.disorder.budget.histogram import LARGEST, Histogram, beyond_each, bucket, delays


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=50))
def test_a_bucket_holds_its_scores_within_its_width(scores):
    score = np.array(scores, np.int64)
    place = bucket(score)
    assert ((place == 0) == (score <= 0)).all()
    over = score > 0
    assert (LARGEST[place][over] >= score[over].astype(float) * (1 - 1e-12)).all()
    assert (LARGEST[place][over] <= score[over].astype(float) * 1.016 + 1).all()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 5_000), min_size=20, max_size=200), st.floats(0.02, 0.5))
def test_a_delay_is_the_quantile_to_within_a_bucket(scores, level):
    score = np.array(scores, np.int64)
    histogram = Histogram([1e12])
    histogram.add(score, np.full(len(score), 10**9))
    found = delays(histogram.survival(), histogram.highest(), histogram.weight(), np.array([[level]]))[0, 0]
    # Half a row counts as above all, and inside a bucket the share falls off evenly.
    assert np.mean(score > found * 1.017 + 1) <= level
    assert np.mean(score >= found / 1.017 - 1) >= level - 1 / len(score)


def test_memories_forget_at_their_own_pace():
    histogram = Histogram([100.0, 1e12])
    old = np.array([10**9])
    histogram.add(np.full(1_000, 5_000), old)
    histogram.add(np.full(1_000, 10), old)
    short, long = histogram.survival()[:, bucket(np.array([100]))[0]]
    assert short < 0.001
    assert long == pytest.approx(0.5)


def test_exposure_corrects_what_a_young_stream_cannot_have_shown():
    # Half of all rows take 500 ticks: in the first 500 ticks none of them has arrived.
    rng = np.random.default_rng(3)
    event = np.arange(4_000)
    delay = np.where(rng.random(4_000) < 0.5, 500, 0)
    order = np.argsort(event + delay, kind="stable")
    arrived = order[(event + delay)[order] < 1_000]
    histogram = Histogram([1e12])
    histogram.add(delay[arrived], (event + delay)[arrived])
    naive = np.mean(delay[arrived] > 100)
    corrected = histogram.survival()[0, bucket(np.array([100]))[0]]
    assert naive < 0.4
    assert corrected == pytest.approx(0.5, abs=0.06)


def test_a_shift_moves_every_score():
    histogram = Histogram([1e12])
    histogram.add(np.array([0, 10, 1_000]), np.array([10**6]))
    histogram.shift(500)
    assert histogram.count[0, bucket(np.array([510]))[0]] == 1
    assert histogram.count[0, bucket(np.array([1_500]))[0]] == 1
    assert histogram.count[0, 0] == 1


def test_rows_beyond_a_delay_are_counted_for_as_long_as_they_are():
    score = np.random.default_rng(8).exponential(1_000, 100_000).astype(np.int64)
    histogram = Histogram([1e12])
    histogram.add(score, np.array([10**6]))
    found = beyond_each(histogram.survival()[0])[bucket(np.array([2_000]))[0]]
    assert found == pytest.approx(np.maximum(score - 2_000, 0).mean(), rel=0.03)
