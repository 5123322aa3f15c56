"""VSeq (ADC and WIN section 5.1): the latest n rows, with the moments of a value kept incrementally."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from slackwater.disorder.clock import Times, minus
from slackwater.disorder.held import EMPTY
from slackwater.disorder.state import Fields, Value

SMALLEST = 30
"""The smallest n. The Central Limit Theorem needs about 30 intervals."""
LARGEST = 1 << 16
"""The most rows that a VSeq keeps, which bounds its state. The papers have no such limit."""


@dataclass(frozen=True, slots=True)
class SequenceMoments:
    """The statistics of a VSeq. The mean is ``base + offset``, kept apart to be exact at any magnitude."""

    newest: int
    base: int
    offset: float
    sigma: float
    theta: float


class VSeq:
    """A list of at most ``n`` rows (arrival, value). Once it is full, a new row replaces the oldest.

    A call with a batch does what one call per row would do. Sums are of ``value - base``. They are recomputed when all
    rows have been replaced, or when almost all of a sum was subtracted, so that rounding errors do not add up.
    """

    __slots__ = ("_arrival", "_base", "_start", "_stop", "_sum", "_sum2", "_turned", "_value", "n")

    def __init__(self) -> None:
        self.n = SMALLEST
        self._arrival, self._value = EMPTY, EMPTY
        self._start = self._stop = 0
        self._base, self._sum, self._sum2, self._turned = 0, 0.0, 0.0, 0

    def __len__(self) -> int:
        return self._stop - self._start

    @property
    def ready(self) -> bool:
        """Return whether the list is full (figure 3, step 2). Before that there is no estimate."""
        return len(self) == self.n

    def push(self, arrival: Times, value: Times) -> None:
        arrival, value = arrival[-self.n :], value[-self.n :]
        self._drop(len(self) + len(value) - self.n)
        self._append(arrival, value)
        self._turned += len(value)
        if self._turned >= self.n:
            self._refresh()
        else:
            self._add(value, 1)

    def resize(self, n: float) -> None:
        """Drop the oldest rows, or make room for later rows (VSeq(n), step 6)."""
        self.n = int(min(max(n, SMALLEST), LARGEST))
        self._drop(len(self) - self.n)

    def moments(self) -> SequenceMoments:
        """Return mu, sigma and theta = (T_n - T_1) / n as printed (4). Theta is 0 if the clock stepped back."""
        count = len(self)
        newest, oldest = int(self._arrival[self._stop - 1]), int(self._arrival[self._start])
        mean, variance = self._mean_and_variance()
        if mean * mean > 1e8 * variance:  # values far from the base cost digits of the variance
            self._refresh()
            mean, variance = self._mean_and_variance()
        return SequenceMoments(newest, self._base, mean, sqrt(variance), max(0, newest - oldest) / count)

    def _mean_and_variance(self) -> tuple[float, float]:
        mean = self._sum / len(self)
        return mean, max(0.0, self._sum2 / len(self) - mean * mean)

    def _drop(self, rows: int) -> None:
        if rows <= 0:
            return
        before = self._sum2
        self._add(self._value[self._start : self._start + rows], -1)
        self._start += rows
        if self._sum2 < before * 1e-6:
            self._refresh()

    def _append(self, arrival: Times, value: Times) -> None:
        if self._stop + len(value) > len(self._value):
            self._arrival = self._moved(self._arrival, len(value))
            self._value = self._moved(self._value, len(value))
            self._start, self._stop = 0, len(self)
        self._arrival[self._stop : self._stop + len(value)] = arrival
        self._value[self._stop : self._stop + len(value)] = value
        self._stop += len(value)

    def _moved(self, rows: Times, more: int) -> Times:
        kept = rows[self._start : self._stop]
        room = np.empty(2 * (len(kept) + more) + 64, np.int64)
        room[: len(kept)] = kept
        return room

    def _add(self, value: Times, sign: int) -> None:
        distance = self._distance(value)
        self._sum += sign * float(distance.sum())
        self._sum2 += sign * float(distance @ distance)

    def _refresh(self) -> None:
        """Recompute the sums from the rows. The base is their median, which an outlier does not move."""
        rows = self._value[self._start : self._stop]
        self._base = int(np.partition(rows, len(rows) // 2)[len(rows) // 2]) if len(rows) else 0
        self._sum = self._sum2 = 0.0
        self._turned = 0
        self._add(rows, 1)

    def _distance(self, value: Times) -> npt.NDArray[np.float64]:
        return minus(value, np.int64(self._base)).astype(np.float64)

    def fields(self) -> dict[str, Value]:
        return {
            "arrival": self._arrival[self._start : self._stop],
            "value": self._value[self._start : self._stop],
            "n": self.n,
            "base": self._base,
            "sum": self._sum,
            "sum2": self._sum2,
            "turned": self._turned,
        }

    @classmethod
    def of(cls, fields: Fields) -> VSeq:
        vseq = cls()
        vseq._arrival, vseq._value = fields.times("arrival"), fields.times("value")
        vseq._stop = len(vseq._value)
        vseq.n, vseq._base = fields.integer("n"), fields.integer("base")
        vseq._sum, vseq._sum2 = fields.number("sum"), fields.number("sum2")
        vseq._turned = fields.integer("turned")
        return vseq
