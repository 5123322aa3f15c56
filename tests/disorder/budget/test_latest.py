"""The latest rows ask for a longer delay than the memories when delays have just grown."""

import numpy as np
import pytest

from slackwater.disorder.budget.latest import Latest, ages, raised
from slackwater.disorder.tally import LAST, Tally

SHARE = raised(0.01, 256, surprise=3.0)


def entered(rows, length=0):
    latest = Latest()
    latest.enter(np.asarray(rows), length)
    return latest


def test_a_few_late_rows_are_chance_and_many_are_not():
    calm = entered(np.zeros(1_000, np.int64))
    assert calm.delay(256, SHARE) == 0
    few = entered(np.where(np.arange(1_000) > 996, 5_000, 0))
    assert few.delay(256, SHARE) == 0
    many = entered(np.where(np.arange(1_000) > 960, 5_000, 0))
    assert many.delay(256, SHARE) == 5_000


def test_the_next_batch_is_as_long_as_the_shortest_of_the_latest():
    latest = entered(np.full(300, 5_000), length=6_000)
    assert latest.delay(256, SHARE) == 5_000, "at the start it may come at once"
    for _ in range(15):
        latest.enter(np.full(300, 5_000), 6_000)
    assert latest.delay(256, SHARE) == 2_000
    latest.enter(np.full(300, 5_000), 1_000)
    assert latest.delay(256, SHARE) == 4_500


def test_too_few_rows_ask_for_nothing():
    assert entered(np.full(100, 5_000)).delay(256, SHARE) == 0


@pytest.mark.parametrize("rows", [3, LAST + 5])
def test_ages_are_measured_from_the_clock_at_each_arrival(rows):
    event, arrival = np.arange(rows) * 10, np.arange(rows) * 10 + 4
    event[-1] = 0
    found = ages(Tally.of(event, arrival), now=-100, newest=-100, offset=4)
    expected = [0] * (rows - 1) + [(rows - 2) * 10]
    assert found.tolist() == expected[-LAST:]


def test_a_row_ahead_of_the_arrival_clock_does_not_age_the_others():
    event, arrival = np.array([0, 10_000, 20]), np.array([4, 14, 24])
    assert ages(Tally.of(event, arrival), now=-100, newest=-100, offset=4).tolist() == [0, -9_990, 0]
