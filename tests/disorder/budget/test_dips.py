"""The dips against a plain loop over every pair of moments."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.disorder.budget.histogram import LARGEST, DelayMemory, bucket
from slackwater.disorder.state import pack, unpack

batches = st.lists(st.lists(st.integers(-5, 2_000), max_size=12).map(sorted), min_size=1, max_size=12)


def dips_of(stream, dratio=0.1):
    dips = DelayMemory(dratio, 8_192.0)
    for batch in stream:
        dips.add(np.array(batch, np.int64), np.ones(len(batch), np.int64))
    return dips


def dip(stream, delay, dratio=0.1):
    """Return the largest fall of the account between two moments, for a punctuation that lags by `delay`."""
    late = np.cumsum([0, *(sum(score > delay for score in batch) for batch in stream)])
    rows = np.cumsum([0, *map(len, stream)])
    owed = late - dratio * rows
    return max(owed[end] - owed[start] for start in range(len(owed)) for end in range(start, len(owed)))


@settings(max_examples=60, deadline=None)
@given(batches, st.floats(0.0, 20.0))
def test_the_delay_is_the_shortest_whose_worst_fall_can_be_afforded(stream, most):
    found = dips_of(stream).affordable(most)
    place = int(bucket(np.array([int(found)]))[0])
    assert dip(stream, LARGEST[place]) <= most + 1e-9
    assert place == 0 or dip(stream, LARGEST[place - 1]) > most - 1e-9


def test_a_debt_affords_nothing_and_a_stream_in_order_needs_no_delay():
    late = [[0] * 90 + [400] * 10] * 5
    assert dips_of(late, 0.05).affordable(-5) == dips_of(late, 0.05).affordable(24) >= 400
    assert dips_of(late, 0.05).affordable(25) == 0, "each batch takes 10 and brings 5"
    assert dips_of(late, 0.2).affordable(0) == 0, "each batch brings more than it takes"
    assert dips_of([[0] * 100] * 5).affordable(0) == 0


@given(batches, batches)
def test_what_is_restored_goes_on_identically(stream, rest):
    first, second = dips_of(stream), DelayMemory(0.1, 8_192.0)
    second.restore(unpack(pack("dips", 1, first.fields()), "dips", 1))
    for batch in rest:
        for each in (first, second):
            each.add(np.array(batch, np.int64), np.ones(len(batch), np.int64))
    for most in (0, 1, 3, 9):
        assert first.affordable(most) == second.affordable(most)
