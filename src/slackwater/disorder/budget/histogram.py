"""Memories of how late rows were: histograms with buckets of 1.6%, one for each span of rows."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from slackwater.disorder.clock import Times
from slackwater.disorder.state import Fields, Value

Floats = NDArray[np.float64]

FOREVER = float(1 << 40)
PER_OCTAVE = 64
SHIFT = 52 - 6  # the exponent and six bits of a float64 number its buckets
FIRST = 1023 << 6
BUCKETS = 64 * PER_OCTAVE + 1
FEWEST = 20.0  # rows for which one row counts, at most, in a young stream
LEAST = 0.2  # rows: a bucket with less of them is forgotten

LOWEST: Floats = np.concatenate([[0.0], ((np.arange(BUCKETS, dtype=np.int64) + FIRST) << SHIFT).view(np.float64)[:-1]])
LARGEST: Floats = np.concatenate([[0.0], np.ceil(LOWEST[2:]) - 1.0, [LOWEST[-1]]])
"""The largest whole number in each bucket; bucket 0 holds all numbers that are not above zero."""


def bucket(score: Times) -> Times:
    """Return the bucket of each score.

    >>> bucket(np.array([-5, 0, 1, 1000])).tolist(), LARGEST[bucket(np.array([1000]))].tolist()
    ([0, 0, 1, 638], [1007.0])
    """
    place = (np.maximum(score, 1).astype(np.float64).view(np.int64) >> SHIFT) - FIRST + 1
    return np.where(score > 0, np.minimum(place, BUCKETS - 1), 0)


class Memories:
    """Counts of scores per memory and bucket. A memory of w rows forgets by exp(-rows/w); the last forgets nothing.

    >>> memories = Memories([100.0])
    >>> memories.add(np.array([5, 50]), np.array([9_900, 100]))
    >>> round(memories.delay(-1, 0.02)), memories.share_above(-1, 10)
    (5, 0.01)
    """

    __slots__ = ("_count", "_used", "spans", "weight")

    def __init__(self, spans: Sequence[float]) -> None:
        self.spans: Floats = np.array([*spans, FOREVER])
        self.weight: Floats = np.zeros(len(self.spans))
        self._count: Floats = np.zeros((len(self.spans), BUCKETS))
        self._used = 1

    def add(self, score: Times, count: Times) -> None:
        """Enter a batch: `count` rows of each score."""
        rows = int(count.sum())
        placed = np.bincount(bucket(score), weights=count)
        self._used = max(self._used, len(placed))
        keep = np.exp(-rows / self.spans)
        self.weight = self.weight * keep + rows
        self._count[:, : self._used] *= keep[:, None]
        self._count[:, : len(placed)] += placed

    def delay(self, memory: int, level: float, stretch: float = 1.0, age: float | None = None) -> float:
        """Return the smallest score that at most a share `level` of the rows exceeds.

        A stream of some `age` shows a delay only in rows that were sent that long ago: given an age, rows count for
        those of the same delay that are still to come.

        Half a row is taken to lie above the largest score. A level below that cannot be read off: the largest is then
        multiplied by the square root of the factor that is missing, at most `stretch`.
        """
        weight = max(float(self.weight[memory]), 1.0)
        count = self._count[memory, : self._used]
        if age is not None:
            seen = 1 - LARGEST[: self._used] / max(age, 1.0)  # of the time; what is older was sent before the start
            count = count / np.where(seen > 0, np.maximum(seen, 1 / FEWEST), 1.0)
            weight = max(float(count.sum()), 1.0)
        known = np.flatnonzero(count[1:] > LEAST)
        if not len(known):
            return 0.0
        highest = float(LARGEST[known[-1] + 1])
        allowed = level * weight - 0.5
        if allowed <= 0:
            return highest * min(stretch, sqrt(0.5 / (level * weight)))
        above = np.cumsum(count[::-1])[::-1]  # rows in a bucket or above
        place = int(np.count_nonzero(above[1:] > allowed))
        if place == 0:
            return 0.0
        inside = (allowed - float(above[place + 1] if place + 1 < len(above) else 0.0)) / float(count[place])
        low, high = float(LARGEST[place - 1]), float(LARGEST[place])
        return min(high - (high - low) * min(1.0, max(0.0, inside)), highest)

    def share_above(self, memory: int, score: float) -> float:
        """Return the share of rows with a larger score, to within a bucket."""
        place = int(bucket(np.array([int(score)]))[0])
        return float(self._count[memory, place + 1 : self._used].sum() / max(1.0, self.weight[memory]))

    def fields(self) -> dict[str, Value]:
        return {"memory_count": self._count[:, : self._used].ravel(), "memory_weight": self.weight}

    def restore(self, fields: Fields) -> None:
        count = fields.numbers("memory_count").reshape(len(self.spans), -1)
        self._used = count.shape[1]
        self._count[:] = 0.0
        self._count[:, : self._used] = count
        self.weight = fields.numbers("memory_weight")
