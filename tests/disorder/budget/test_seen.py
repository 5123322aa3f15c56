"""Punctuations stop at event times that were seen."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from slackwater.disorder.budget.seen import SeenTimes
from slackwater.disorder.tally import Tally

TIMES = st.lists(st.integers(0, 300), min_size=1, max_size=30)


def entered(*batches, most=100):
    seen = SeenTimes(most)
    for batch in batches:
        seen.enter(Tally.of(np.array(batch), np.array(batch)))
    return seen


@given(st.lists(TIMES, min_size=1, max_size=3), st.integers(-5, 320), st.integers(0, 400))
def test_the_last_event_time_up_to_the_aim_but_not_far_before_it(batches, aim, furthest):
    seen = entered(*batches)
    before = [time for batch in batches for time in batch if time <= aim]
    assert seen.below(aim, furthest) == (max(*before, aim - furthest, -1_000) if before else aim)


@given(TIMES, st.integers(-5, 320))
def test_stopping_there_releases_the_same_rows(times, aim):
    stopped = entered(times).below(aim, 1_000)
    assert [time for time in times if time <= stopped] == [time for time in times if time <= aim]


def test_only_the_newest_are_remembered():
    seen = entered(range(50), range(50, 100), most=10)
    assert seen.below(80, 1_000) == 80
    assert len(seen.fields()["seen_times"]) == 10
