"""The buffer of ADC-J: its size by equations 11 and 12, from a sample, at intervals (algorithm 1, figure 4)."""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any

import numpy as np

from slackwater.disorder.clock import EARLIEST, Times, minus, ticks_per_second
from slackwater.disorder.estimator import NO_PUNCTUATION, Estimator, Sources, named, z
from slackwater.disorder.held import EMPTY, deltas
from slackwater.disorder.papers.slack import largest
from slackwater.disorder.papers.two_max import TwoMax
from slackwater.disorder.state import pack, unpack
from slackwater.errors import InputError

VERSION = 1
SMALLEST = 30
"""The smallest n; the Central Limit Theorem needs about 30 intervals."""
LARGEST = 1 << 18
"""The most rows of the buffer, which bounds its state; the paper has no such limit."""
HIGH_RATE = 100
"""Rows a second beyond which equation 12 replaces equation 11."""
KEPT = 20
"""The sample holds up to KEPT times M rows. A larger value steadies sigma, and adapts more slowly to changes."""


def exact_n(z_of_d: float, sigma: float, theta: float) -> float:
    """Return n by equation 11, at which the drop probability is D; at least 30.

    >>> round(exact_n(z(0.01), sigma=0.5, theta=0.05), 1)
    35.7
    """
    c = z_of_d**2
    if theta == 0:
        return LARGEST if c * sigma > 0 else SMALLEST
    return max(SMALLEST, (c + sqrt(c * c + 8 * c * (sigma / theta) ** 2)) / 2)


def high_rate_n(z_of_d: float, sigma: float, rate: float) -> float:
    """Return n by equation 12: the limit of equation 11 for more than 100 rows a second."""
    return max(SMALLEST, sqrt(2) * z_of_d * sigma * rate)


@named("periodic")
def periodic(dratio: float = 0.01, *, unit: str = "us", handover: float = 0.001, **parameters: Any) -> Estimator:
    """Return the estimator of ADC-J. At D <= 0.1% this is ``two-max``, as its section 3.2 says."""
    if dratio <= handover:
        return TwoMax(dratio, unit=unit)
    return Periodic(dratio, unit=unit, **parameters)


class Periodic:
    """The buffer keeps the n latest timestamps; the smallest of them is the heartbeat t_1.

    n is estimated after the call in which the row count passes a multiple of ``p_e``, but at least once per second of
    the arrival clock. sigma and theta come from a sample of one row in ``p_s``: at least ``m`` rows (before that there
    is no estimate) and at most the latest 20 m. With ``reservoir`` every row replaces a random row of the sample, so
    that old rows fade out. Until the buffer releases its first row there is no heartbeat, and no row is late.

    The paper names no values for P_e, P_s and M, and the late share on changing streams depends on them: see
    docs/experiments/adcj-figures-5-to-7.md, which also shows other choices.

    One call with a batch inserts all rows after the heartbeat of the previous call, and then estimates once if an
    estimate is due. The buffer keeps at most 262,144 rows.
    """

    __slots__ = (
        "_buffer",
        "_count",
        "_estimated",
        "_least",
        "_n",
        "_punctuation",
        "_sample",
        "_second",
        "_z",
        "p_e",
        "p_s",
        "reservoir",
    )

    def __init__(
        self,
        dratio: float = 0.01,
        *,
        unit: str = "us",
        p_e: int = 1_000,
        p_s: int = 10,
        m: int = 100,
        reservoir: bool = False,
    ) -> None:
        if min(p_e, p_s) < 1 or m < max(2, p_e / p_s):
            raise InputError(
                "SW-429",
                f"P_e {p_e}, P_s {p_s} and M {m} do not fit",
                expected="P_e and P_s at least 1, M at least P_e / P_s",
                hint="enlarge m or p_s",
            )
        self.p_e, self.p_s, self.reservoir = p_e, p_s, reservoir
        self._z = z(dratio)
        self._second = ticks_per_second(unit)
        self._count = 0
        self._n = LARGEST
        self._buffer: Times = EMPTY
        self._least = m
        self._sample = np.full((3, KEPT * m), -1, np.int64)  # row number, arrival, delay
        self._estimated = EARLIEST
        self._punctuation = NO_PUNCTUATION

    @property
    def n(self) -> int:
        """Return the last estimate of the buffer size, in rows."""
        return self._n

    def observe(self, event: Times, arrival: Times, source: Sources | None = None) -> int:
        if not len(event):
            return self._punctuation
        self._take(event, arrival)
        rows = np.concatenate((self._buffer, event[event > self._punctuation]))  # algorithm 1, lines 8 to 13
        if self._due(len(event), int(arrival[-1])):
            self._estimate(int(arrival[-1]))
        self._count += len(event)
        self._buffer = largest(rows, self._n)
        if len(rows) > self._n:
            self._punctuation = max(self._punctuation, int(self._buffer.min()))
        return self._punctuation

    def _take(self, event: Times, arrival: Times) -> None:
        """Put rows of the batch into the sample, each into the slot that its number gives (step 1)."""
        number = np.arange(self._count, self._count + len(event), dtype=np.int64)
        if self.reservoir:
            slot = _mixed(number) % self._sample.shape[1]
        else:
            chosen = number % self.p_s == 0
            number, event, arrival = number[chosen], event[chosen], arrival[chosen]
            slot = number // self.p_s % self._sample.shape[1]
        self._sample[:, slot] = np.stack((number, arrival, minus(arrival, event)))

    def _due(self, rows: int, now: int) -> bool:
        """Return whether an estimate is due: by step 2, or because a second has passed."""
        if np.count_nonzero(self._sample[0] >= 0) < self._least:
            return False
        passed = self._count // self.p_e != (self._count + rows) // self.p_e
        return passed or now - self._estimated >= self._second

    def _estimate(self, now: int) -> None:
        """Estimate n (steps 3 and 4)."""
        number, arrival, delay = self._sample[:, self._sample[0] >= 0]
        oldest, newest = int(number.argmin()), int(number.argmax())
        elapsed = max(0, int(arrival[newest]) - int(arrival[oldest]))
        theta = elapsed / int(number[newest] - number[oldest])
        sigma = float(minus(delay, delay[newest]).astype(np.float64).std())
        rate = self._second / theta if theta else 0.0
        n = high_rate_n(self._z, sigma, 1 / theta) if rate > HIGH_RATE else exact_n(self._z, sigma, theta)
        self._n = min(LARGEST, ceil(n))
        self._estimated = now

    def state(self) -> bytes:
        counts = {"count": self._count, "n": self._n, "estimated": self._estimated, "punctuation": self._punctuation}
        return pack(
            "periodic", VERSION, {**counts, "buffer": deltas(np.sort(self._buffer)), "sample": self._sample.ravel()}
        )

    def restore(self, state: bytes) -> None:
        fields = unpack(state, "periodic", VERSION)
        self._count, self._n = fields.integer("count"), fields.integer("n")
        self._estimated, self._punctuation = fields.integer("estimated"), fields.integer("punctuation")
        self._buffer = np.cumsum(fields.times("buffer"))
        self._sample = fields.times("sample").reshape(3, -1)


def _mixed(number: Times) -> Times:
    """Hash row numbers to evenly spread non-negative numbers. The same in every run, without a generator to store."""
    mixed = number.astype(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return ((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(1)).astype(np.int64)
