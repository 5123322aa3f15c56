"""A batch as far as an estimator looks at it: how many rows have each event time, and the last rows one by one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slackwater.disorder.clock import EARLIEST, Times, minus

LAST = 1_024
"""So many of the latest rows are known one by one."""


UNKNOWN: tuple[Times, Times] = (np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass(frozen=True, slots=True)
class Tally:
    """A batch of rows in arrival order, added up.

    `event` has each event time once, in order, and `count` the number of its rows; `delay` and `delay_count` are the
    same of what lies between event time and arrival, where `delay_count` None stands for single rows in any order.
    `last_event` and `last_arrival` are the last rows; before these, `newest_before` and `clock_before` were the
    latest times of both kinds. `rows` are all of them, where somebody has them;
    the first batch of a stream is looked at row by row.

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
        """The tally of these rows, of which there is at least one."""
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
        """How many rows have an earlier event time."""
        return int(self.count[: np.searchsorted(self.event, time)].sum())

    def since(self, time: int) -> tuple[Times, Times]:
        """The event times that are not earlier, and how many rows have each."""
        first = np.searchsorted(self.event, time)
        return self.event[first:], self.count[first:]

    def delay_at(self, rank: int) -> int:
        """The delay that `rank` rows undercut."""
        if self.delay_count is None:
            return int(np.partition(self.delay, rank)[rank])
        return int(self.delay[np.searchsorted(np.cumsum(self.delay_count), rank, side="right")])

    def delayed(self, by: int) -> int:
        """How many rows were delayed by more."""
        more = self.delay > by
        return int(np.count_nonzero(more) if self.delay_count is None else self.delay_count[more].sum())
