"""Each estimator against its definition, written row by row as plainly as Python allows."""

from __future__ import annotations

from math import ceil, floor, sqrt
from statistics import NormalDist, fmean, pstdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.disorder import ESTIMATORS, NO_PUNCTUATION


class AdaptiveByRow:
    """ADC figure 3; the latest rows are a list of pairs."""

    def __init__(self, dratio):
        self.c = NormalDist().inv_cdf(1 - dratio) ** 2
        self.rows, self.n, self.punctuation = [], 30, NO_PUNCTUATION

    def batch(self, pairs):
        for event, arrival in pairs:
            self.rows = [*self.rows, (event, arrival)][-self.n :]
        if pairs and len(self.rows) == self.n:
            self.estimate()
        return self.punctuation

    def estimate(self):
        delays = [arrival - event for event, arrival in self.rows]
        mu, sigma = fmean(delays), pstdev(delays)
        newest, oldest = self.rows[-1][1], self.rows[0][1]
        theta = max(0, newest - oldest) / self.n
        if theta == 0:
            n, region = 65_536 if sigma else 30, sqrt(2 * self.c) * sigma
        else:
            n = 30
            while (n + 1) ** 2 - self.c * (n + 1) - 2 * self.c * sigma**2 / theta**2 < 0:
                n += 1
            region = n * theta
        self.punctuation = max(self.punctuation, newest - ceil(mu + region))
        self.n = min(n, 65_536)
        self.rows = self.rows[-self.n :]


class AdHocByRow(AdaptiveByRow):
    """ADC figure 4; a tick is a second here."""

    def __init__(self, dratio):
        super().__init__(dratio)
        self.dratio = dratio

    def estimate(self):
        stamps = [event for event, _ in self.rows]
        mu, sigma = fmean(stamps), pstdev(stamps)
        theta = max(0, self.rows[-1][1] - self.rows[0][1]) / self.n
        self.punctuation = max(self.punctuation, floor(mu - sigma + 2 * self.dratio * sigma))
        self.n = min(65_536, floor(30 + sigma * sqrt(self.c) * theta))
        self.rows = self.rows[-self.n :]


class MaxDelayByRow:
    def __init__(self, dratio):
        self.delays, self.punctuation = [], NO_PUNCTUATION

    def batch(self, pairs):
        self.delays += [arrival - event for event, arrival in pairs]
        if pairs:
            self.punctuation = max(self.punctuation, pairs[-1][1] - max(self.delays))
        return self.punctuation


class TwoMaxByRow:
    """m falls to (m1 + m2) / 2 after every W rows without a larger delay; W is 1,000 in a slow stream."""

    def __init__(self, dratio, window=1_000):
        self.m, self.since, self.window, self.punctuation = None, [], window, NO_PUNCTUATION

    def batch(self, pairs):
        for event, arrival in pairs:
            self.row(arrival - event)
        if pairs:
            self.punctuation = max(self.punctuation, pairs[-1][1] - self.m)
        return self.punctuation

    def row(self, delay):
        self.since.append(delay)
        if self.m is None or delay > self.m:
            self.m, self.since = delay, []
        elif len(self.since) == self.window:
            self.m, self.since = (self.m + max(self.since)) // 2, []


class SlackByRow:
    """A sorted buffer of 100 rows that pushes the smallest out."""

    def __init__(self, dratio):
        self.buffer, self.punctuation = [], NO_PUNCTUATION

    def batch(self, pairs):
        for event, _ in pairs:
            self.buffer = sorted([*self.buffer, event])
            if len(self.buffer) > 100:
                self.punctuation = max(self.punctuation, self.buffer.pop(0))
        return self.punctuation


class QuantileByRow:
    def __init__(self, dratio):
        self.dratio, self.newest, self.late_by, self.punctuation = dratio, None, [], NO_PUNCTUATION

    def batch(self, pairs):
        for event, _ in pairs:
            self.newest = event if self.newest is None else max(self.newest, event)
            self.late_by = [*self.late_by, self.newest - event][-4_096:]
        if pairs and len(self.late_by) >= 250:
            allowed = floor(self.dratio * len(self.late_by) + 1e-9)  # so many may lie above the quantile
            self.punctuation = max(self.punctuation, self.newest - sorted(self.late_by)[-1 - allowed])
        return self.punctuation


class PeriodicByRow:
    """ADC-J algorithm 1: sample one row in 10, 100 to 2,000 of them; estimate every 1,000 rows or second."""

    def __init__(self, dratio):
        self.z = NormalDist().inv_cdf(1 - dratio)
        self.count, self.sample, self.estimated = 0, [], None
        self.buffer, self.n, self.punctuation = [], 262_144, NO_PUNCTUATION

    def batch(self, pairs):
        before = self.count
        for event, arrival in pairs:
            if self.count % 10 == 0:
                self.sample = [*self.sample, (self.count, arrival, arrival - event)][-2_000:]
            self.count += 1
        self.buffer += [event for event, _ in pairs if event > self.punctuation]
        if pairs and len(self.sample) >= 100:
            every_p_e = any(number % 1_000 == 0 for number in range(before + 1, self.count + 1))
            if every_p_e or self.estimated is None or pairs[-1][1] - self.estimated >= 1:
                self.estimate(pairs[-1][1])
        self.buffer.sort()
        if len(self.buffer) > self.n:
            self.buffer = self.buffer[-self.n :]
            self.punctuation = max(self.punctuation, self.buffer[0])
        return self.punctuation

    def estimate(self, now):
        (first, oldest, _), (last, newest, _) = self.sample[0], self.sample[-1]
        theta = max(0, newest - oldest) / (last - first)
        sigma = pstdev(delay for _, _, delay in self.sample)
        self.estimated = now
        if theta == 0:
            self.n = 262_144 if sigma else 30
        elif 1 / theta > 100:
            self.n = max(30, ceil(sqrt(2) * self.z * sigma / theta))
        else:
            c = self.z**2
            self.n = max(30, ceil((c + sqrt(c**2 + 8 * c * sigma**2 / theta**2)) / 2))


BY_ROW = {
    "adaptive": AdaptiveByRow,
    "adhoc": AdHocByRow,
    "max-delay": MaxDelayByRow,
    "periodic": PeriodicByRow,
    "quantile": QuantileByRow,
    "slack": SlackByRow,
    "two-max": TwoMaxByRow,
}


@st.composite
def streams(draw):
    """Draw a few thousand rows with a drifting delay, cut into random batches, some with a clock that steps back."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = draw(st.sampled_from([40, 400, 3_000]))
    gap = draw(st.sampled_from([0.005, 0.3, 1, 20]))
    spread = draw(st.sampled_from([0, 1, 30, 400]))
    generated = np.cumsum(rng.exponential(gap, rows))
    delay = np.abs(rng.normal(50, spread, rows)) * rng.choice([1, 1, 1, 4], rows)
    order = np.argsort(generated + delay)
    event, arrival = generated[order].astype(np.int64), (generated + delay)[order].astype(np.int64)
    if draw(st.booleans()):
        arrival[rows // 2 :] -= draw(st.integers(0, 100))
    cuts = np.sort(rng.integers(0, rows, draw(st.sampled_from([0, 3, 30, 300]))))
    return np.split(np.stack((event, arrival), axis=1), cuts)


@pytest.mark.parametrize("name", BY_ROW)
@settings(max_examples=25, deadline=None)
@given(stream=streams(), dratio=st.sampled_from([0.2, 0.01, 0.004]))
def test_one_call_per_batch_gives_what_the_definition_gives(name, stream, dratio):
    estimator, definition = ESTIMATORS[name](dratio=dratio, unit="s"), BY_ROW[name](dratio)
    for batch in stream:
        got = estimator.observe(batch[:, 0].copy(), batch[:, 1].copy())
        expected = definition.batch([(int(event), int(arrival)) for event, arrival in batch])
        assert abs(got - expected) <= 1, "a tick at most, from rounding"


@settings(max_examples=30, deadline=None)
@given(stream=streams(), window=st.integers(1, 60))
def test_two_max_with_any_window(stream, window):
    estimator, definition = ESTIMATORS["two-max"](unit="s", window=window), TwoMaxByRow(0.01, window)
    for batch in stream:
        got = estimator.observe(batch[:, 0].copy(), batch[:, 1].copy())
        assert got == definition.batch([(int(event), int(arrival)) for event, arrival in batch])
