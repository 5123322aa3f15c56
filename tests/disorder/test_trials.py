"""How far each trial's level is corrected by its own losses, worked out by hand."""

import numpy as np
import pytest

from slackwater.disorder.tally import Tally
from slackwater.disorder.trials import ALL, MEMORIES, Trials

ROWS = 5_000


def trials(lost):
    """All trials stand at 100, and 5,000 rows come, of which so many are older, where 50 are allowed."""
    made = Trials(0.01)
    first = Tally.of(np.array([100]), np.array([100]))
    made.run(first, np.array([100.0, 100.0]), np.zeros((2, len(MEMORIES))), 0.01, 1.0, lambda aim, _: aim)
    made.count(Tally.of(np.where(np.arange(ROWS) < lost, 50, 150), np.full(ROWS, 200)))
    return made


def test_too_many_losses_lower_the_level_of_every_memory():
    assert trials(80).pressure(0.0) == pytest.approx(np.full(len(MEMORIES), -30 / 31.5))
    assert trials(80).pressure(1.0) == pytest.approx(np.full(len(MEMORIES), -30 / 31.5))


def test_too_few_losses_raise_that_of_all_history_beyond_a_deviation():
    pressure = trials(42).pressure(1.0)
    assert pressure[:ALL] == pytest.approx(np.full(ALL, 8 / 31.5))
    assert pressure[ALL] == pytest.approx((8 - np.sqrt(50)) / 31.5)
    assert trials(42).pressure(0.0)[ALL] == pytest.approx(8 / 31.5)


def test_a_few_losses_less_than_allowed_are_chance():
    assert trials(45).pressure(1.0)[ALL] == 0
