"""A common measure in practice: the newest timestamp minus a quantile of recent latenesses, without feedback."""

from __future__ import annotations

from math import ceil

import numpy as np

from slackwater.disorder.clock import EARLIEST, Times, clamp, minus
from slackwater.disorder.estimator import NO_PUNCTUATION, Sources, named
from slackwater.disorder.held import EMPTY
from slackwater.disorder.state import Value, pack, unpack

VERSION = 1
WINDOW = 4_096
"""Rows whose lateness is remembered. More rows estimate smaller ratios, and adapt more slowly."""
LEAST = 250
"""Rows before the first punctuation."""


@named("quantile")
class Quantile:
    """punctuation = newest - q, with q the (1 - D) quantile of the latenesses of the last 4,096 rows.

    It starts at the 250th row. A row's lateness is its distance behind the newest timestamp so far, its own included.
    The quantile is the smallest lateness that at least (1 - D) of the rows do not exceed. One call with a batch returns
    what one call per row returns after the last row, except that the punctuation may have been higher in between.

    >>> Quantile(0.4).observe(np.repeat([100, 90], 125), np.arange(250))
    90
    """

    __slots__ = ("_dratio", "_late_by", "_newest", "_punctuation")

    def __init__(self, dratio: float = 0.01, *, unit: str = "us") -> None:
        self._dratio = dratio
        self._late_by: Times = EMPTY
        self._newest = EARLIEST
        self._punctuation = NO_PUNCTUATION

    def observe(self, event: Times, arrival: Times, source: Sources | None = None) -> int:
        if not len(event):
            return self._punctuation
        newest = np.maximum(np.maximum.accumulate(event), self._newest)
        self._newest = int(newest[-1])
        self._late_by = np.concatenate((self._late_by, minus(newest, event)))[-WINDOW:]
        if len(self._late_by) >= LEAST:
            self._punctuation = max(self._punctuation, clamp(self._newest - self._level()))
        return self._punctuation

    def _level(self) -> int:
        rows = len(self._late_by)
        rank = min(rows, max(1, ceil((1 - self._dratio) * rows))) - 1
        return int(np.partition(self._late_by, rank)[rank])

    def state(self) -> bytes:
        fields: dict[str, Value] = {"late_by": self._late_by, "newest": self._newest, "punctuation": self._punctuation}
        return pack("quantile", VERSION, fields)

    def restore(self, state: bytes) -> None:
        fields = unpack(state, "quantile", VERSION)
        self._late_by = fields.times("late_by")
        self._newest = fields.integer("newest")
        self._punctuation = fields.integer("punctuation")
