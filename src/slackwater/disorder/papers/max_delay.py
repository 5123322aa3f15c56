"""STREAM's measure, as in WIN section 7: now minus the largest delay seen."""

from __future__ import annotations

from slackwater.disorder.clock import EARLIEST, Times, clamp, minus
from slackwater.disorder.estimator import NO_PUNCTUATION, Sources, named
from slackwater.disorder.state import pack, unpack

VERSION = 1


@named("max-delay")
class MaxDelay:
    """punctuation = t - m, with t the arrival of the latest row and m the largest delay of any row so far.

    One call per batch returns what one call per row returns after the batch's last row, unless the arrival clock steps
    back: row by row, the largest punctuation on the way counts.

    >>> import numpy as np
    >>> MaxDelay().observe(np.array([10, 11, 5]), np.array([12, 13, 14]))
    5
    """

    __slots__ = ("_largest", "_punctuation")

    def __init__(self, dratio: float = 0.01, *, unit: str = "us") -> None:
        self._largest = EARLIEST
        self._punctuation = NO_PUNCTUATION

    def observe(self, event: Times, arrival: Times, source: Sources | None = None) -> int:
        if len(event):
            self._largest = max(self._largest, int(minus(arrival, event).max()))
            self._punctuation = max(self._punctuation, clamp(int(arrival[-1]) - self._largest))
        return self._punctuation

    def state(self) -> bytes:
        return pack("max-delay", VERSION, {"largest": self._largest, "punctuation": self._punctuation})

    def restore(self, state: bytes) -> None:
        fields = unpack(state, "max-delay", VERSION)
        self._largest = fields.integer("largest")
        self._punctuation = fields.integer("punctuation")
