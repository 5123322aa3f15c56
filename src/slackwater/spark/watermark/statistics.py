"""Statistics of a batch for displays: the delays, the holds and the latest late rows of a control.

Nothing here decides anything: a controller and its account are the same with and without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from slackwater.disorder.clock import Times, minus
from slackwater.disorder.held import Run
from slackwater.spark.watermark.punctuate import EPOCH
from slackwater.spark.watermark.readings import Reading

PER_OCTAVE = 8
"""Buckets of a histogram between a delay and twice that delay: each is 9% wide."""
BUCKETS = 63 * PER_OCTAVE + 2
"""The number of buckets for all delays of 64 bits: the largest size of a record."""
REMEMBERED = 0.9
"""The factor by which the weight of earlier delays shrinks in each batch. Nearer to 1, holds follow changes slowly."""
POINTS = 64
"""Quantiles of the ages of released rows from which holds are estimated. More take time and change little."""
LATE_ROWS = 5
"""The number of late rows, the last ones, in a record."""

Weights = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Seen:
    """The statistics of one batch: the counts of delays by bucket, and the median and 99% quantile of holds in ms.

    `late_rows` are the last late rows as (event time, arrival), `against` is the punctuation by which they were late.
    """

    delays: dict[int, int]
    hold_p50: float
    hold_p99: float
    late_rows: tuple[tuple[int, int], ...]
    against: int

    @property
    def document(self) -> dict[str, Any]:
        return {
            "delays": [list(self.delays), list(self.delays.values())],
            "hold_p50": round(self.hold_p50, 1),
            "hold_p99": round(self.hold_p99, 1),
            "late_rows": [list(each) for each in self.late_rows],
            "against": self.against,
        }


class Sight:
    """Takes one batch after the other, and remembers recent delays, from which it estimates holds."""

    def __init__(self) -> None:
        self.recent: Weights = np.zeros(BUCKETS)
        self.holds = 0.0, 0.0

    def see(self, reading: Reading, against: int, clock: int, released: Run, skew: int) -> Seen:
        """Return the record of a batch: rows were late `against` a punctuation, and `released` rows left at `clock`."""
        event, arrival, delay, count = _rows(reading, skew)
        counts = np.bincount(bucket_of(delay), count, BUCKETS)
        self.recent = self.recent * REMEMBERED + counts
        if len(released[0]):  # a batch that releases no row leaves the last holds unchanged
            self.holds = _holds(released, clock, self.recent)
        late = np.flatnonzero((event < against) & (event >= EPOCH))[-LATE_ROWS:]
        filled = np.flatnonzero(counts)
        return Seen(
            dict(zip(filled.tolist(), counts[filled].astype(int).tolist(), strict=True)),
            *self.holds,
            tuple(zip(event[late].tolist(), arrival[late].tolist(), strict=True)),
            against,
        )


def bucket_of(delay: Times) -> Times:
    """Return the bucket of each delay in ms: 0 below 1 ms, then 8 for each doubling.

    >>> bucket_of(np.array([-5, 0, 1, 2, 3, 1_000])).tolist()
    [0, 0, 1, 9, 13, 80]
    """
    positive = np.maximum(delay, 1).astype(np.float64)
    return np.where(delay < 1, 0, 1 + np.floor(PER_OCTAVE * np.log2(positive))).astype(np.int64)


def middles() -> Weights:
    """Return the middle of each bucket, in ms."""
    places = np.arange(BUCKETS, dtype=np.float64)
    return np.where(places == 0, 0.0, 2.0 ** ((places - 0.5) / PER_OCTAVE))


def _rows(reading: Reading, skew: int) -> tuple[Times, Times, Times, Times | None]:
    """Return the event times and arrivals of listed rows, and all delays with their counts."""
    tally = reading.sums.tally if reading.sums else None
    if tally is not None:
        return tally.last_event, tally.last_arrival, tally.delay, tally.delay_count
    honest = minus(reading.batch.event, reading.batch.arrival) <= skew
    event, arrival = reading.batch.event[honest], reading.batch.arrival[honest]
    return event, arrival, minus(arrival, event), None


def _holds(released: Run, clock: int, delays: Weights) -> tuple[float, float]:
    """Estimate the median and the 99% quantile of the time from arrival to release.

    A row of age `a` at its release that was delayed by `d` was held for `a - d`. The ages are exact; the delay is taken
    from the recent delays that are not larger than the age.
    """
    event, count = released
    if not delays.any():
        return 0.0, 0.0
    order = np.argsort(event)
    ranks = np.cumsum(count[order])
    chosen = np.searchsorted(ranks, (np.arange(POINTS) + 0.5) / POINTS * ranks[-1])
    ages = np.maximum(clock - event[order][chosen], 0).astype(np.float64)
    held = ages[:, None] - MIDDLES[None, :]
    weights = np.where(held >= 0, delays[None, :], 0.0)
    whole = weights.sum(axis=1, keepdims=True)
    weights = np.divide(weights, whole, out=np.zeros_like(weights), where=whole > 0)
    weights[whole[:, 0] == 0, 0] = 1.0
    flat = np.argsort(held, axis=None)
    share = np.cumsum(weights.ravel()[flat])
    at = np.searchsorted(share, np.array([0.5, 0.99]) * share[-1])
    median, high = np.maximum(held.ravel()[flat][at], 0.0).tolist()
    return median, high


MIDDLES = middles()
