"""The newest event times of a stream: the punctuation stops at one of them.

A punctuation between two event times releases no row more than one at the lower of the two, and loses every row that is
still to come in between. Stopping there costs nothing, and timestamps of whole seconds are never split.
"""

from __future__ import annotations

import numpy as np

from slackwater.disorder.clock import Times
from slackwater.disorder.state import Fields, Value
from slackwater.disorder.tally import Tally


class SeenTimes:
    """Remembers the last event times, in order and each once.

    >>> seen = SeenTimes(most=8)
    >>> seen.enter(Tally.of(np.array([10, 20, 30]), np.array([31, 32, 33])))
    >>> seen.below(27, furthest=10), seen.below(27, furthest=5), seen.below(9, furthest=10)
    (20, 22, 9)
    """

    __slots__ = ("_most", "_times")

    def __init__(self, most: int) -> None:
        self._most = most
        self._times: Times = np.empty(0, np.int64)

    def enter(self, batch: Tally) -> None:
        self._times = np.union1d(self._times, batch.event[-self._most :])[-self._most :]

    def below(self, aim: int, furthest: int) -> int:
        """Return the last event time up to `aim`, but at most `furthest` before it; `aim` if none is remembered."""
        place = int(np.searchsorted(self._times, aim, side="right"))
        return max(int(self._times[place - 1]), aim - furthest) if place else aim

    def fields(self) -> dict[str, Value]:
        return {"seen_times": self._times}

    def restore(self, fields: Fields) -> None:
        self._times = fields.times("seen_times")
