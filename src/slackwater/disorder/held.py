"""The event times of the held rows (arrived, but not passed by the punctuation): exact and compact."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from slackwater.disorder.clock import EARLIEST, LATEST, Times
from slackwater.errors import RunError

Run = tuple[Times, Times]
"""Sorted distinct event times, and the number of rows of each."""

EMPTY: Times = np.empty(0, np.int64)
MOST = 1 << 27
"""The most rows that may be held; a larger value lets a stuck stream take more of the driver's memory."""


class Held:
    """A multiset of event times: a few sorted runs with counts, each at least twice as long as the next.

    A batch is merged with runs of its own size, so that a row takes part in at most log2(held / batch) merges. Counting
    and releasing are binary searches.

    >>> held = Held()
    >>> held.add(np.array([3, 5, 9]), np.array([2, 1, 1]))
    >>> event, count = held.release(4)
    >>> event.tolist(), count.tolist(), len(held)
    ([3], [2], 2)
    >>> held.oldest
    5
    >>> held.beyond(1)      # the smallest punctuation that leaves at most one row behind it
    6
    """

    __slots__ = ("_rows", "_runs")

    def __init__(self) -> None:
        self._runs: list[Run] = []
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def add(self, event: Times, count: Times) -> None:
        """Add sorted distinct event times with the number of rows of each."""
        rows = int(count.sum())
        if self._rows + rows > MOST:
            raise RunError(
                "SW-522",
                f"more than {MOST:,} rows are held back",
                hint="set BSIZE, or a larger DRATIO, so that rows are released",
            )
        self._rows += rows
        run = event, count
        while self._runs and len(self._runs[-1][0]) < 2 * len(run[0]):
            run = merged([self._runs.pop(), run])
        if len(run[0]):
            self._runs.append(run)

    def release(self, punctuation: int) -> Run:
        """Remove the rows before the punctuation; return their event times, in no order, with counts."""
        cut = [(run, int(np.searchsorted(run[0], punctuation))) for run in self._runs]
        released = [(event[:first], count[:first]) for (event, count), first in cut if first]
        self._rows -= sum(int(count.sum()) for _, count in released)
        rest = [(_own(event[first:]), _own(count[first:])) for (event, count), first in cut if first < len(event)]
        self._runs = sorted(rest, key=lambda run: len(run[0]), reverse=True)
        return joined(released)

    @property
    def oldest(self) -> int:
        """Return the smallest event time, or the latest time if no row is held."""
        return min((int(event[0]) for event, _ in self._runs), default=LATEST)

    def beyond(self, most: int) -> int:
        """Return the smallest punctuation that leaves at most ``most`` rows held, or the earliest time."""
        surplus = self._rows - most
        if surplus <= 0:
            return EARLIEST
        event, count = self.rows()
        last_out = int(event[np.searchsorted(np.cumsum(count), surplus)])
        return min(LATEST, last_out + 1)

    def rows(self) -> Run:
        """Return the event times in order, and the number of rows of each."""
        return merged(self._runs) if self._runs else (EMPTY, EMPTY)

    @classmethod
    def of(cls, event: Times, count: Times) -> Held:
        held = cls()
        if len(event):
            held._runs, held._rows = [(event, count)], int(count.sum())
        return held


def deltas(rows: Times) -> Times:
    """Return sorted rows as differences from their predecessors: small numbers, which compress well in state."""
    return np.diff(rows, prepend=np.int64(0))  # may wrap; cumsum wraps back


def joined(runs: Sequence[Run]) -> Run:
    """Return the concatenation of several runs, as copies."""
    if not runs:
        return EMPTY, EMPTY
    return np.concatenate([event for event, _ in runs]), np.concatenate([count for _, count in runs])


def merged(runs: Sequence[Run]) -> Run:
    """Return several runs, sorted or not, as one run."""
    event, count = joined(runs)
    order = np.argsort(event, kind="stable")  # the stable sort merges sorted runs in one pass
    event, count = event[order], count[order]
    first = np.flatnonzero(np.append(True, event[1:] != event[:-1])[: len(event)])
    return event[first], np.add.reduceat(count, first) if len(first) else count


def _own(run: Times) -> Times:
    """Copy a run that is a small part of its array, so that the array can be freed."""
    return run.copy() if run.base is not None and 2 * run.size <= run.base.size else run
