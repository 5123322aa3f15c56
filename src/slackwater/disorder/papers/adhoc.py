"""The ad hoc measure with which ADC compares itself (figure 4)."""

from __future__ import annotations

from math import floor

from slackwater.disorder.clock import Times, clamp, ticks_per_second
from slackwater.disorder.estimator import NO_PUNCTUATION, Sources, named, z
from slackwater.disorder.papers.vseq import SMALLEST, SequenceMoments, VSeq
from slackwater.disorder.state import pack, unpack

VERSION = 1


@named("adhoc")
class AdHoc:
    """punctuation = mu_t - sigma_t + 2 D sigma_t, with the mean and deviation of the *timestamps* in VSeq.

    Figure 4 resizes VSeq to N + sigma_t z(D) theta, where N is the smallest size, 30. The second term is a time squared
    and not a number of rows; it is used as printed, with both times in seconds. Batches are handled as in ``adaptive``.

    >>> import numpy as np
    >>> AdHoc(0.01, unit="s").observe(np.arange(30), np.arange(30))     # 14.5 - 0.98 * 8.66 = 6.02
    6
    """

    __slots__ = ("_dratio", "_punctuation", "_second", "_vseq", "_z")

    def __init__(self, dratio: float = 0.01, *, unit: str = "us") -> None:
        self._dratio = dratio
        self._z = z(dratio)
        self._second = ticks_per_second(unit)
        self._vseq = VSeq()
        self._punctuation = NO_PUNCTUATION

    def observe(self, event: Times, arrival: Times, source: Sources | None = None) -> int:
        if not len(event):
            return self._punctuation
        self._vseq.push(arrival, event)
        if self._vseq.ready:
            self._estimate()
        return self._punctuation

    def _estimate(self) -> None:
        seen = self._vseq.moments()
        behind = seen.offset - seen.sigma + 2 * self._dratio * seen.sigma
        self._punctuation = max(self._punctuation, clamp(seen.base + floor(behind)))
        self._vseq.resize(self._size(seen))

    def _size(self, seen: SequenceMoments) -> float:
        """Return the size of VSeq by step 5, as printed."""
        return SMALLEST + seen.sigma / self._second * self._z * seen.theta / self._second

    def state(self) -> bytes:
        return pack("adhoc", VERSION, {"punctuation": self._punctuation, **self._vseq.fields()})

    def restore(self, state: bytes) -> None:
        fields = unpack(state, "adhoc", VERSION)
        self._punctuation = fields.integer("punctuation")
        self._vseq = VSeq.of(fields)
