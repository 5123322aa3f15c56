"""Which streams count as steady: the same all along, and no cliff at the level."""

import numpy as np
import pytest

from slackwater.disorder.budget.histogram import Histogram
from slackwater.disorder.budget.steady import Steadiness
from slackwater.disorder.budget.trials import MEMORIES


def judged(scores, half=30.0, twice=20.0):
    """Whether it was steady after each batch of 500 scores."""
    histogram, steadiness, found = Histogram(MEMORIES), Steadiness(), []
    for number, start in enumerate(range(0, len(scores), 500)):
        histogram.add(scores[start : start + 500], np.array([10**9]))
        steadiness.observe(histogram.survival(), 500, 500 * (number + 1), half, twice)
        found.append(steadiness.steady)
    return np.array(found)


@pytest.fixture
def scores():
    return (100 * (1 + np.random.default_rng(4).pareto(1.5, 40_000))).astype(np.int64)


def test_a_heavy_tail_that_does_not_change_is_steady_from_16000_rows_on(scores):
    found = judged(scores)
    assert not found[:31].any()
    assert found[31:].all()


def test_delays_that_grow_are_not_steady_until_the_change_is_long_ago(scores):
    found = judged(np.where(np.arange(40_000) < 25_000, scores, scores * 2))
    assert found[31:50].all()
    assert not found[54:].any()


def test_delays_that_are_longer_for_a_while_and_again_are_not_steady(scores):
    assert not judged(scores * np.where(np.arange(40_000) // 6_000 % 2, 3, 1))[40:].any()


def test_a_cliff_at_the_level_is_not_steady(scores):
    assert not judged(scores, half=30_000.0, twice=1_000.0).any()
    assert judged(scores, half=30_000.0, twice=0.0)[-1], "the level needs no delay, so half of it is no cliff of delays"


def test_rows_without_a_score_are_steady():
    assert judged(np.zeros(20_000, np.int64))[-1]


def test_what_is_known_survives_a_restart(scores):
    before, after = Steadiness(), Steadiness()
    histogram = Histogram(MEMORIES)
    histogram.add(scores, np.array([10**9]))
    before.observe(histogram.survival(), len(scores), len(scores), 3.0, 2.0)
    assert before.steady

    class Stored:
        number = staticmethod(before.fields().__getitem__)
        integer = staticmethod(before.fields().__getitem__)

    after.restore(Stored())
    assert after.fields() == before.fields()


def test_a_deviation_is_chance_on_a_steady_stream_and_before_that_is_known_and_not_where_delays_change():
    steadiness = Steadiness()
    assert steadiness.chance(15_999) == 1
    assert steadiness.chance(16_000) == 0
    steadiness.steady = True
    assert steadiness.chance(16_000) == 1
