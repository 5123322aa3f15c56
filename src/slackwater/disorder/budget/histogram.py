"""How late rows are, remembered over several lengths of time at once, in buckets of 1.6% width.

A score is how long the punctuation would have had to wait for a row; what is not above zero needs no waiting.
Memory w forgets by exp(-rows/w). Since a stream that has run for an hour cannot have shown a delay of two, each
bucket also counts its *exposure*: the rows that arrived when the stream was old enough to show such a score. The
share of rows above a score is the sum of count/exposure over the buckets above, unbiased from the start.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from slackwater.disorder.clock import Times
from slackwater.disorder.state import Fields, Value

Floats = NDArray[np.float64]

PER_OCTAVE = 64
STRETCHED = 2.0  # times the largest score that is known, at most, where a level cannot be read off
SHIFT = 52 - 6  # the exponent and six bits of a float64 number its buckets
FIRST = 1023 << 6
BUCKETS = 64 * PER_OCTAVE + 1

LOWEST: Floats = np.concatenate([[0.0], ((np.arange(BUCKETS, dtype=np.int64) + FIRST) << SHIFT).view(np.float64)[:-1]])
LARGEST: Floats = np.concatenate([[0.0], np.ceil(LOWEST[2:]) - 1.0, [LOWEST[-1]]])
"""The largest whole number in each bucket; bucket 0 holds all that is not above zero."""


def bucket(score: Times) -> Times:
    """The bucket of each score.

    >>> bucket(np.array([-5, 0, 1, 1000])).tolist(), LARGEST[bucket(np.array([1000]))].tolist()
    ([0, 0, 1, 638], [1007.0])
    """
    return np.where(score > 0, _place(np.maximum(score, 1).astype(np.float64)), 0)


def _place(score: Floats) -> Times:
    place: Times = (score.view(np.int64) >> SHIFT) - FIRST + 1
    return np.minimum(place, BUCKETS - 1)


class Histogram:
    """Counts and exposures per memory and bucket; `used` buckets have been touched."""

    __slots__ = ("count", "exposure", "memories", "used")

    def __init__(self, memories: Sequence[float]) -> None:
        self.memories = np.array(memories, np.float64)
        self.count: Floats = np.zeros((len(memories), BUCKETS))
        self.exposure: Floats = np.zeros((len(memories), BUCKETS))
        self.used = 1

    def add(self, score: Times, age: Times, count: Times | None = None) -> None:
        """Rows with these scores, `count` of each, seen when the stream was this old (one age for all, or one each)."""
        rows = len(score) if count is None else int(count.sum())
        placed, aged = np.bincount(bucket(score), weights=count), np.bincount(bucket(age))
        if len(aged) and len(age) == 1:
            aged = aged * rows
        self.used = max(self.used, len(placed), len(aged))
        keep = np.exp(-rows / self.memories)[:, None]
        self.count[:, : self.used] *= keep
        self.exposure[:, : self.used] *= keep
        self.count[:, : len(placed)] += placed
        self.exposure[:, : len(aged)] += np.cumsum(aged[::-1])[::-1]

    def shift(self, by: int) -> None:
        """All scores were measured from a point that lies `by` further on."""
        place = _place(np.maximum(LOWEST[: self.used] + float(by), 1.0))
        place[0] = 0
        for memory, counted in enumerate(self.count[:, : self.used]):
            self.count[memory] = np.bincount(place, weights=counted, minlength=BUCKETS)
        self.used = max(self.used, int(place[-1]) + 1)

    def weight(self) -> Floats:
        """How many rows each memory holds."""
        return self.exposure[:, 0]

    def survival(self) -> Floats:
        """The share of rows above each bucket, per memory."""
        counted = self.count[:, : self.used] / np.maximum(self.exposure[:, : self.used], 1e-9)
        counted[:, 0] = 0.0
        above = np.cumsum(counted[:, ::-1], axis=1)[:, ::-1]
        return np.concatenate([above[:, 1:], np.zeros((len(above), 1))], axis=1)

    def highest(self) -> Floats:
        """The largest score that each memory still knows."""
        known = self.count[:, : self.used] > 0.2
        place = self.used - 1 - np.argmax(known[:, ::-1], axis=1)
        return np.where(known.any(axis=1), LARGEST[place], 0.0)

    def fields(self, name: str) -> dict[str, Value]:
        return {
            f"{name}_count": self.count[:, : self.used].ravel(),
            f"{name}_exposure": self.exposure[:, : self.used].ravel(),
        }

    def restore(self, fields: Fields, name: str) -> None:
        count = fields.numbers(f"{name}_count").reshape(len(self.memories), -1)
        self.used = count.shape[1]
        self.count[:], self.exposure[:] = 0.0, 0.0
        self.count[:, : self.used] = count
        exposure = fields.numbers(f"{name}_exposure").reshape(len(self.memories), -1)
        self.exposure[:, : self.used] = exposure


def beyond_each(survival: Floats) -> Floats:
    """How long a row is above each bucket, on average: times their rate, as many rows are that late at any time.

    >>> beyond_each(np.array([0.5, 0.5, 0.0])).tolist()
    [0.5, 0.0, 0.0]
    """
    highest = LARGEST[: len(survival)]
    width = np.diff(highest, append=highest[-1:])
    above: Floats = np.cumsum((survival * width)[::-1])[::-1]
    return above


def delays(survival: Floats, highest: Floats, weight: Floats, level: Floats) -> Floats:
    """The smallest score that a share `level` of the rows exceeds: levels down, memories across.

    Half a row is always taken to lie above the largest that is known. A level below that cannot be read off; the
    largest is then stretched by the square root of what is missing, at most twice.
    """
    floor = 0.5 / np.maximum(weight, 1.0)
    width, row = survival.shape[1], np.arange(len(survival))
    # Shares fall from bucket to bucket, so the buckets that exceed a level are counted by bisection.
    above = [
        width - each[::-1].searchsorted(wanted, side="right")
        for each, wanted in zip(survival, (level - floor).T, strict=True)
    ]
    place = np.minimum(np.stack(above, axis=1), width - 1)
    below = np.maximum(place - 1, 0)
    over, under = survival[row, below] + floor, survival[row, place] + floor
    part = np.clip((over - level) / np.maximum(over - under, 1e-12), 0.0, 1.0)
    found = np.where(place == 0, 0.0, LARGEST[below] + (LARGEST[place] - LARGEST[below]) * part)
    stretched = highest * np.minimum(np.sqrt(floor / level), STRETCHED)
    return np.where(level <= floor, stretched, np.minimum(found, highest))
