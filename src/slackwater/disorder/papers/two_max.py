"""The method of Srivastava and Widom, as ADC-J section 2 and figure 1 give it."""

from __future__ import annotations

from math import ceil

from slackwater.disorder.clock import EARLIEST, Times, clamp, minus, ticks_per_second
from slackwater.disorder.estimator import NO_PUNCTUATION, Sources, named
from slackwater.disorder.state import pack, unpack
from slackwater.errors import InputError

VERSION = 1
LEAST_WINDOW = 1_000
MOST_WINDOW = 1 << 20
"""Bounds of W in rows. A larger W lets the delay m decrease more slowly."""


@named("two-max")
class TwoMax:
    """punctuation = t - m, with m = (m1 + m2) / 2 taken every W rows.

    m1 is the largest delay seen. A larger delay raises m at once and starts a new interval of W rows. At the end of an
    interval, m becomes (m1 + m2) / 2, where m2 is the largest delay within the interval, and that is the m1 of the next
    interval. So W is the period at which m decreases (ADC-J, section 4). ``window`` fixes W in rows; without it W is
    lambda, the rows per second, and at least 1,000: W >= lambda (section 3.3).

    One call with a batch returns what one call per row returns after the last row, except that the punctuation may have
    been higher in between if the arrival clock stepped back.

    >>> import numpy as np
    >>> two_max = TwoMax(window=2, unit="s")
    >>> two_max.observe(np.array([0]), np.array([8]))               # m1 = 8
    0
    >>> two_max.observe(np.array([6, 7]), np.array([10, 11]))       # m2 = 4: m = 6
    5
    """

    __slots__ = ("_first", "_m1", "_m2", "_now", "_passed", "_punctuation", "_rows", "_second", "_width", "window")

    def __init__(self, dratio: float = 0.01, *, unit: str = "us", window: int | None = None) -> None:
        if window is not None and window < 1:
            raise InputError("SW-424", f"window {window} is no number of rows", expected="1 or more")
        self.window = window
        self._second = ticks_per_second(unit)
        self._m1 = self._m2 = EARLIEST
        self._passed = self._rows = 0
        self._width = window or LEAST_WINDOW
        self._first = self._now = 0
        self._punctuation = NO_PUNCTUATION

    def observe(self, event: Times, arrival: Times, source: Sources | None = None) -> int:
        if not len(event):
            return self._punctuation
        self._clock(arrival)
        delay = minus(arrival, event)
        while len(delay):
            delay = delay[self._take(delay) :]
        self._punctuation = max(self._punctuation, clamp(self._now - self._m1))
        return self._punctuation

    def _clock(self, arrival: Times) -> None:
        if not self._rows:
            self._first = int(arrival[0])
        self._rows += len(arrival)
        self._now = int(arrival[-1])

    def _take(self, delay: Times) -> int:
        """Read up to the next larger delay or the end of the interval; return the number of rows read."""
        ahead = delay[: self._width - self._passed]
        larger = ahead > self._m1
        raised = int(larger.argmax())
        if larger[raised]:
            self._m1 = int(ahead[raised])
            self._restart()
            return raised + 1
        self._passed += len(ahead)
        self._m2 = max(self._m2, int(ahead.max()))
        if self._passed == self._width:
            self._m1 = (self._m1 + self._m2) // 2
            self._restart()
        return len(ahead)

    def _restart(self) -> None:
        self._m2, self._passed = EARLIEST, 0
        self._width = self.window or self._lambda()

    def _lambda(self) -> int:
        """Return the rows per second since the start, within bounds."""
        elapsed = self._now - self._first
        rate = ceil((self._rows - 1) * self._second / elapsed) if elapsed > 0 else LEAST_WINDOW
        return min(max(rate, LEAST_WINDOW), MOST_WINDOW)

    def state(self) -> bytes:
        fields = {"m1": self._m1, "m2": self._m2, "passed": self._passed, "width": self._width}
        clock = {"rows": self._rows, "first": self._first, "now": self._now, "punctuation": self._punctuation}
        return pack("two-max", VERSION, {**fields, **clock})

    def restore(self, state: bytes) -> None:
        fields = unpack(state, "two-max", VERSION)
        self._m1, self._m2 = fields.integer("m1"), fields.integer("m2")
        self._passed, self._width = fields.integer("passed"), fields.integer("width")
        self._rows, self._first = fields.integer("rows"), fields.integer("first")
        self._now, self._punctuation = fields.integer("now"), fields.integer("punctuation")
