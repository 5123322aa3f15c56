"""How many of the latest rows had been sent before a stream began."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.disorder.budget.start import Start
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
