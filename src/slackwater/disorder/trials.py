"""Which memory serves a stream best is tried out: each sets a punctuation of its own, which releases nothing.

A trial is charged what its rows would have waited, and a price for every row that it would have lost. Its level
is corrected by its own losses (adaptive conformal inference), so that all are compared at about the same share.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from slackwater.disorder.clock import Times, minus
from slackwater.disorder.state import Fields, Value
from slackwater.disorder.tally import Tally

Floats = NDArray[np.float64]
Stay = Callable[[Times, Floats], Times]
"""Where punctuations stay that aim at these times, with these delays."""

MEMORIES = (128.0, 512.0, 2_048.0, 8_192.0, 32_768.0, float(1 << 40))
"""Rows after which a memory has forgotten two thirds; the last forgets nothing."""

ALL = len(MEMORIES) - 1

CHARGED_FOR = 50_000.0  # rows over which a charge fades
SETTLED = 5.0  # rows that a trial may lose before the trials are compared
ENOUGH = 3.0  # rows above the level that a memory must hold to be used
BETTER = 0.95
PRESSURE = (-1.5, 0.3)
NOWHERE = -9.0e18


class Trials:
    """One punctuation per memory, what it lost and what it was charged."""

    __slots__ = ("_charge", "_dratio", "_losses", "_lost", "_punctuation", "_rows", "best")

    def __init__(self, dratio: float) -> None:
        self._dratio = dratio
        self._punctuation: Floats = np.full(len(MEMORIES), NOWHERE)
        self._lost: Floats = np.zeros(len(MEMORIES))  # faded slowly: sets the pressure
        self._losses: Floats = np.zeros(len(MEMORIES))  # faded as the charge is: sets the price
        self._charge: Floats = np.zeros(len(MEMORIES))
        self._rows = 0.0
        self.best = ALL

    def count(self, batch: Tally) -> None:
        """The rows of a batch that each trial has lost."""
        if self._punctuation.max() <= NOWHERE:
            return
        passed = np.searchsorted(batch.event.astype(np.float64), self._punctuation)
        lost, rows = np.append(0, np.cumsum(batch.count))[passed], batch.size
        keep = np.exp(-rows * self._dratio / 100)
        self._lost = self._lost * keep + lost
        self._rows = self._rows * float(keep) + rows
        self._losses += lost

    def pressure(self, chance: float) -> Floats:
        """The logarithm by which each trial's level is corrected; all history is loosened beyond so many deviations."""
        allowed = self._dratio * self._rows
        left = allowed - self._lost
        left[ALL] = min(left[ALL], max(0.0, left[ALL] - chance * sqrt(allowed)))
        return np.clip(left / (30 + 0.03 * allowed), *PRESSURE)

    def run(self, batch: Tally, heads: Floats, delay: Floats, level: float, price: float, stay: Stay) -> None:
        """Advance every trial to its own delays behind both clocks, charge it for the rows, choose the best."""
        aims = heads[:, None] - delay
        nearer = aims.argmin(axis=0), np.arange(len(MEMORIES))
        aim = np.floor(np.clip(aims[nearer], NOWHERE, -NOWHERE)).astype(np.int64)
        reached = stay(aim, delay[nearer])
        self._punctuation = np.maximum(self._punctuation, reached)
        fade = np.exp(-batch.size / CHARGED_FOR)
        self._charge = self._charge * fade + _waits(batch, self._punctuation)
        cost = self._charge + price * self._losses
        self._losses *= fade
        cost[np.array(MEMORIES) * level < ENOUGH] = np.inf
        cheapest = int(np.argmin(cost))
        if self._rows * level > SETTLED and cost[cheapest] < BETTER * cost[self.best]:
            self.best = cheapest

    def fields(self) -> dict[str, Value]:
        return {
            "trial_punctuation": self._punctuation,
            "trial_lost": self._lost,
            "trial_losses": self._losses,
            "trial_charge": self._charge,
            "trial_rows": self._rows,
            "trial_best": self.best,
        }

    def restore(self, fields: Fields) -> None:
        self._punctuation = fields.numbers("trial_punctuation")
        self._lost = fields.numbers("trial_lost")
        self._losses = fields.numbers("trial_losses")
        self._charge = fields.numbers("trial_charge")
        self._rows = fields.number("trial_rows")
        self.best = fields.integer("trial_best")


def _waits(batch: Tally, punctuation: Floats) -> Floats:
    """How far the rows are ahead of each punctuation, in all."""
    ahead = minus(batch.event, batch.event[0]).astype(np.float64)
    target = punctuation - float(batch.event[0])
    first = np.searchsorted(ahead, target)
    rows, time = (np.append(np.cumsum(each[::-1])[::-1], 0.0)[first] for each in (batch.count, ahead * batch.count))
    waits: Floats = time - target * rows
    return waits


def slope(strict: float, loose: float, level: float) -> float:
    """What one more lost row saves: how the delay falls from half the level to twice the level, over all history."""
    return max(float(strict - loose), 0.02 * float(strict) + 1.0) / 1.5 / level
