"""What is learnt of a stream: how late its rows are behind two clocks, how many there are, and what they look like."""

from __future__ import annotations

from math import gcd

import numpy as np

from slackwater.disorder.budget.census import Census
from slackwater.disorder.budget.guard import Guard
from slackwater.disorder.budget.histogram import LARGEST, Floats, Histogram
from slackwater.disorder.budget.seen import Seen, scores
from slackwater.disorder.budget.start import Start
from slackwater.disorder.clock import EARLIEST, LATEST, Times, clamp, minus
from slackwater.disorder.state import Fields, Value
from slackwater.disorder.tally import Tally

MEMORIES = (128.0, 512.0, 2_048.0, 8_192.0, 32_768.0, float(1 << 40))
"""Rows after which a memory has forgotten two thirds; the last forgets nothing."""

ALL = len(MEMORIES) - 1
QUICK, FEWEST_QUICK = 20, 64  # one row in so many is quick, of at least so many

Clocks = tuple[int, int]
"""The arrival clock, and the newest timestamp."""


class Lateness:
    """Memories of how far rows lay behind both clocks; a score is the smallest delay at which a row is on time.

    The arrival clock is taken less the delay of the quick rows, so that a constant part of it costs no precision.
    """

    __slots__ = (
        "_dratio", "census", "clocks", "delays", "grain", "guard", "newest", "now", "offset", "rows", "seen", "start",
    )  # fmt: skip

    def __init__(self, dratio: float) -> None:
        self._dratio = dratio
        self.clocks = (Histogram(MEMORIES), Histogram(MEMORIES))
        self.delays = Histogram(MEMORIES)  # as they are, and not as batches see them
        self.guard = Guard()
        self.seen = Seen()
        self.start = Start()
        self.census = Census()
        self.rows = self.grain = self.offset = 0
        self.now = self.newest = EARLIEST

    @property
    def head(self) -> int:
        """The arrival clock, less the delay of the quick rows."""
        return clamp(self.now - self.offset)

    @property
    def began(self) -> tuple[int, int]:
        """The event times at which the stream began: by the arrival of its first row, and by its timestamp."""
        return clamp(self.start.arrival - self.offset), self.start.event

    @property
    def age(self) -> tuple[int, int]:
        return self.start.elapsed((self.now, self.newest))

    def lasted(self, times: float, elapsed: tuple[int, int]) -> bool:
        """Whether the stream had then lasted so many times as long as its longest delay."""
        longest = (float(clock.highest()[ALL]) for clock in self.clocks)
        return all(age >= times * each for age, each in zip(elapsed, longest, strict=True))

    def enter(self, batch: Tally) -> Clocks:
        """Learn from a batch; the clocks as they stood when its rows came."""
        first = not self.rows
        if first:
            self._begin(batch)
        self._quicken(batch)
        self.start.delayed += batch.delayed(self.offset)
        before, after = (self.now, self.newest), (max(self.now, batch.clock), max(self.newest, batch.newest))
        spares, spares_now = self.seen.enter(batch)
        last = np.searchsorted(batch.event, batch.last_event)
        ages = [scores(each, batch.last_event, spares_now[last]) for each in self._heads(*self._clocks_at(batch))]
        if first:
            before = self._remember_first(batch, after)
        else:
            # A row's score is what it needs behind the clocks of the batch before.
            needed = [scores(each, batch.event, spares) for each in self._heads(*map(_at, before))]
            self._remember(batch.event, needed, before, batch.count)
            self.guard.lasted(before, after)
            self.start.enter(batch, after[0], min(self.began))
        self.guard.observe(np.stack(ages))
        self.rows += batch.size
        self.now, self.newest = after
        self._count(batch)
        if self.grain != 1:
            apart = np.maximum(minus(batch.event, np.int64(self.start.event)), -LATEST)
            self.grain = gcd(self.grain, int(np.gcd.reduce(apart)))
        return before

    def _begin(self, batch: Tally) -> None:
        self.start.begin(batch)
        self.now, self.newest = self.start.arrival, self.start.event
        self.offset = batch.delay_at(batch.size // QUICK)

    def _clocks_at(self, batch: Tally) -> tuple[Times, Times]:
        """Both clocks as each of the last rows came."""
        return (
            np.maximum(np.maximum.accumulate(batch.last_arrival), max(self.now, batch.clock_before)),
            np.maximum(np.maximum.accumulate(batch.last_event), max(self.newest, batch.newest_before)),
        )

    def _remember_first(self, batch: Tally, after: Clocks) -> Clocks:
        """The first batch has no clocks before it: its second half is scored by those after its first."""
        event, arrival = batch.rows
        half = max(1, len(event) // 2)
        middle = int(arrival[:half].max()), int(event[:half].max())
        needed = [minus(each, event[half:]) for each in self._heads(*map(_at, middle))]
        self._remember(event[half:], needed, middle)
        self.guard.lasted((self.start.arrival, self.start.event), after)
        return after

    def _heads(self, clock: Times, newest: Times) -> tuple[Times, Times]:
        """What delays are measured from."""
        return minus(clock, np.int64(self.offset)), newest

    def _remember(self, event: Times, needed: list[Times], clocks: Clocks, count: Times | None = None) -> None:
        ages = self.start.elapsed(clocks)
        for began, score, age, histogram in zip(self.began, needed, ages, self.clocks, strict=True):
            known = event >= began  # what was sent before the start was not seen from the start
            histogram.add(np.where(known, score, 0), _at(age), count)

    def _count(self, batch: Tally) -> None:
        """Enter the delays as they are, and the event times; again without what was sent before the start."""
        delay, age = minus(batch.delay, np.int64(self.offset)), self.age[0]
        self.delays.add(np.where(delay > age, 0, delay), _at(age), batch.delay_count)
        self.start.count(batch, self.began[0])
        survival = self.delays.survival()[ALL]
        rare = int(np.count_nonzero(survival > self._dratio / 2))
        self.census.enter(batch, self.head, float(LARGEST[min(len(survival) - 1, rare)]), self.began[0])

    def _quicken(self, batch: Tally) -> None:
        if (faster := self._quick(batch)) < self.offset:
            by = min(LATEST // 2, self.offset - faster)
            self.clocks[0].shift(by)
            self.delays.shift(by)
            self.guard.ages[0] = _plus(self.guard.ages[0], by)
            self.offset = faster

    def _quick(self, batch: Tally) -> int:
        """A delay that one row in twenty undercuts: of the batch, or of the last 64 rows if it has fewer."""
        if batch.size >= FEWEST_QUICK:
            return batch.delay_at(batch.size // QUICK)
        delay = minus(batch.last_arrival, batch.last_event)
        known = np.concatenate([_plus(self.guard.ages[0], self.offset), delay])[-FEWEST_QUICK:]
        return int(np.partition(known, len(known) // QUICK)[len(known) // QUICK])

    def stay(self, aim: Times, delay: Floats) -> Times:
        """Where punctuations stay that aim at these times, with these delays: at their grain, at what was seen.

        This holds back no row more, and loses those less that are still to come.
        """
        beyond = minus(aim, np.int64(self.start.event)) % max(1, self.grain)
        return self.seen.below(minus(aim, beyond), delay)

    def fields(self) -> dict[str, Value]:
        own: dict[str, Value] = {f"lateness_{name}": getattr(self, name) for name in SCALARS}
        parts = (self.seen, self.start, self.census, self.guard)
        own |= {name: value for part in parts for name, value in part.fields().items()}
        return own | {k: v for name, each in self._histograms.items() for k, v in each.fields(name).items()}

    def restore(self, fields: Fields) -> None:
        for name in SCALARS:
            setattr(self, name, fields.integer(f"lateness_{name}"))
        for part in (self.seen, self.start, self.census, self.guard):
            part.restore(fields)
        for name, histogram in self._histograms.items():
            histogram.restore(fields, name)

    @property
    def _histograms(self) -> dict[str, Histogram]:
        return {"arrival": self.clocks[0], "newest": self.clocks[1], "delay": self.delays}


SCALARS = ("rows", "grain", "offset", "now", "newest")


def _at(time: int) -> Times:
    return np.array([time], np.int64)


def _plus(times: Times, by: int) -> Times:
    return minus(times, np.int64(-max(by, -LATEST)))
