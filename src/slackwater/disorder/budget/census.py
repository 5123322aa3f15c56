"""How many rows have come for each stretch of event time, and how many are therefore still to come.

Delays say how many rows come late on average. Counts say more: where every second brings as many rows, those that a
second lacks are on their way, and one that has all of its rows need not be waited for, however late others were.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slackwater.disorder.budget.histogram import LARGEST
from slackwater.disorder.clock import EARLIEST, clamp, minus
from slackwater.disorder.state import Fields, Value
from slackwater.disorder.tally import Tally

Floats = NDArray[np.float64]

PER_DELAY = 256  # stretches, at least, and less than twice as many
STRETCHES, BEHIND = 1_024, 896  # in all, and those that are over
SETTLED = 512  # stretches that are over: what is older has nearly all of its rows
RATE = 131_072.0  # rows after which a rate is forgotten
KNOWN, LASTED = 2_000, PER_DELAY // 4  # rows and stretches that are settled, from which on a rate is known
WINDOW, FEWEST = 16, 400.0  # counts are averaged over so small a part of a delay, and over so many rows if it can be
VARIED = 3.0  # times what is usually to come: how far the rows to come may be from that
SURPRISE = 3.0  # deviations above the rate: a stretch with so many rows has a rate of its own
LEAST = 0.1  # of what is usually to come is expected in any case

KINDS = 2
BY_AGE, BY_COUNT = range(KINDS)
"""What a forecast goes by: the age of a stretch alone, or its rows as well."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Rows per stretch, from the first one on, and those still to come by each kind of forecast.

    >>> rows, to_come = np.array([9.0, 4.0, 9.0, 5.0, 1.0]), np.array([0.0, 0.5, 1.0, 3.0, 8.0])
    >>> forecast = Forecast(rows, (to_come, to_come), first=10, width=100, earliest=900)
    >>> forecast.reach(BY_AGE, 2.0, after=EARLIEST)     # the first part of the stretch from 1300 is worth its price
    1339
    >>> forecast.reach(BY_AGE, 10.0, after=1_099)       # neither that from 1100 nor any other one is
    1099
    """

    rows: Floats
    to_come: tuple[Floats, ...]
    first: int
    width: int
    earliest: int

    def reach(self, kind: int, price: float, after: int) -> int:
        """Up to where a release is worth most: the rows that are held no longer, less the price of those to come.

        By age alone, this waits longer where few rows are held, and less where many are. It never stays behind what
        is the earliest, or what it is to come after.
        """
        after = max(after, self.earliest)
        begin = min(len(self.rows) - 1, max(0, (after + 1) // self.width - self.first))
        gain = self.rows[begin:] - price * self.to_come[kind][begin:]
        worth = np.cumsum(gain)
        best = int(np.argmax(worth))
        if worth[best] <= 0:
            return after
        part = self._worthy(kind, price, begin + best)
        if part >= 1 and begin + best + 1 < len(self.rows):
            part += self._worthy(kind, price, begin + best + 1)
        return max(after, (self.first + begin + best) * self.width + int(part * self.width) - 1)

    def _worthy(self, kind: int, price: float, place: int) -> float:
        """Which part of a stretch is worth its price, if its rows lie evenly and those to come in its later part."""
        to_come = self.to_come[kind]
        gain = float(self.rows[place] - price * to_come[place])
        rise = price * float(to_come[min(place + 1, len(to_come) - 1)] - to_come[place])
        if rise <= 0:
            return float(gain > 0)
        return max(0.0, min(1.0, 0.5 + gain / rise))


class Census:
    """Counts of rows in stretches of event time that move on with the arrival clock, and the rate of those settled.

    A stretch is a power of two of ticks long, a small part of the delay that is rarely exceeded.
    """

    __slots__ = ("_first", "_passed", "_rows", "_since", "_squares", "_stretches", "_time", "_width")

    def __init__(self) -> None:
        self._width = 0
        self._first = 0  # the number of the first stretch: its start over the width
        self._rows: Floats = np.zeros(STRETCHES)
        self._since = EARLIEST  # what is older is settled
        self._passed = self._time = 0.0  # rows and ticks of what is settled
        self._squares = self._stretches = 0.0  # how far, by the rate, the averages there were off, squared

    @property
    def ready(self) -> bool:
        return self._passed >= KNOWN and self._time >= LASTED * self._width

    def informs(self, dratio: float) -> bool:
        """Whether rows come so evenly that counts tell of as few as may be late."""
        return self._stretches > 0 and self._squares <= self._stretches * (VARIED * dratio) ** 2

    def enter(self, batch: Tally, head: int, delay: float, began: int) -> None:
        """A batch, the time up to which stretches are over, the delay that is rarely exceeded, the stream's start."""
        self._fit(max(1, int(delay) // PER_DELAY), head)
        self._since = max(self._since, began)
        self._fade(batch.size)
        self._move(clamp(head // self._width - BEHIND))
        self._settle(BEHIND - SETTLED)
        place = minus(batch.event // self._width, np.int64(self._first))
        inside = (place >= 0) & (place < STRETCHES)
        self._rows += np.bincount(place[inside], weights=batch.count[inside], minlength=STRETCHES)
        self._passed += float(batch.count[(batch.event >= began) & (batch.event < self._since)].sum())

    def forecast(self, head: int, survival: Floats, began: int, patience: float) -> Forecast:
        """What is to come of the stretches that are over, given the share of rows above each delay, for each kind.

        What a stretch lacks is to come, or is chance: it is trusted as far as what is to come varies more than counts
        do that are complete. Where more have come than the rate explains, it is the rate that is wrong.
        """
        seen = slice(max(0, min(BEHIND, self._place(began))), BEHIND + 1)
        age = float(head - self._first * self._width) - (np.arange(BEHIND + 1)[seen] + 0.5) * self._width
        by_age, share = (np.interp(age, LARGEST[: len(each)], each, left=1.0) for each in survival)
        rate, mean = self._rate, self._averages()[seen]
        usual = rate * share
        chance = self._squares / max(self._stretches, 1.0)
        trust = (VARIED * share) ** 2 / ((VARIED * share) ** 2 + chance + 1e-12)
        counted = np.maximum(usual + trust * (rate - mean - usual), LEAST * usual)
        crowded = mean > rate * (1 + SURPRISE * np.sqrt(chance))
        counted = np.where(crowded, np.maximum(counted, mean * share / np.maximum(1 - share, 0.05)), counted)
        return Forecast(
            self._rows[seen],
            (rate * by_age, counted),
            self._first + seen.start,
            self._width,
            clamp(head - int(patience)),
        )

    def _fit(self, wanted: int, head: int) -> None:
        """Make stretches as long as the delay asks for; those that are cut in two are taken to be even."""
        if not self._width:
            self._width = 1 << wanted.bit_length() - 1
            self._first = clamp(head // self._width - BEHIND)
        while wanted >= 2 * self._width:
            before = self._first % 2
            pairs = np.pad(self._rows, (before, (len(self._rows) + before) % 2)).reshape(-1, 2)
            self._rows, self._first, self._width = pairs.sum(axis=1), self._first // 2, self._width * 2
        while wanted <= self._width // 4:
            self._rows, self._first, self._width = np.repeat(self._rows, 2) / 2, self._first * 2, self._width // 2
            self._move(clamp(head // self._width - BEHIND))  # after a long delay there are many cuts

    def _fade(self, rows: int) -> None:
        keep = float(np.exp(-rows / RATE))
        for name in FADING:
            setattr(self, name, getattr(self, name) * keep)

    def _move(self, first: int) -> None:
        by = first - self._first
        self._settle(min(by, len(self._rows)))
        kept = np.append(np.zeros(max(0, min(-by, STRETCHES))), self._rows[max(0, by) :])[:STRETCHES]
        self._rows = np.append(kept, np.zeros(STRETCHES - len(kept)))
        self._first = first

    def _settle(self, end: int) -> None:
        """The stretches before this place have nearly all of their rows: they show the rate."""
        start = max(0, self._place(self._since))
        if start >= end:
            return
        if self._time > 0:
            off = self._averages()[start:end] / max(self._rate, 1e-9) - 1
            self._squares += float((off**2).sum())
            self._stretches += len(off)
        self._passed += float(self._rows[start:end].sum())
        self._time += float((end - start) * self._width)
        self._since = clamp((self._first + end) * self._width)

    def _place(self, time: int) -> int:
        """The place of the first stretch that begins at this time or later."""
        return -(-time // self._width) - self._first

    @property
    def _rate(self) -> float:
        """Rows per stretch."""
        return self._passed / self._time * self._width

    def _averages(self) -> Floats:
        """The rows of each stretch, averaged with its neighbours."""
        wide = max(PER_DELAY / WINDOW, min(PER_DELAY / 2, FEWEST / max(self._rate, 1e-9)))
        place, side = np.arange(len(self._rows)), int(wide) // 2
        low, high = np.maximum(place - side, 0), np.minimum(place + side + 1, len(place))
        total = np.append(0.0, np.cumsum(self._rows))
        averages: Floats = (total[high] - total[low]) / (high - low)
        return averages

    def fields(self) -> dict[str, Value]:
        named: dict[str, Value] = {f"census{name}": getattr(self, name) for name in (*WHOLE, *FADING)}
        return named | {"census_rows": self._rows}

    def restore(self, fields: Fields) -> None:
        for name in WHOLE:
            setattr(self, name, fields.integer(f"census{name}"))
        for name in FADING:
            setattr(self, name, fields.number(f"census{name}"))
        self._rows = fields.numbers("census_rows")


WHOLE = ("_width", "_first", "_since")
FADING = ("_passed", "_time", "_squares", "_stretches")
