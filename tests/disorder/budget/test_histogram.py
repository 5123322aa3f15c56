"""The memory against plain counting."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.disorder.budget.histogram import LARGEST, DelayMemory, bucket


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=50))
def test_a_bucket_holds_its_scores_within_its_width(scores):
    score = np.array(scores, np.int64)
    place = bucket(score)
    assert ((place == 0) == (score <= 0)).all()
    over = score > 0
    assert (LARGEST[place][over] >= score[over].astype(float) * (1 - 1e-12)).all()
    assert (LARGEST[place][over] <= score[over].astype(float) * 1.016 + 1).all()


def remembered(*batches):
    memory = DelayMemory(0.1, 8_192.0)
    for batch in batches:
        memory.add(np.array(batch), np.ones(len(batch), np.int64))
    return memory


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 5_000), min_size=20, max_size=200), st.floats(0.03, 0.5))
def test_a_delay_is_the_quantile_to_within_a_bucket(scores, level):
    score = np.array(scores, np.int64)
    found = remembered(score).delay(level)
    # Half a row counts as above all, and inside a bucket the share falls off evenly.
    assert np.mean(score > found * 1.017 + 1) <= level
    assert np.mean(score >= found / 1.017 - 1) >= level - 1 / len(score)


def test_a_level_that_cannot_be_read_off_stretches_the_longest_delay():
    memory = remembered(np.arange(1, 101))
    longest = LARGEST[bucket(np.array([100]))[0]]
    assert memory.delay(0.005 / 1.44, stretch=1.5) == pytest.approx(1.2 * longest)
    assert memory.delay(1e-9, stretch=1.5) == pytest.approx(1.5 * longest)
    assert memory.delay(1e-9) == longest


def test_rows_in_order_need_no_delay():
    assert remembered(np.zeros(100, np.int64), np.full(100, -7)).delay(1e-6, stretch=2.0) == 0


def test_batches_add_up():
    memory = remembered(np.full(1_000, 10), np.full(1_000, 5_000))
    assert memory.rows == 2_000
    assert memory.share_above(100) == pytest.approx(0.5)
    assert memory.delay(0.6) < 20 < 4_000 < memory.delay(0.01)


def test_recent_rows_are_forgotten_at_their_own_pace():
    memory = DelayMemory(0.1, 100.0)
    for score in (5_000, 10):
        memory.add(np.full(1_000, score), np.ones(1_000, np.int64))
    assert memory.recent_delay(0.01) < 20 < 4_000 < memory.delay(0.01)
