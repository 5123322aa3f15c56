"""VSeq against a plain list."""

from __future__ import annotations

from statistics import fmean, pstdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.disorder.papers.vseq import LARGEST, VSeq
from slackwater.disorder.state import pack, unpack

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


def pushed_one_by_one(values):
    vseq = VSeq()
    for number, value in enumerate(values):
        vseq.push(np.array([number]), np.array([value]))
    return vseq.moments()


@pytest.mark.parametrize("scale", [1, 10**9])
def test_an_outlier_leaves_no_trace_once_it_has_left(scale):
    """Taking the square of 10^17 away again must not leave its rounding behind."""
    values = np.random.default_rng(0).integers(0, 10, 40) * scale
    values[4] = 10**17
    found = pushed_one_by_one(values)
    assert found.sigma == pytest.approx(pstdev(values[-30:].tolist()), rel=1e-9)
    assert found.base + found.offset == pytest.approx(values[-30:].mean(), rel=1e-9)


def test_a_new_level_is_measured_from_itself():
    """The sums were built when most rows were at the old level; now all are at a new one, far off."""
    values = np.where(np.arange(46) < 16, 0, 10**15) + np.arange(46) % 3
    found = pushed_one_by_one(values)
    assert found.sigma == pytest.approx(pstdev(values[-30:].tolist()), rel=1e-9)


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
