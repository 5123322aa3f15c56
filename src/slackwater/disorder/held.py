"""The event times of the rows that arrived and were not yet passed by the punctuation: exact, and compact."""

from __future__ import annotations

import numpy as np

from slackwater.disorder.clock import EARLIEST, LATEST, Times
from slackwater.errors import RunError

EMPTY: Times = np.empty(0, np.int64)
MOST = 1 << 27


class Held:
    """A multiset of event times as a few sorted runs, each at least twice as long as the next.

    A batch is sorted once and merged with runs of its own size, so that a row takes part in at most
    log2(held / batch) merges; counting and passing are binary searches.

    >>> held = Held()
    >>> held.add(np.array([5, 3, 9, 3]))
    >>> held.release(4), len(held)
    (2, 2)
    >>> held.beyond(1)      # the smallest punctuation that leaves at most one row behind it
    6
    """

    __slots__ = ("_runs",)

    def __init__(self) -> None:
        self._runs: list[Times] = []

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    def add(self, event: Times) -> None:
        if len(self) + len(event) > MOST:
            raise RunError(
                "SW-522",
                f"more than {MOST:,} rows are held back",
                hint="set BSIZE, or a larger DRATIO, so that rows are released",
            )
        run = np.sort(event)
        while self._runs and len(self._runs[-1]) < 2 * len(run):
            run = np.concatenate((self._runs.pop(), run))
            run.sort(kind="stable")  # two sorted runs: the stable sort merges them in one pass
        if len(run):
            self._runs.append(run)

    def release(self, punctuation: int) -> int:
        """Forgets the rows before the punctuation; says how many there were."""
        before = len(self)
        runs = [run[np.searchsorted(run, punctuation) :] for run in self._runs]
        self._runs = sorted((_own(run) for run in runs if len(run)), key=len, reverse=True)
        return before - len(self)

    def beyond(self, most: int) -> int:
        """The smallest punctuation behind which at most ``most`` of the rows stay; the earliest if all may."""
        surplus = len(self) - most
        if surplus <= 0:
            return EARLIEST
        last_out = int(np.partition(np.concatenate(self._runs), surplus - 1)[surplus - 1])
        return min(LATEST, last_out + 1)

    def deltas(self) -> Times:
        """The rows in order, each but the first as its distance from the one before: small numbers, for state."""
        rows = np.sort(np.concatenate(self._runs)) if self._runs else EMPTY
        return np.diff(rows, prepend=np.int64(0))  # wraps where cumsum wraps back

    @classmethod
    def of(cls, deltas: Times) -> Held:
        held = cls()
        if len(deltas):
            held._runs = [np.cumsum(deltas)]
        return held


def _own(run: Times) -> Times:
    """A run that is a small rest of its array gets its own, so that the array can go."""
    return run.copy() if run.base is not None and 2 * run.size <= run.base.size else run
