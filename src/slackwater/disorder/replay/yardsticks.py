"""Yardsticks from hindsight: the best constant delay, and the best delay per interval.

Both get the number of rows that they may lose, so that they compare with an estimator at the same realised late share.
Both are then replayed like any estimator: in the same batches, never decreasing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from slackwater.disorder.replay.replaying import Batches, Bools, Floats, Ints, Measures, measure

Form = Literal["now", "newest"]

NEVER_LATE = np.iinfo(np.int64).min // 4
"""The score of a row that is on time at any delay."""
CANDIDATES = 128
"""Candidate delays per interval. More candidates are slower and come closer to the best delay."""
ROUNDS = 30
"""Rounds of bisecting the price."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A fixed delay behind a clock. `withWatermark` does this with the newest timestamp."""

    form: Form
    delay: int
    punctuation: Ints
    measures: Measures


def newest(batches: Batches, honest: Bools | None = None) -> Ints:
    """Return the newest timestamp after each batch, of the rows whose clock is not far ahead."""
    event = batches.event if honest is None else np.where(honest, batches.event, batches.event.min())
    return np.maximum.accumulate(event)[batches.ends - 1]


def scores(batches: Batches, clock: Ints, latest: Ints) -> Ints:
    """Return, for each row, the smallest delay behind `clock` at which it is on time.

    No punctuation passes the newest timestamp, as that would release nothing and only lose rows. So a row that is no
    older than that is never late, nor is any row of the first batch.
    """
    newer = batches.event >= batches.before(latest)
    newer[: batches.ends[0]] = True
    return np.where(newer, NEVER_LATE, batches.before(clock, first=0) - batches.event)


def best_constant(batches: Batches, late: int, form: Form = "now", honest: Bools | None = None) -> Constant:
    """Return the smallest constant delay that loses at most `late` rows."""
    latest = newest(batches, honest)
    clock = batches.clock if form == "now" else latest
    delay = smallest_delay(scores(batches, clock, latest), late)
    if delay == NEVER_LATE:
        delay = int((clock - latest).min())
    punctuation = np.minimum(clock - delay, latest)
    return Constant(form, delay, punctuation, measure(batches, punctuation))


def smallest_delay(score: Ints, late: int) -> int:
    """Return the smallest delay that at most `late` scores exceed.

    >>> smallest_delay(np.array([5, 1, 9, 3]), 1)
    5
    """
    place = len(score) - 1 - min(late, len(score) - 1)
    return int(np.partition(score, place)[place])


def best_of_constants(batches: Batches, late: int, honest: Bools | None = None) -> Constant:
    """Return the better constant delay: behind the clock (`now`) or behind the newest row."""
    forms: tuple[Form, Form] = ("now", "newest")
    return min((best_constant(batches, late, form, honest) for form in forms), key=lambda each: each.measures.mean_hold)


@dataclass(frozen=True, slots=True)
class PerInterval:
    """One delay per interval. All are chosen together, so that rows are lost where that saves the most hold."""

    price: float
    delays: Ints
    punctuation: Ints
    measures: Measures


def best_per_interval(batches: Batches, late: int, intervals: int = 50, honest: Bools | None = None) -> PerInterval:
    """Return one constant delay per interval. One price per lost row shares the budget between the intervals.

    In each interval the delay minimises hold + price * rows lost. The price is bisected until the replay, in which a
    punctuation cannot step back when the delay grows, loses at most `late` rows.
    """
    latest = newest(batches, honest)
    part = np.arange(len(batches.ends)) * min(intervals, len(batches.ends)) // len(batches.ends)
    table = _tables(batches, part, latest)
    low, high = 0.0, float(batches.clock[-1] - batches.arrival[0]) * len(batches.event) + 1.0
    best: PerInterval | None = None
    for _ in range(ROUNDS):
        price = np.sqrt(low * high) if low > 0 else high / 2**20
        found = _at_price(batches, table, part, latest, price)
        if found.measures.late <= late:
            high = price
            if best is None or found.measures.mean_hold <= best.measures.mean_hold:
                best = found
        else:
            low = price
    constant = best_constant(batches, late, "now", honest)
    if best is None or constant.measures.mean_hold < best.measures.mean_hold:
        # The same delay in every interval is a candidate too, which bisecting the price may miss.
        delays = np.full(part[-1] + 1, constant.delay, np.int64)
        return PerInterval(high, delays, constant.punctuation, constant.measures)
    return best


def _tables(batches: Batches, part: Ints, latest: Ints) -> list[tuple[Ints, Floats, Ints]]:
    """Return, for each interval, candidate delays, the hold of each, and the rows that each loses."""
    score = scores(batches, batches.clock, latest)
    row_part = part[batches.batch_of]
    return [_table(batches, score, row_part == number) for number in range(part[-1] + 1)]


def _table(batches: Batches, score: Ints, inside: Bools) -> tuple[Ints, Floats, Ints]:
    event, arrival, own = batches.event[inside], batches.arrival[inside], score[inside]
    levels = np.concatenate([np.linspace(0.0, 0.9, 8), 1.0 - np.geomspace(0.1, 1e-5, CANDIDATES), [1.0]])
    delays = np.unique(np.quantile(own, levels, method="higher").astype(np.int64))
    delays = delays[delays > NEVER_LATE] if (delays > NEVER_LATE).any() else np.array([0], np.int64)
    clock = np.append(batches.clock, batches.clock[-1])
    hold = np.empty(len(delays))
    for place, delay in enumerate(delays.tolist()):
        released = clock[np.searchsorted(batches.clock, event + delay)]
        hold[place] = np.maximum(released - arrival, 0)[own <= delay].sum()
    late = len(own) - np.searchsorted(np.sort(own), delays, side="right")
    return delays, hold, late.astype(np.int64)


def _at_price(
    batches: Batches, table: list[tuple[Ints, Floats, Ints]], part: Ints, latest: Ints, price: float
) -> PerInterval:
    chosen = [delays[np.argmin(hold + price * late)] for delays, hold, late in table]
    delays = np.array(chosen, np.int64)
    punctuation = np.maximum.accumulate(np.minimum(batches.clock - delays[part], latest))
    return PerInterval(price, delays, punctuation, measure(batches, punctuation))
