"""Whether a stream has been the same all along: its latest rows are as late as all of them.

Where that is so, the losses scatter as chance has it, so that a small reserve is enough, and all history is the best
memory: which of the others seems cheaper is chance, too. Two things speak against it: a share of the latest rows beyond
the usual delay that chance does not explain, and a tail so steep at the level that a small error of the level is a
large error of the delay (two modes, with the level between them).
"""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
from numpy.typing import NDArray

from slackwater.disorder.state import Fields, Value

Floats = NDArray[np.float64]

LATEST = {2: 2_048.0, 3: 8_192.0}  # the memories that are held against all history, and their rows
FEWEST = 16_000  # rows before anything can be said: twice the longer of these memories
SHARE = 0.1  # of all rows lie beyond the delay that is looked at
TOLERANCE = 0.25  # of that share
FORGOTTEN = 80_000.0  # rows after which a change counts for a third
STEEP = 6.0  # times the delay at twice the level: what half the level may need


class Steadiness:
    """How far the latest rows were from all rows; 1 is what is tolerated."""

    __slots__ = ("_unrest", "steady")

    def __init__(self) -> None:
        self._unrest = 0.0
        self.steady = False

    def observe(self, survival: Floats, rows: int, learnt: int, half: float, twice: float) -> None:
        """Enter a batch: the shares beyond each delay per memory, and the delays at half and at twice the level."""
        if learnt < FEWEST:
            return
        place = min(survival.shape[1] - 1, int(np.count_nonzero(survival[-1] > SHARE)))
        usual = float(survival[-1, place])
        apart = max(
            abs(float(survival[memory, place]) - usual) / (TOLERANCE * usual + 3 * sqrt(usual / size / 2) + 1e-9)
            for memory, size in LATEST.items()
        )
        self._unrest = max(apart, self._unrest * exp(-rows / FORGOTTEN))
        self.steady = self._unrest < 1 and not half > STEEP * twice > 0

    def chance(self, learnt: int) -> float:
        """How many deviations too few losses of all history are put down to chance: each correction moves the delay.

        One, unless delays are known to change.
        """
        return float(self.steady or learnt < FEWEST)

    def fields(self) -> dict[str, Value]:
        return {"unrest": self._unrest, "steady": int(self.steady)}

    def restore(self, fields: Fields) -> None:
        self._unrest, self.steady = fields.number("unrest"), bool(fields.integer("steady"))
