"""Arithmetic at the ends of int64, against Python's integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from slackwater.disorder.clock import EARLIEST, LATEST, MANY, clamp, minus, ticks_per_second, times
from slackwater.errors import InputError

time = st.integers(EARLIEST, LATEST)


@given(left=st.lists(time, min_size=1, max_size=8), right=time)
@example(left=[EARLIEST, -1, 0], right=EARLIEST)
@example(left=[EARLIEST], right=1)
@example(left=[LATEST], right=-1)
def test_minus_saturates(left, right):
    expected = [clamp(each - right) for each in left]
    assert minus(np.array(left, np.int64), np.int64(right)).tolist() == expected
    assert minus(np.array(left, np.int64), np.full(len(left), right, np.int64)).tolist() == expected


@given(left=st.lists(time, min_size=1, max_size=4), right=time)
@example(left=[LATEST // 2, 0], right=-(LATEST // 2))
@example(left=[LATEST // 2 + 1, 0], right=-(LATEST // 2) - 2)
def test_minus_saturates_in_large_batches_too(left, right):
    often = np.resize(np.array(left, np.int64), MANY)
    expected = [clamp(each - right) for each in left]
    assert minus(often, np.int64(right)).tolist()[: len(left)] == expected


def test_units():
    assert [ticks_per_second(unit) for unit in ("us", "ms", "s")] == [1_000_000, 1_000, 1]
    with pytest.raises(InputError) as refused:
        ticks_per_second("hours")
    assert refused.value.code == "SW-420"


@pytest.mark.parametrize("wrong", [[1.5], [[1], [2]], ["now"], 7])
def test_only_rows_of_integers_are_times(wrong):
    with pytest.raises(InputError) as refused:
        times(wrong)
    assert refused.value.code == "SW-421"


def test_no_rows_are_times_of_any_type():
    assert times([]).dtype == np.int64
    assert times(np.array([3], np.int32)).dtype == np.int64
