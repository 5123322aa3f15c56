"""The delays of generated rows: the papers' normal delays, and the heavier tails of real networks."""

from __future__ import annotations

from dataclasses import dataclass
from math import log1p, sqrt

import numpy as np
import numpy.typing as npt

from slackwater.spark.options import Option, OptionKind, Options

Floats = npt.NDArray[np.float64]
DISTRIBUTIONS = ("none", "exponential", "normal", "lognormal", "pareto", "changing")
LONGEST = 86_400e6
"""The longest delay in ticks: one day. Heavy tails are cut here, so that event times stay valid."""
DELAYS = (
    Option("delay", OptionKind.CHOICE, "exponential", "How delays are distributed.", DISTRIBUTIONS),
    Option("mean", OptionKind.TIME, "1 second", "The mean delay."),
    Option(
        "deviation", OptionKind.TIME, None, "The standard deviation of delays that have one; a quarter of the mean."
    ),
    Option(
        "shape", OptionKind.NUMBER, "1.5", "The shape of pareto delays: a smaller one has a heavier tail.", least=1.01
    ),
    Option("drift", OptionKind.NUMBER, "1", "The factor by which the mean delay rises and falls.", least=1),
    Option("drift_every", OptionKind.TIME, "1 minute", "The period of the drift, and of delays that are changing."),
    Option("slow", OptionKind.NUMBER, "1", "How many times as long delays are in the slow interval.", least=1),
    Option("slow_from", OptionKind.TIME, "0 seconds", "When the slow interval begins, after the start of the stream."),
    Option("slow_for", OptionKind.TIME, "1 minute", "How long the slow interval is."),
)


@dataclass(frozen=True, slots=True)
class Delays:
    """Delays in ticks with a given mean. `drift` is the factor by which the mean rises and falls, once per `period`.

    From `slow_from` on, for `slow_for`, all delays are `slow` times as long. The kind `changing` is ADC-J's stream:
    each period has a new mean in [0, mean] and a new deviation in [0, deviation].
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
        mean = options["mean"]
        return cls(
            options["delay"],
            mean,
            options.get("deviation", round(mean / 4)),
            options["shape"],
            options["drift"],
            max(1, options["drift_every"]),
            options["seed"],
            options["slow"],
            options["slow_from"],
            options["slow_for"],
        )

    def draw(self, rng: np.random.Generator, times: Floats) -> Floats:
        """Return one delay for each of these times (ticks since the start)."""
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
