"""Which memory serves a stream best is tried out: each sets a punctuation of its own, which releases nothing.

So do the forecasts. A trial is charged what its rows would have waited, and a price for every row that it would have
lost. Its level is corrected by its own losses (adaptive conformal inference): all are compared at about the same share.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from slackwater.disorder.budget.census import BY_AGE, BY_COUNT, KINDS
from slackwater.disorder.budget.lateness import ALL, MEMORIES
from slackwater.disorder.clock import Times, minus
from slackwater.disorder.state import Fields, Value
from slackwater.disorder.tally import Tally

Floats = NDArray[np.float64]
Stay = Callable[[Times, Floats], Times]
"""Where punctuations stay that aim at these times, with these delays."""

FORECASTS = len(MEMORIES)
TRIALS = FORECASTS + KINDS
"""The memories, and after these the forecasts."""

CHARGED_FOR = 50_000.0  # rows over which a charge fades
SETTLED = 5.0  # rows that a trial may lose before the trials are compared
ENOUGH = 3.0  # rows above the level that a memory must hold to be used
BETTER = 0.95
STRICTEST = -1.5
NOWHERE = -9.0e18


def _each(memories: float, by_age: float, by_count: float) -> Floats:
    of = {FORECASTS + BY_AGE: by_age, FORECASTS + BY_COUNT: by_count}
    return np.array([of.get(trial, memories) for trial in range(TRIALS)])


# What a trial loses it loses in lumps if delays change. A memory follows them, so it is corrected within 100 losses or
# so; a forecast is to lose where that saves most, so it is corrected by all that it has lost.
FADES = _each(1 / 100, 0.0, 0.0)
GAIN = _each(0.03, 0.1, 1.0)
LOOSEST = _each(0.3, 2.0, 2.0)


class Trials:
    """One punctuation per memory and forecast, what it lost and what it was charged."""

    __slots__ = ("_charge", "_dratio", "_losses", "_lost", "_punctuation", "_rows", "counts", "memory")

    def __init__(self, dratio: float) -> None:
        self._dratio = dratio
        self._punctuation: Floats = np.full(TRIALS, NOWHERE)
        self._lost: Floats = np.zeros(TRIALS)  # sets the pressure
        self._rows: Floats = np.zeros(TRIALS)
        self._losses: Floats = np.zeros(TRIALS)  # faded as the charge is: sets the price
        self._charge: Floats = np.zeros(TRIALS)
        self.memory = ALL
        self.counts = False

    def stands(self, trial: int) -> int:
        return int(self._punctuation[trial])

    def count(self, batch: Tally) -> None:
        """The rows of a batch that each trial has lost."""
        if self._punctuation.max() <= NOWHERE:
            return
        passed = np.searchsorted(batch.event.astype(np.float64), self._punctuation)
        lost, rows = np.append(0, np.cumsum(batch.count))[passed], batch.size
        keep = np.exp(-rows * self._dratio * FADES)
        self._lost = self._lost * keep + lost
        self._rows = self._rows * keep + rows
        self._losses += lost

    def pressure(self, chance: float) -> Floats:
        """The logarithm by which each trial's level is corrected; all history is loosened beyond so many deviations."""
        allowed = self._dratio * self._rows
        left = allowed - self._lost
        left[ALL] = min(left[ALL], max(0.0, left[ALL] - chance * sqrt(allowed[ALL])))
        pressure: Floats = np.clip(left / (30 + GAIN * allowed), STRICTEST, LOOSEST)
        return pressure

    def run(
        self, batch: Tally, heads: Floats, delay: Floats, level: float, price: float, stay: Stay, forecast: Floats
    ) -> Floats:
        """Advance every trial: to its own delays behind both clocks, or to its forecast; charge it, choose the best.

        What is not forecast yet goes along with all history.
        """
        aims = heads[:, None] - delay
        nearer = aims.argmin(axis=0), np.arange(len(MEMORIES))
        aim = np.floor(np.clip(aims[nearer], NOWHERE, -NOWHERE)).astype(np.int64)
        reached = stay(aim, delay[nearer])
        idle = np.append(np.zeros(len(MEMORIES), bool), forecast <= NOWHERE)
        self._lost[idle], self._rows[idle] = 0.0, 0.0
        reached = np.append(reached, np.where(forecast <= NOWHERE, reached[ALL], forecast))
        self._punctuation = np.maximum(self._punctuation, reached)
        fade = np.exp(-batch.size / CHARGED_FOR)
        self._charge = self._charge * fade + _waits(batch, self._punctuation)
        cost = self._charge + price * self._losses
        self._losses *= fade
        cost[:FORECASTS][np.array(MEMORIES) * level < ENOUGH] = np.inf
        cost[idle] = np.inf
        if self._rows[ALL] * level > SETTLED:
            self._choose(cost)
        self.counts = self.counts and bool(np.isfinite(cost[FORECASTS + BY_COUNT]))
        return cost

    def _choose(self, cost: Floats) -> None:
        """The memory that serves best, and whether counts serve better: a change must save a twentieth."""
        cheapest = int(np.argmin(cost[:FORECASTS]))
        if cost[cheapest] < BETTER * cost[self.memory]:
            self.memory = cheapest
        counted = float(cost[FORECASTS + BY_COUNT])
        self.counts = bool(counted < (1.0 if self.counts else BETTER) * cost[self.memory])

    def fields(self) -> dict[str, Value]:
        return {f"trial{name}": getattr(self, name) for name in ARRAYS} | {
            "trial_memory": self.memory,
            "trial_counts": int(self.counts),
        }

    def restore(self, fields: Fields) -> None:
        for name in ARRAYS:
            setattr(self, name, fields.numbers(f"trial{name}"))
        self.memory, self.counts = fields.integer("trial_memory"), bool(fields.integer("trial_counts"))


ARRAYS = ("_punctuation", "_lost", "_rows", "_losses", "_charge")


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
