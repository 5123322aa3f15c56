"""A batch summarised for an estimator: rows per event time and per delay, and the last rows one by one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slackwater.disorder.clock import EARLIEST, Times, minus

LAST = 1_024
"""How many of the latest rows are kept one by one; `budget` learns from their ages. More rows enlarge the state."""


UNKNOWN: tuple[Times, Times] = (np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass(frozen=True, slots=True)
class Tally:
    """A batch of rows in arrival order, as counts.

    `event` holds each event time once, in order, and `count` its number of rows. `delay` and `delay_count` are the same
    for delays (arrival minus event time); `delay_count` None means single rows in any order. `last_event` and
    `last_arrival` are the last rows; `newest_before` and `clock_before` are the latest event time and arrival before
    those. `rows` are all rows, if they are available: estimators look at the first batch of a stream row by row.

    >>> tally = Tally.of(np.array([5, 3, 5]), np.array([6, 7, 9]))
    >>> tally.event.tolist(), tally.count.tolist(), tally.clock, tally.before(5), tally.delay_at(2)
    ([3, 5], [1, 2], 9, 1, 4)
    """

    event: Times
    count: Times
    clock: int
    delay: Times
    delay_count: Times | None
    last_event: Times
    last_arrival: Times
    newest_before: int = EARLIEST
    clock_before: int = EARLIEST
    rows: tuple[Times, Times] = UNKNOWN

    @classmethod
    def of(cls, event: Times, arrival: Times) -> Tally:
        """Return the tally of these rows. There must be at least one."""
        times, count = np.unique(event, return_counts=True)
        return cls(
            times,
            count,
            int(arrival.max()),
            minus(arrival, event),
            None,
            event[-LAST:],
            arrival[-LAST:],
            int(event[:-LAST].max(initial=EARLIEST)),
            int(arrival[:-LAST].max(initial=EARLIEST)),
            (event, arrival),
        )

    @property
    def size(self) -> int:
        return int(self.count.sum())

    @property
    def newest(self) -> int:
        return int(self.event[-1])

    def before(self, time: int) -> int:
        """Return how many rows have an earlier event time."""
        return int(self.count[: np.searchsorted(self.event, time)].sum())

    def since(self, time: int) -> tuple[Times, Times]:
        """Return the event times that are not earlier, and the number of rows of each."""
        first = np.searchsorted(self.event, time)
        return self.event[first:], self.count[first:]

    def delay_at(self, rank: int) -> int:
        """Return the delay at this rank, counted from 0 in ascending order."""
        if self.delay_count is None:
            return int(np.partition(self.delay, rank)[rank])
        return int(self.delay[np.searchsorted(np.cumsum(self.delay_count), rank, side="right")])

    def delayed(self, by: int) -> int:
        """Return how many rows have a larger delay."""
        more = self.delay > by
        return int(np.count_nonzero(more) if self.delay_count is None else self.delay_count[more].sum())
