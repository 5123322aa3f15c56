"""How many rows lie beyond the longest delay that a young stream can have shown: its tail goes on as it ends."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from slackwater.disorder.budget.histogram import BUCKETS, LARGEST, PER_OCTAVE, bucket

Floats = NDArray[np.float64]

TAILS = (PER_OCTAVE, PER_OCTAVE // 2, PER_OCTAVE // 4)
"""Of buckets: two such parts tell how steep a tail is. Short ones see it get steeper."""
PARTS, PART = 12, PER_OCTAVE // 8
"""How many parts tell how a tail bends, and how many buckets each has: an octave and a half."""
OLDEST = 20  # rows: an event time that fewer precede is where delays were seen from
ENOUGH = 15.0  # rows that are expected in the last of two short parts, if it is as dense as the first
MANY = 100.0  # rows in all of these, without which nothing is said
DOUBT = 2.0  # deviations by which a tail may be less steep than it looks
BENT = 3.0  # deviations by which it may be less bent
MISFIT = 21.0  # in squared deviations: how far twelve parts may be off a parabola, one time in a hundred
HEAVIEST = 2.0  # the exponent of the heaviest tail that is believed in: two modes have none for a while
RISING = 0.5  # the same as long as longer delays are no rarer and nothing was released: the bulk is to come
FAR = (np.arange(400) + 0.5) / 100  # beyond the end, on either scale of the delay: where the tail is added up


def beyond(delays: Floats, events: Floats, age: int, *, released: bool, grain: int = 1) -> float:
    """The share of rows that are probably later than a stream is old.

    Given are the rows per delay so far, and per event time after the start, in buckets. A delay can show only in rows
    with event times that long ago, so each number is held against those.

    Where the last octave surely bends, the tail goes on as a parabola of the logarithm: exact for normal delays if the
    delay is linear, and for log-normal ones if its logarithm is. Otherwise it goes on as a power of the delay, as steep
    as it is for certain: exact for a Pareto tail, too much for a lighter one. Parts that are shorter than the grain of
    event times are not looked at: in between there are no rows.
    """
    shown = Shown(delays, events, age)
    shares, heaviest = [], HEAVIEST
    for tail in TAILS:
        ending, short = shown.ending(2, tail), tail < PER_OCTAVE
        if not short and not ending.rows.any():
            return 0.0
        if not ending.told_apart(2 * grain if short else 1) or (short and not ending.tells):
            break
        if not short and ending.exponent < 0 and not released:
            heaviest = RISING
        shares.append(ending.as_power(heaviest))
    ending = shown.ending(PARTS, PART)
    if ending.told_apart(2 * grain) and ending.rows.sum() >= MANY:
        scaled = ending.edges / ending.edges[-1]
        bent = min(ending.as_parabola(scale) for scale in (np.log(scaled), scaled - 1))
        if bent < inf:
            return min([*shares[:1], bent])
    return min(shares, default=1.0)


class Shown:
    """The delays that a stream of some age has shown, up to the longest that enough of its rows could have."""

    def __init__(self, delays: Floats, events: Floats, age: int) -> None:
        self._below = np.append(0.0, np.cumsum(delays))
        self._arrived = np.cumsum(events)
        self._age = age
        oldest = int(np.searchsorted(self._arrived, OLDEST))
        longest = max(1, age - int(LARGEST[min(oldest, BUCKETS - 1)]))
        self._last = int(bucket(np.array([longest]))[0])  # not wholly seen: the longest delay is in the bucket before

    def ending(self, parts: int, width: int) -> Ending:
        """The last parts of so many buckets each."""
        place = np.arange(parts + 1)
        bounds = np.maximum(place + 1, self._last - width * place[::-1])
        edges = LARGEST[bounds - 1]
        delay = edges[:-1, None] + np.diff(edges)[:, None] * (np.arange(8) + 0.5) / 8
        exposed = np.interp(self._age - delay, LARGEST, self._arrived).mean(axis=1)
        return Ending(edges, np.diff(self._below[bounds]), np.maximum(exposed, 1.0))


@dataclass(frozen=True, slots=True)
class Ending:
    """Parts between delays: the rows with such a delay, and how many could have shown it, on average."""

    edges: Floats
    rows: Floats
    exposed: Floats

    def told_apart(self, width: float) -> bool:
        """Whether all parts are as wide as this."""
        return bool(self.edges[0] > 0 and np.diff(self.edges).min() >= width)

    @property
    def tells(self) -> bool:
        """Whether the last part would have many rows if it were as dense as the one before."""
        return bool(self.rows[-2] * self.exposed[-1] / self.exposed[-2] >= ENOUGH)

    @property
    def _density(self) -> Floats:
        """Per factor of e."""
        density: Floats = (self.rows + 1) / self.exposed / np.diff(np.log(self.edges))
        return density

    @property
    def _apart(self) -> float:
        return float(np.log(self.edges[2] / self.edges[0]) / 2)

    @property
    def exponent(self) -> float:
        """How steep two parts are, as a power of the delay."""
        return float(-np.diff(np.log(self._density))[0]) / self._apart

    def as_power(self, heaviest: float) -> float:
        """The share beyond two parts that go on as a power of the delay."""
        doubt = DOUBT * sqrt(float((1 / (self.rows + 1)).sum())) / self._apart
        end = float(self._density[1] * (self.edges[1] / self.edges[2]) ** (self.exponent / 2))
        return end / max(self.exponent - doubt, heaviest)

    def as_parabola(self, scale: Floats) -> float:
        """The share beyond parts with a parabola as the logarithm of their density; inf if none surely bends and falls.

        The scale places the edges; its zero is the end. Least squares, each part weighted by its rows.
        """
        powers = ((scale[1:] + scale[:-1]) / 2)[:, None] ** np.arange(3)
        weight = self.rows + 0.5
        covariance = np.linalg.inv(powers.T @ (weight[:, None] * powers))
        wanted = np.log(weight / self.exposed / np.diff(scale))
        found = covariance @ (powers.T @ (weight * wanted))
        misfit = float((weight * (wanted - powers @ found) ** 2).sum())
        height, slope, bend = (found + BENT / sqrt(covariance[2, 2]) * covariance[2]).tolist()
        if slope >= 0 or bend >= 0 or misfit > MISFIT:
            return inf
        return float(np.exp(height + slope * FAR + bend * FAR**2).sum() * (FAR[1] - FAR[0]))
