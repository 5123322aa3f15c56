"""The adaptive measure of ADC (figure 3, equations 4 to 8) and WIN (figure 5, equations 5.4 to 5.8)."""

from __future__ import annotations

from math import ceil, inf, sqrt

from slackwater.disorder.clock import Times, clamp, minus
from slackwater.disorder.estimator import NO_PUNCTUATION, Sources, named, z
from slackwater.disorder.papers.vseq import SMALLEST, VSeq
from slackwater.disorder.state import pack, unpack

VERSION = 1


def largest_n(c: float, sigma: float, theta: float) -> float:
    """Return the largest natural n with n^2 - c n - 2 c sigma^2 / theta^2 < 0 (inequality 7; 5.7 in WIN).

    >>> largest_n(z(0.01) ** 2, sigma=0.5, theta=0.05)
    35.0
    """
    if theta == 0:
        return inf if c * sigma > 0 else max(0.0, ceil(c) - 1.0)
    root = (c + sqrt(c * c + 8 * c * (sigma / theta) ** 2)) / 2
    return max(0.0, ceil(root) - 1.0) if root < 1e15 else root


def width(n: float, c: float, sigma: float, theta: float) -> float:
    """Return n theta, the interval that keeps D, or its limit sqrt(2 c) sigma if all rows arrive at one instant."""
    return n * theta if theta > 0 else sqrt(2 * c) * sigma


@named("adaptive")
class Adaptive:
    """Assumes normal delays and exponential intervals; punctuation = t_n - mu - n_p theta (8).

    One call with one row is figure 3. One call with a batch puts all of its rows through VSeq, and then runs steps 2 to
    6 once, after the last row. VSeq is resized to n_p, at least 30 and at most 65,536 rows; n_p in (8) has the lower
    bound only.

    >>> import numpy as np
    >>> second = np.arange(30)
    >>> Adaptive(unit="s").observe(second, second + 3)      # sigma 0: n_p 30, theta 29/30
    0
    """

    __slots__ = ("_c", "_punctuation", "_vseq")

    def __init__(self, dratio: float = 0.01, *, unit: str = "us") -> None:
        self._c = z(dratio) ** 2
        self._vseq = VSeq()
        self._punctuation = NO_PUNCTUATION

    @property
    def n(self) -> int:
        """Return the current size of VSeq."""
        return self._vseq.n

    def observe(self, event: Times, arrival: Times, source: Sources | None = None) -> int:
        if not len(event):
            return self._punctuation
        self._vseq.push(arrival, minus(arrival, event))
        if self._vseq.ready:
            self._estimate()
        return self._punctuation

    def _estimate(self) -> None:
        seen = self._vseq.moments()
        n = max(SMALLEST, largest_n(self._c, seen.sigma, seen.theta))
        region = seen.offset + width(n, self._c, seen.sigma, seen.theta)
        self._punctuation = max(self._punctuation, clamp(seen.newest - seen.base - ceil(region)))
        self._vseq.resize(n)

    def state(self) -> bytes:
        return pack("adaptive", VERSION, {"punctuation": self._punctuation, **self._vseq.fields()})

    def restore(self, state: bytes) -> None:
        fields = unpack(state, "adaptive", VERSION)
        self._punctuation = fields.integer("punctuation")
        self._vseq = VSeq.of(fields)
