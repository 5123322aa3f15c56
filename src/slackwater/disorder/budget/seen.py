"""The newest event times that a stream has shown.

A punctuation that lies between two of them releases no row more than one that stays at the lower, and loses every row
that is still to come in between.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slackwater.disorder.clock import LATEST, Times, minus
from slackwater.disorder.state import Fields, Value
from slackwater.disorder.tally import Tally

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

MOST = 1_024  # event times that are remembered: where more are in flight, little lies between them
FURTHEST = 3.0  # delays that the punctuation may stay behind its aim: windows wait for it, too
FAR = 9.0e18
COARSE = 0.5  # of the rows share their event time with another one: there is nothing in between to come


class Seen:
    """The last event times, in order and each once, and how many rows had one to themselves.

    >>> seen = Seen()
    >>> before, now = seen.enter(Tally.of(np.array([10, 20]), np.array([21, 22])))
    >>> before, now = seen.enter(Tally.of(np.array([13, 30]), np.array([31, 32])))
    >>> before[0], now[0]                               # 13 is passed when the punctuation reaches 20
    (np.int64(19), np.int64(19))
    >>> seen.below(np.array([17]), np.array([5.0]))     # 13 will do
    array([13])
    """

    __slots__ = ("_alone", "_rows", "_times")

    def __init__(self) -> None:
        self._times: Times = np.empty(0, np.int64)
        self._rows = self._alone = 0

    def enter(self, batch: Tally) -> tuple[Times, Times]:
        """Takes in a batch. How far a punctuation may aim and not pass its event times: as it came, and from now on."""
        known = self._known(batch.event)
        shared = known | (batch.count > 1)
        self._rows += batch.size
        self._alone += int(np.count_nonzero(~shared))
        before = self._spares(batch.event, shared)
        new = batch.event[~known][-MOST:]
        self._times = np.sort(np.concatenate([self._times, new]), kind="stable")[-MOST:]
        return before, self._spares(batch.event, shared)

    def _known(self, event: Times) -> Bools:
        known: Bools = np.append(self._times, LATEST)[np.searchsorted(self._times, event)] == event
        return known

    @property
    def _coarse(self) -> bool:
        return self._rows - self._alone > COARSE * self._rows

    def _spares(self, event: Times, shared: Bools) -> Times:
        """The last aim that spares each: just before the next event time above it that was seen.

        Rows that share theirs are not to be told from a crowd of which more are to come: these are spared up to their
        own time only, as are those that are older than all that are remembered.
        """
        if not len(self._times) or self._coarse:
            return event
        place = np.searchsorted(self._times, event, side="right")
        return np.where(shared | (place == 0), event, np.append(self._times, LATEST)[place] - 1)

    def below(self, aim: Times, delay: Floats) -> Times:
        """Where punctuations stay that aim at these times, with these delays: at the last event time that they pass."""
        if not len(self._times) or self._coarse:
            return aim
        place = np.searchsorted(self._times, aim, side="right")
        furthest = minus(aim, np.minimum(FURTHEST * delay, FAR).astype(np.int64))
        return np.where(place == 0, aim, np.maximum(self._times[place - 1], furthest))

    def fields(self) -> dict[str, Value]:
        return {"seen_times": self._times, "seen_rows": self._rows, "seen_alone": self._alone}

    def restore(self, fields: Fields) -> None:
        self._times = fields.times("seen_times")
        self._rows, self._alone = fields.integer("seen_rows"), fields.integer("seen_alone")


def scores(clock: Times, event: Times, spares: Times) -> Times:
    """The smallest delay behind a clock at which each row is on time, given the last aim that spares it."""
    furthest = np.ceil(np.maximum(minus(clock, event), 0) / (1 + FURTHEST)).astype(np.int64)
    return np.maximum(minus(clock, spares), furthest)
