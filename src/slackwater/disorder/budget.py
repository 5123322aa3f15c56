"""Our estimator, the default for DRATIO: it keeps the ratio by an account, and holds rows as briefly as that allows.

How it works and what it guarantees: docs/design/budget.md.
"""

from __future__ import annotations

from math import ceil, exp, gcd

import numpy as np

from slackwater.disorder.account import STRICTEST, Account
from slackwater.disorder.clock import EARLIEST, LATEST, Times, clamp, minus, ticks_per_second
from slackwater.disorder.estimator import NO_PUNCTUATION, Sources, named
from slackwater.disorder.guard import Guard
from slackwater.disorder.histogram import Histogram, delays
from slackwater.disorder.sources import IDLE_SECONDS, Senders
from slackwater.disorder.state import Fields, Value, pack, unpack
from slackwater.disorder.steady import Steadiness
from slackwater.disorder.trials import ALL, MEMORIES, Trials, slope
from slackwater.errors import InputError

VERSION = 4
FEWEST = 60  # rows before the first punctuation
LONGEST = 4.0  # times the usual delay: past losses are repaid by patience, not by holding rows for ever
SETTLED = 10.0  # times its longest delay: a stream of that age has shown what it is like
AFFORDED = 0.7  # of the budget: what a sender that is behind may owe before it is waited for


@named("budget")
class Budget:
    """The punctuation lags two clocks, the arrival clock and the newest timestamp, by what the account allows.

    The level is the share of rows that may be late from now on: D, less if too many were late, a little more if
    few were. The delay behind each clock is the quantile of that level over the memory that served best so far (all
    history if the stream is steady), and not below what the latest rows ask for. Nothing is released while rows may
    be later than the stream is old.

    >>> arrival = np.arange(5_000)
    >>> Budget(0.01).observe(arrival - arrival % 7, arrival) > 4_900
    True
    """

    __slots__ = (
        "_account", "_clocks", "_dratio", "_first_arrival", "_first_event", "_grain", "_guard", "_learnt", "_newest",
        "_now", "_offset", "_punctuation", "_senders", "_steadiness", "_trials", "_waiting",
    )  # fmt: skip

    def __init__(self, dratio: float = 0.01, *, unit: str = "us", idle: int | None = None) -> None:
        if not 0 < dratio < 1:
            raise InputError("SW-423", f"drop ratio {dratio} is no share", expected="between 0 and 1, both excluded")
        self._dratio = dratio
        self._account = Account(dratio)
        self._clocks = (Histogram(MEMORIES), Histogram(MEMORIES))
        self._trials = Trials(dratio)
        self._steadiness = Steadiness()
        self._senders = Senders(IDLE_SECONDS * ticks_per_second(unit) if idle is None else idle)
        self._guard = Guard()
        self._learnt = self._waiting = self._grain = self._offset = 0
        self._first_arrival = self._first_event = self._now = self._newest = EARLIEST
        self._punctuation = NO_PUNCTUATION

    def observe(self, event: Times, arrival: Times, source: Sources | None = None) -> int:
        if not len(event):
            return self._punctuation
        self._account.enter(len(event), int(np.count_nonzero(event < self._punctuation)))
        if source is not None:
            awaited = self._senders.observe(event, arrival, source)
            event, arrival = event[~awaited], arrival[~awaited]
        if len(event):
            before = self._learn(event, arrival)
            ordered = np.sort(event)
            self._trials.count(ordered)
            allowed = self._sources_allow()
            if self._learnt >= FEWEST and self._old_enough(unseen := self._unseen(before), before):
                self._punctuation = max(self._punctuation, min(self._advance(ordered, unseen), allowed))
        return self._punctuation

    def _sources_allow(self) -> int:
        """Senders that are behind are waited for, unless losing all that they owe is well within the budget.

        Once waited for, they are until they have caught up: what they still owe gets less, but so near to its end
        the wait costs less, too.
        """
        front, owed = self._senders.waited_for()
        allowed = self._account.allowed
        too_many = owed > AFFORDED * allowed - max(0.0, self._account.late - allowed)
        self._waiting = int(front < LATEST and (too_many or bool(self._waiting)))
        return front if self._waiting else LATEST

    def _learn(self, event: Times, arrival: Times) -> tuple[int, int]:
        """Enter the batch into the memories; the clocks as they stood when its rows came."""
        started = self._learnt > 0
        clock, newest = np.maximum.accumulate(arrival), np.maximum.accumulate(event)
        if not started:
            self._first_arrival, self._first_event = int(arrival[0]), int(event[0])
            self._now, self._newest = int(arrival[0]), int(event[0])
            self._offset = _quick(minus(arrival, event))
        clock, newest = np.maximum(clock, self._now), np.maximum(newest, self._newest)
        self._quicken(minus(arrival, event))
        ages = np.stack([_behind(clock, event, self._offset), minus(newest, event)])
        before = (self._now, self._newest) if started else (int(clock[-1]), int(newest[-1]))
        # A row's score is what it needs behind the clocks of the batch before; the first batch has none before.
        scores = (
            np.stack([_behind(_at(self._now), event, self._offset), minus(_at(self._newest), event)])
            if started
            else ages
        )
        since = (minus(clock, np.int64(self._first_arrival)), minus(newest, np.int64(self._first_event)))
        starts = clamp(self._first_arrival - self._offset), self._first_event
        for place, histogram in enumerate(self._clocks):
            known = event >= starts[place]  # what was sent before the start was not seen from the start
            age = np.array([_elapsed(before, self._firsts)[place]]) if started else since[place]
            histogram.add(np.where(known, scores[place], 0), age)
        self._guard.observe(ages)
        self._learnt += len(event)
        self._now, self._newest = int(clock[-1]), int(newest[-1])
        if started:
            self._guard.lasted(before, (self._now, self._newest))
        if self._grain != 1:
            apart = np.maximum(minus(event, np.int64(self._first_event)), -LATEST)
            self._grain = gcd(self._grain, int(np.gcd.reduce(apart)))
        return before

    @property
    def _firsts(self) -> tuple[int, int]:
        return self._first_arrival, self._first_event

    def _quicken(self, delay: Times) -> None:
        """Delays are measured from the quick ones, so that a constant part costs no precision."""
        known = np.concatenate([_plus(self._guard.ages[0, -64:], self._offset), delay])[-max(64, len(delay)) :]
        if (faster := _quick(known)) < self._offset:
            by = min(LATEST // 2, self._offset - faster)
            self._clocks[0].shift(by)
            self._guard.ages[0] = _plus(self._guard.ages[0], by)
            self._offset = faster

    def _level(self) -> float:
        """D, and one row more at the start: less than that cannot be told from nothing."""
        return self._dratio + 1 / self._learnt

    def _correction(self) -> float:
        """What the account says; whether the stream is settled matters to it only while the budget is small."""
        elapsed = _elapsed((self._now, self._newest), self._firsts)
        settled = self._account.few and self._lasted(SETTLED, elapsed)
        return self._account.correction(settled=settled, steady=self._steadiness.steady)

    def _lasted(self, times: float, elapsed: tuple[int, int]) -> bool:
        """Whether the stream is so many times as old as its longest delay."""
        longest = (float(clock.highest()[-1]) for clock in self._clocks)
        return all(age >= times * each for age, each in zip(elapsed, longest, strict=True))

    def _unseen(self, before: tuple[int, int]) -> float:
        """The share of rows that are probably later than the stream is old."""
        elapsed = _elapsed(before, self._firsts)
        return max(clock.beyond(age) for clock, age in zip(self._clocks, elapsed, strict=True))

    def _old_enough(self, unseen: float, before: tuple[int, int]) -> bool:
        """Whether rows that are later than the stream is old are rarer than the level.

        As long as there is no budget to pay for an error, the stream must also be twice as old as its longest delay.
        """
        if self._account.small and not self._lasted(2.0, _elapsed(before, self._firsts)):
            return False
        return unseen <= self._level() * exp(max(0.0, self._correction()))

    def _advance(self, event: Times, unseen: float) -> int:
        account = self._correction()
        # What is unseen will be late whatever the delay, and may be twice what is expected: it is taken off the level.
        level = max(self._level() - 2 * unseen, self._level() / 2)
        heads = np.array([float(self._now) - float(self._offset), float(self._newest)])
        usual = level * np.exp(self._trials.pressure())
        strict = np.maximum(usual * exp(account), level * exp(STRICTEST))
        every = np.ones(len(usual)) * level
        levels = np.stack([usual, every / 2, every * 2, strict, np.maximum(usual, strict)])
        survival = [clock.survival() for clock in self._clocks]
        needed = np.stack(
            [delays(s, c.highest(), c.weight(), levels) for s, c in zip(survival, self._clocks, strict=True)]
        )
        half, twice = needed[0, 1:3, -1].tolist()
        self._steadiness.observe(survival[0], len(event), self._learnt, half, twice)
        price = slope(half, twice, level)
        self._trials.run(event, heads, needed[:, 0], level, price, float(self._first_event), max(1, self._grain))
        best = ALL if self._steadiness.steady else self._trials.best
        delay = np.minimum(needed[:, 3, best], LONGEST * needed[:, 4, best] + 1)
        if self._account.late > self._account.allowed:
            delay = np.maximum(delay, needed[:, 0, ALL])  # a short memory is a bet, and there is nothing left to bet
        delay = np.maximum(delay, self._guard.asks(level * exp(min(0.0, account)), cautious=self._account.small))
        reached = clamp(self._now - self._offset) - ceil(delay[0]), self._newest - ceil(delay[1])
        return self._floor(clamp(min(*reached, self._newest)))

    def _floor(self, time: int) -> int:
        """Down to the grain of the timestamps: this holds back no row more, and loses those of the same tick less."""
        grain = max(1, self._grain)
        return clamp(self._first_event + (time - self._first_event) // grain * grain)

    def state(self) -> bytes:
        fields: dict[str, Value] = {name: getattr(self, f"_{name}") for name in SCALARS}
        fields |= self._account.fields() | self._clocks[0].fields("arrival") | self._clocks[1].fields("newest")
        return pack(
            "budget",
            VERSION,
            fields | self._trials.fields() | self._steadiness.fields() | self._guard.fields() | self._senders.fields(),
        )

    def restore(self, state: bytes) -> None:
        fields: Fields = unpack(state, "budget", VERSION)
        for name in SCALARS:
            setattr(self, f"_{name}", fields.integer(name))
        self._account.restore(fields)
        self._clocks[0].restore(fields, "arrival")
        self._clocks[1].restore(fields, "newest")
        self._trials.restore(fields)
        self._steadiness.restore(fields)
        self._senders.restore(fields)
        self._guard.restore(fields)


SCALARS = (
    "learnt", "waiting", "grain", "offset", "first_arrival", "first_event", "now", "newest", "punctuation",
)  # fmt: skip


def _quick(delay: Times) -> int:
    """A delay that one row in twenty undercuts."""
    rank = len(delay) // 20
    return int(np.partition(delay, rank)[rank])


def _at(time: int) -> Times:
    return np.array([time], np.int64)


def _behind(clock: Times, event: Times, offset: int) -> Times:
    return minus(minus(clock, event), np.int64(offset))


def _plus(times: Times, by: int) -> Times:
    return minus(times, np.int64(-max(by, -LATEST)))


def _elapsed(before: tuple[int, int], firsts: tuple[int, int]) -> tuple[int, int]:
    """How far each clock had moved since the first row."""
    return clamp(before[0] - firsts[0]), clamp(before[1] - firsts[1])
