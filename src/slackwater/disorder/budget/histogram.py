"""The memory of how late rows were, by buckets of 1.6%: shares of all and of recent rows, and bursts.

Late rows come in bursts: a delivery fails, a sender is offline. A share of all rows does not show that. So for each
delay the memory also runs the account of a punctuation that always lagged by it: every row adds D, every late row takes
one away. The largest fall from any moment to a later one is the *dip* of the delay.
"""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
from numpy.typing import NDArray

from slackwater.disorder.clock import Times
from slackwater.disorder.state import Fields, Value

Floats = NDArray[np.float64]

PER_OCTAVE = 64
SHIFT = 52 - 6  # the exponent and six bits of a float64 number its buckets
FIRST = 1023 << 6
BUCKETS = 64 * PER_OCTAVE + 1
LEAST = 0.2  # rows: fewer of them are forgotten
FEWEST = 20.0  # rows for which one row counts, at most, in a young stream

LOWEST: Floats = np.concatenate([[0.0], ((np.arange(BUCKETS, dtype=np.int64) + FIRST) << SHIFT).view(np.float64)[:-1]])
LARGEST: Floats = np.concatenate([[0.0], np.ceil(LOWEST[2:]) - 1.0, [LOWEST[-1]]])
"""The largest whole number in each bucket; bucket 0 holds all numbers that are not above zero."""

ARRAYS = ("above", "newly", "least", "dip")


def bucket(score: Times) -> Times:
    """Return the bucket of each score.

    >>> bucket(np.array([-5, 0, 1, 1000])).tolist(), LARGEST[bucket(np.array([1000]))].tolist()
    ([0, 0, 1, 638], [1007.0])
    """
    place = (np.maximum(score, 1).astype(np.float64).view(np.int64) >> SHIFT) - FIRST + 1
    return np.where(score > 0, np.minimum(place, BUCKETS - 1), 0)


class DelayMemory:
    """Counts rows by how late they were, in arrays with one place per bucket.

    `above` and `newly` count the rows with a larger score: of all rows, and of recent ones, which are forgotten by
    exp(-rows/span). `least` is the smallest `above` - D N so far, and `dip` the largest rise from there.

    >>> memory = DelayMemory(0.01, span=8_192.0)
    >>> for late in (0, 8, 0, 8):
    ...     memory.add(np.array([5, 50]), np.array([100 - late, late]))
    >>> round(memory.delay(0.05)), memory.share_above(10)
    (5, 0.04)
    >>> memory.affordable(20), memory.affordable(10)  # lagging by 5, the account fell by 7, rose by 1 and fell by 7
    (5.0, 50.0)
    """

    __slots__ = ("_dratio", "_span", "above", "dip", "least", "newly", "recent", "rows")

    def __init__(self, dratio: float, span: float) -> None:
        self._dratio, self._span = dratio, span
        self.rows, self.recent = 0, 0.0
        self.above: Floats = np.zeros(BUCKETS)
        self.newly = self.least = self.dip = self.above

    def add(self, score: Times, count: Times) -> None:
        """Enter a batch: `count` rows of each score."""
        rows = int(count.sum())
        self.rows += rows
        above = rows - np.cumsum(np.bincount(bucket(score), weights=count, minlength=BUCKETS))
        keep = exp(-rows / self._span)
        self.newly, self.recent = self.newly * keep + above, self.recent * keep + rows
        self.above = self.above + above
        owed = self.above - self._dratio * self.rows
        self.least = np.minimum(self.least, owed)
        self.dip = np.maximum(self.dip, owed - self.least)

    def affordable(self, most: float) -> float:
        """Return the shortest delay whose largest dip was at most so many rows: the account can afford such a dip."""
        return float(LARGEST[np.count_nonzero(self.dip > max(most, 0.0))])

    def delay(self, level: float, stretch: float = 1.0, age: float | None = None) -> float:
        """Return the smallest score that at most a share `level` of all rows exceeds.

        Given an age of the stream, a row counts for those of the same delay that cannot have come yet, too.
        """
        if age is None:
            return _quantile(self.above, self.rows, level, stretch)
        # The share of the time in which such a row can have come. Longer delays began before the start.
        seen = 1 - LARGEST / max(age, 1.0)
        count = -np.diff(self.above, prepend=self.rows) / np.where(seen > 0, np.maximum(seen, 1 / FEWEST), 1.0)
        return _quantile(count.sum() - np.cumsum(count), float(count.sum()), level, stretch)

    def recent_delay(self, level: float, stretch: float = 1.0) -> float:
        """Return the smallest score that at most a share `level` of the recent rows exceeds."""
        return _quantile(self.newly, self.recent, level, stretch)

    def share_above(self, score: float) -> float:
        """Return the share of rows with a larger score, to within a bucket."""
        return float(self.above[int(bucket(np.array([int(score)]))[0])] / max(1, self.rows))

    def fields(self) -> dict[str, Value]:
        arrays = {f"memory_{name}": getattr(self, name) for name in ARRAYS}
        return {"memory_rows": self.rows, "memory_recent": self.recent} | arrays

    def restore(self, fields: Fields) -> None:
        self.rows, self.recent = fields.integer("memory_rows"), fields.number("memory_recent")
        for name in ARRAYS:
            setattr(self, name, fields.numbers(f"memory_{name}"))


def _quantile(above: Floats, rows: float, level: float, stretch: float) -> float:
    """Return the score that a share of the rows exceeds, given how many exceed each bucket.

    A level of less than half a row cannot be read off: the largest score is then stretched by the root of what lacks.
    """
    highest, allowed = float(LARGEST[np.count_nonzero(above > LEAST)]), level * max(rows, 1.0) - 0.5
    if allowed <= 0:
        return highest * min(stretch, sqrt(0.5 / (level * max(rows, 1.0))))
    place = int(np.count_nonzero(above > allowed))
    if place == 0:
        return 0.0
    inside = (allowed - float(above[place])) / float(above[place - 1] - above[place])
    low, high = float(LARGEST[place - 1]), float(LARGEST[place])
    return min(high - (high - low) * min(1.0, inside), highest)
