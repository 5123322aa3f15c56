"""How long rows are under way: the papers' normal delays, and the heavier tails of real networks."""

from __future__ import annotations

from dataclasses import dataclass
from math import log1p, sqrt

import numpy as np
import numpy.typing as npt

from slackwater.spark.io.sources.options import Options

Floats = npt.NDArray[np.float64]
DISTRIBUTIONS = ("none", "exponential", "normal", "lognormal", "pareto", "changing")
LONGEST = 86_400e6
"""A day, in ticks: heavy tails are cut here, so that a row's time stays a time."""


@dataclass(frozen=True, slots=True)
class Delays:
    """Delays in ticks with a given mean; `drift` lets the mean rise and fall by that factor, once per `period`.

    From `slow_from` on, for `slow_for`, all delays are `slow` times as long: a slow minute between calm ones.
    `changing` is ADC-J's stream: a mean in [0, mean] and a deviation in [0, deviation], new in each period.
    """

    kind: str
    mean: float
    deviation: float
    shape: float
    drift: float
    period: float
    seed: int
    slow: float = 1.0
    slow_from: float = 0.0
    slow_for: float = 0.0

    @classmethod
    def of(cls, options: Options) -> Delays:
        mean = options.time("mean", "1 second")
        return cls(
            options.choice("delay", DISTRIBUTIONS, "exponential"),
            mean,
            options.time("deviation", f"{mean / 4e6:f} seconds"),
            options.number("shape", 1.5, least=1.01),
            options.number("drift", 1.0, least=1.0),
            max(1, options.time("drift_every", "1 minute")),
            options.whole("seed", 0) or 0,
            options.number("slow", 1.0, least=1.0),
            options.time("slow_from", "0 seconds"),
            options.time("slow_for", "1 minute"),
        )

    def draw(self, rng: np.random.Generator, times: Floats) -> Floats:
        """One delay for each of these times (ticks since the start)."""
        scale: Floats = np.exp(np.log(self.drift) * np.sin(2 * np.pi * times / self.period))
        scale[(times >= self.slow_from) & (times < self.slow_from + self.slow_for)] *= self.slow
        delays: Floats = np.clip(self._standard(rng, times) * scale, 0.0, LONGEST)
        return delays

    def _standard(self, rng: np.random.Generator, times: Floats) -> Floats:
        rows = len(times)
        match self.kind:
            case "none":
                return np.zeros(rows)
            case "normal":
                return rng.normal(self.mean, self.deviation, rows)
            case "lognormal":
                spread = sqrt(log1p((self.deviation / max(self.mean, 1.0)) ** 2))
                return self.mean * rng.lognormal(-(spread**2) / 2, spread, rows)
            case "pareto":
                least = self.mean * (self.shape - 1) / self.shape
                return least * (1.0 + rng.pareto(self.shape, rows))
            case "changing":
                return self._changing(rng, times)
            case _:
                return rng.exponential(self.mean, rows)

    def _changing(self, rng: np.random.Generator, times: Floats) -> Floats:
        phases, where = np.unique((times // self.period).astype(np.int64), return_inverse=True)
        drawn = np.array([np.random.default_rng([self.seed, 1, phase]).random(2) for phase in phases.tolist()])
        means, deviations = drawn[where].T * [[self.mean], [self.deviation]]
        return np.asarray(rng.normal(means, deviations))
