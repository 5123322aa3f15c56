"""Aurora's slack (SLACK n): a buffer of n rows. The largest timestamp that it pushes out is the punctuation."""

from __future__ import annotations

import numpy as np

from slackwater.disorder.clock import Times
from slackwater.disorder.estimator import NO_PUNCTUATION, Sources, named
from slackwater.disorder.held import EMPTY, deltas
from slackwater.disorder.state import pack, unpack
from slackwater.errors import InputError

VERSION = 1


def largest(rows: Times, n: int) -> Times:
    """Return the n largest rows, in any order; all rows if there are fewer."""
    surplus = len(rows) - n
    return rows if surplus <= 0 else np.partition(rows, surplus)[surplus:]


@named("slack")
class Slack:
    """The largest timestamp pushed out of a buffer that holds the ``size`` largest timestamps.

    That is the (size + 1)-th largest timestamp seen, however the rows are cut into batches: a row more than ``size``
    positions out of order is late.

    >>> Slack(size=2).observe(np.array([4, 1, 5, 2, 6]), np.array([4, 5, 6, 7, 8]))
    4
    """

    __slots__ = ("_buffer", "_punctuation", "size")

    def __init__(self, dratio: float = 0.01, *, unit: str = "us", size: int = 100) -> None:
        if size < 0:
            raise InputError("SW-424", f"slack {size} is negative", expected="a number of rows, 0 or more")
        self.size = size
        self._buffer: Times = EMPTY
        self._punctuation = NO_PUNCTUATION

    def observe(self, event: Times, arrival: Times, source: Sources | None = None) -> int:
        room = self.size + 1
        self._buffer = largest(np.concatenate((self._buffer, event)), room)
        if len(self._buffer) == room:
            self._punctuation = max(self._punctuation, int(self._buffer.min()))
        return self._punctuation

    def state(self) -> bytes:
        return pack("slack", VERSION, {"buffer": deltas(np.sort(self._buffer)), "punctuation": self._punctuation})

    def restore(self, state: bytes) -> None:
        fields = unpack(state, "slack", VERSION)
        self._buffer = np.cumsum(fields.times("buffer"))
        self._punctuation = fields.integer("punctuation")
