"""VSeq against a plain list."""

from __future__ import annotations

from statistics import fmean, pstdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.disorder.state import pack, unpack
from slackwater.disorder.vseq import LARGEST, VSeq

step = st.tuples(st.sampled_from(["push", "push", "push", "resize"]), st.integers(0, 90))


@settings(max_examples=80, deadline=None)
@given(steps=st.lists(step, max_size=25), scale=st.sampled_from([1, 10**6, 10**15]), seed=st.integers(0, 99))
def test_moments_are_those_of_the_latest_n_rows(steps, scale, seed):
    rng = np.random.default_rng(seed)
    vseq, rows, n, clock = VSeq(), [], 30, 0
    for what, size in steps:
        if what == "resize":
            vseq.resize(size)
            n = max(30, size)
        else:
            value = scale + rng.integers(0, scale + 1, size)
            arrival = clock + np.arange(size)
            clock += size
            vseq.push(arrival, value)
            rows += zip(arrival.tolist(), value.tolist(), strict=True)
        rows = rows[-n:]
        assert len(vseq) == len(rows)
        assert vseq.ready == (len(rows) == n)
        if rows:
            check(vseq.moments(), rows)


def check(found, rows):
    values = [value for _, value in rows]
    assert found.base + found.offset == pytest.approx(fmean(values), rel=1e-12)
    assert found.sigma == pytest.approx(pstdev(values), rel=1e-6, abs=1e-6)
    assert found.newest == rows[-1][0]
    assert found.theta == pytest.approx((rows[-1][0] - rows[0][0]) / len(rows))


def test_an_outlier_leaves_no_trace_once_it_has_left():
    """Row by row: taking the square of 10^17 away again must not leave its rounding behind."""
    vseq, quiet = VSeq(), np.array([3, 5])
    for number in range(40):
        outlier = number == 4
        value = np.array([10**17]) if outlier else quiet[number % 2 : number % 2 + 1]
        vseq.push(np.array([number]), value)
    assert vseq.moments().sigma == pytest.approx(1.0)
    assert vseq.moments().base + vseq.moments().offset == pytest.approx(4.0)


def test_rounding_does_not_add_up_over_a_long_stream():
    rng = np.random.default_rng(0)
    offset = 9 * 3_600 * 10**6  # clocks nine hours apart, in microseconds
    vseq = VSeq()
    value = offset + rng.integers(0, 1_000, 20_000)
    for start in range(0, 20_000, 2):
        vseq.push(np.arange(start, start + 2), value[start : start + 2])
    assert vseq.moments().sigma == pytest.approx(value[-30:].std(), rel=1e-9)


def test_it_never_keeps_more_than_its_largest_size():
    vseq = VSeq()
    vseq.resize(float("inf"))
    assert vseq.n == LARGEST
    vseq.push(np.arange(2 * LARGEST), np.arange(2 * LARGEST))
    assert len(vseq) == LARGEST
    assert vseq.moments().theta == (LARGEST - 1) / LARGEST


def test_it_goes_through_bytes():
    vseq = VSeq()
    vseq.push(np.arange(50), np.arange(50) % 7)
    again = VSeq.of(unpack(pack("vseq", 1, vseq.fields()), "vseq", 1))
    for each in (vseq, again):
        each.push(np.arange(50, 53), np.array([9, 1, 4]))
    assert again.moments() == vseq.moments()
