"""The latest rows may ask for a longer delay than the memories do: a guard against delays that have just grown."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from slackwater.disorder.clock import Times
from slackwater.disorder.state import Fields, Value

Floats = NDArray[np.float64]

ROWS = (64, 256, 1_024)
BATCHES = 16  # whose length says how short the next one may be
FAMILIAR, USUAL = 4, 64  # batches, from the fewest on: the least that was asked for after any is nothing new
GROWN = 2.0  # times what is asked for beyond that is added to the delay that serves
FAR = 9.0e18
SPREAD = (np.arange(8) + 0.5) / 8 / 2  # of a batch: the first half of the next one


class Guard:
    """How far the latest rows lay behind each clock, and how far each clock moved during the latest batches."""

    __slots__ = ("_asked", "_lengths", "ages")

    def __init__(self) -> None:
        self.ages: Times = np.zeros((2, 0), np.int64)
        self._lengths: Floats = np.zeros((2, 0))
        self._asked: Floats = np.zeros((2, 0))

    def observe(self, ages: Times) -> None:
        self.ages = np.concatenate([self.ages, ages], axis=1)[:, -max(ROWS) :]

    def lasted(self, before: tuple[int, int], after: tuple[int, int]) -> None:
        """The clocks before and after a batch."""
        moved = np.array(after, np.float64) - np.array(before, np.float64)
        self._lengths = np.concatenate([self._lengths, moved[:, None]], axis=1)[:, -BATCHES:]

    @property
    def wait(self) -> float:
        """How long a row waits for the end of its batch, on average."""
        return float(self._lengths[0].mean()) / 2 if self._lengths.shape[1] else 0.0

    @property
    def shortest(self) -> tuple[int, int]:
        """How far the clocks moved in the shortest of the latest batches."""
        arrival, newest = self._lengths.min(axis=1, initial=FAR).tolist()
        return int(arrival), int(newest)

    def asks(self, levels: tuple[float, float], delay: Floats, *, cautious: bool, steady: bool = False) -> Floats:
        """What the latest rows ask for where they are later than usual, given the delay that serves otherwise.

        How long the next batch lasts is a guess, and a careful one. Where it is wrong, it is so in every batch: what
        was asked for all along the memories know better.
        """
        asked = self._beyond_doubt(levels, cautious=cautious)
        known = self._asked.shape[1] >= FAMILIAR
        usual = (self._asked.max(axis=1) if steady else self._asked.min(axis=1)) if known else np.zeros(2)
        self._asked = np.concatenate([self._asked, asked[:, None]], axis=1)[:, -USUAL:]
        return np.minimum(asked, delay + GROWN * np.maximum(asked - usual, 0))

    def _beyond_doubt(self, levels: tuple[float, float], *, cautious: bool) -> Floats:
        """The delay that a share of the latest rows needs which is larger than chance explains.

        The rows of the next batch come when the clocks have moved on. It is taken to last half as long as the shortest
        of the latest batches: where batches are cut by rows, a burst makes them short. If one is cautious, it may come
        at once as long as there are not so many.
        """
        needed, moved = np.zeros(2), np.zeros(2)
        if self._lengths.shape[1] >= (BATCHES if cautious else 1):
            moved = self._lengths.min(axis=1)
        known = self.ages.shape[1]
        for rows in (min(each, known) for each in ROWS if known >= each // 2):
            for clock, level in enumerate(levels):
                share = level + 3 * (sqrt(level / rows) + 1 / rows)
                if share < 0.5:
                    expected = (self.ages[clock, -rows:, None] - moved[clock] * SPREAD).ravel()
                    rank = len(expected) - 1 - int(share * len(expected))
                    needed[clock] = max(needed[clock], np.partition(expected, rank)[rank])
        return needed

    def fields(self) -> dict[str, Value]:
        return {"ages": self.ages.ravel(), "lengths": self._lengths.ravel(), "asked": self._asked.ravel()}

    def restore(self, fields: Fields) -> None:
        self.ages = fields.times("ages").reshape(2, -1)
        self._lengths = fields.numbers("lengths").reshape(2, -1)
        self._asked = fields.numbers("asked").reshape(2, -1)
