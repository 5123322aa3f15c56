"""The latest rows, one by one: they ask for a longer delay at once when delays have grown."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from slackwater.disorder.clock import Times, minus
from slackwater.disorder.state import Fields, Value
from slackwater.disorder.tally import LAST, Tally

Floats = NDArray[np.float64]

LENGTHS = 16  # batches whose lengths are remembered


class Latest:
    """Remembers how far the latest rows lay behind the clock as they came, and how long the latest batches were.

    The memory scores a row by the clock before its batch. Where batches are cut by rows, a burst makes them short. So
    the latest rows are scored one by one, and the next batch is taken to be as long as the shortest of the latest 16.

    >>> latest = Latest()
    >>> latest.enter(np.arange(1_000), length=100)
    >>> latest.delay(1_000, share=0.022)
    977.0
    """

    __slots__ = ("_ages", "_lengths")

    def __init__(self) -> None:
        self._ages: Times = np.empty(0, np.int64)
        self._lengths: Times = np.empty(0, np.int64)

    def enter(self, ages: Times, length: int) -> None:
        """Enter the ages of a batch's last rows, and how far the clock moved in the batch."""
        self._ages = np.concatenate([self._ages, ages])[-LAST:]
        self._lengths = np.append(self._lengths, length)[-LENGTHS:]

    def delay(self, rows: int, share: float) -> float:
        """Return the delay that a share of the last rows exceeds; 0 if there are too few rows."""
        known = self._ages[-rows:]
        if len(known) < rows // 2 or share >= 0.5:
            return 0.0
        place = len(known) - 1 - int(share * len(known))
        shortest = float(self._lengths.min()) if len(self._lengths) == LENGTHS else 0.0
        return max(0.0, float(np.partition(known, place)[place]) - shortest / 2)

    def fields(self) -> dict[str, Value]:
        return {"latest_ages": self._ages, "latest_lengths": self._lengths}

    def restore(self, fields: Fields) -> None:
        self._ages, self._lengths = fields.times("latest_ages"), fields.times("latest_lengths")


def raised(level: float, rows: float, surprise: float) -> float:
    """Return the share of so many rows that exceeds a level by more than chance explains."""
    return level + surprise * (sqrt(level / rows) + 1 / rows)


def ages(batch: Tally, now: int, newest: int, offset: int) -> Times:
    """Return how far each of the last rows lay behind the clock as it came, given the clocks before the batch."""
    arrival = np.maximum(np.maximum.accumulate(batch.last_arrival), max(now, batch.clock_before))
    event = np.maximum(np.maximum.accumulate(batch.last_event), max(newest, batch.newest_before))
    return minus(np.minimum(minus(arrival, np.int64(offset)), event), batch.last_event)
