"""Our estimator, the default for DRATIO: it keeps the ratio by an account, and holds rows as briefly as that allows.

How it works and what it guarantees: docs/design/budget.md.
"""

from __future__ import annotations

from math import ceil, exp

import numpy as np

from slackwater.defaults import IDLE_SECONDS
from slackwater.disorder.budget.account import STRICTEST, Account
from slackwater.disorder.budget.census import BY_AGE, BY_COUNT, KINDS, Forecast
from slackwater.disorder.budget.histogram import LARGEST, Floats, beyond_each, delays
from slackwater.disorder.budget.lateness import ALL, Clocks, Lateness
from slackwater.disorder.budget.sources import Senders
from slackwater.disorder.budget.steady import Steadiness
from slackwater.disorder.budget.trials import FORECASTS, NOWHERE, Trials, slope
from slackwater.disorder.clock import LATEST, Times, clamp, ticks_per_second
from slackwater.disorder.estimator import NO_PUNCTUATION, Sources, named
from slackwater.disorder.state import Fields, Value, pack, unpack
from slackwater.disorder.tally import Tally
from slackwater.errors import InputError

VERSION = 7
FEWEST, TENTH = 60, 0.1  # rows before the first punctuation, and a tenth of those among which one may be late
DELAYED, NONE_DELAYED = 100, 1_000  # rows that show what delays are like, or without that, that there are none
SELDOM = 0.02  # of the rows: delays that fewer have are taken for none
LONGEST = 4.0  # times the usual wait: past losses are repaid by patience, not by holding rows for ever
RARE = 1.5  # times the level: what is later than the stream is old is rare, as too much of it is expected
OLD = 1.5  # times its longest delay: the age of a stream before anything is released that it could not pay for
SETTLED = 10.0  # times its longest delay: a stream of that age, or a batch, has shown what it is like
ABOUT = 1.01  # times what all history costs: which of two is cheaper by less is chance
LOOSER = 2.0  # times the level, behind the newest timestamp of a steady stream
AFFORDED = 0.7  # of the budget: what a sender that is behind may owe before it is waited for
PATIENCE = 2.0  # times the delay of half the level: what is not there then was perhaps never sent
ODDS = np.array([0.85, 0.65])  # of the odds at a delay, by age and by count: what a row to come is worth, to begin with


@named("budget")
class Budget:
    """The punctuation lags two clocks, the arrival clock and the newest timestamp, by what the account allows.

    The level is the share of rows that may be late from now on: D, less if too many were late, a little more if
    few were. The delay behind each clock is the quantile of that level over the memory that served best so far (all
    history if the stream is steady), and not below what the latest rows ask for. Where rows come evenly, their number
    says how many are still to come, and a forecast may serve instead. Nothing is released before rows that are
    later than the stream is old are known to be rare.

    >>> arrival = np.arange(5_000)
    >>> Budget(0.01).observe(arrival - arrival % 7, arrival) > 4_900
    True
    """

    __slots__ = ("_account", "_dratio", "_lateness", "_punctuation", "_senders", "_steadiness", "_trials", "_waiting")

    def __init__(self, dratio: float = 0.01, *, unit: str = "us", idle: int | None = None) -> None:
        if not 0 < dratio < 1:
            raise InputError("SW-423", f"drop ratio {dratio} is no share", expected="between 0 and 1, both excluded")
        self._dratio = dratio
        self._account = Account(dratio)
        self._lateness = Lateness(dratio)
        self._trials = Trials(dratio)
        self._steadiness = Steadiness()
        self._senders = Senders(IDLE_SECONDS * ticks_per_second(unit) if idle is None else idle)
        self._waiting = False
        self._punctuation = NO_PUNCTUATION

    def observe(self, event: Times, arrival: Times, source: Sources | None = None) -> int:
        if not len(event):
            return self._punctuation
        self._account.enter(len(event), int(np.count_nonzero(event < self._punctuation)))
        if source is not None:
            awaited = self._senders.observe(event, arrival, source)
            event, arrival = event[~awaited], arrival[~awaited]
        return self._step(Tally.of(event, arrival)) if len(event) else self._punctuation

    @property
    def started(self) -> bool:
        return self._lateness.rows > 0

    def tallied(self, tally: Tally) -> int:
        self._account.enter(tally.size, tally.before(self._punctuation))
        return self._step(tally)

    def _step(self, batch: Tally) -> int:
        before = self._lateness.enter(batch)
        self._trials.count(batch)
        allowed = self._sources_allow()
        if self._enough() and self._delays_known() and self._old_enough(unseen := self._unseen(), before):
            self._punctuation = max(self._punctuation, min(self._advance(batch, unseen), allowed))
        return self._punctuation

    def _sources_allow(self) -> int:
        """Senders that are behind are waited for, unless losing all that they owe is well within the budget.

        Once waited for, they are until they have caught up: what they still owe gets less, but so near to its end
        the wait costs less, too.
        """
        front, owed = self._senders.waited_for()
        allowed = self._account.allowed
        too_many = owed > AFFORDED * allowed - max(0.0, self._account.late - allowed)
        self._waiting = front < LATEST and (too_many or self._waiting)
        return front if self._waiting else LATEST

    def _level(self) -> float:
        """D, and one row more at the start: less than that cannot be told from nothing."""
        return self._dratio + 1 / self._lateness.rows

    def _correction(self) -> float:
        """What the account says; whether the stream is settled matters to it only while the budget is small.

        Counts lose rows in lumps, where that saves most: however steady the delays, they need the large reserve.
        """
        steady = self._steadiness.steady and not self._trials.counts
        return self._account.correction(settled=self._account.few and self._settled, steady=steady)

    @property
    def _settled(self) -> bool:
        return self._lateness.lasted(SETTLED, self._lateness.age)

    @property
    def _released(self) -> bool:
        return self._punctuation > NO_PUNCTUATION

    def _enough(self) -> bool:
        return self._lateness.rows >= max(FEWEST, TENTH / self._dratio)

    def _delays_known(self) -> bool:
        """Whether most rows are delayed, or many, or so many are not that there seem to be none: these come first."""
        delayed, rows = self._lateness.start.delayed, self._lateness.rows
        return delayed >= min(DELAYED, rows / 2) or (rows >= NONE_DELAYED and delayed < SELDOM * rows)

    def _unseen(self) -> float:
        """The share of rows that are probably later than the stream is old.

        What was sent before it began is waited for as senders are: until the idle timeout is over.
        """
        known = self._lateness
        age, _ = known.age
        later = known.start.later(known.delays.count[ALL], age, released=self._released, grain=known.grain)
        return max(later, known.start.sent_before) if age <= self._senders.idle else later

    def _old_enough(self, unseen: float, before: Clocks) -> bool:
        """Whether rows that are later than the stream is old are rarer than the level, or were before.

        As long as there is no budget to pay for an error, the stream must also be older than its longest delay.
        """
        if self._account.small and not self._lateness.lasted(OLD, self._lateness.start.elapsed(before)):
            return False
        return self._released or unseen <= RARE * self._level() * exp(max(0.0, self._correction()))

    def _advance(self, batch: Tally, unseen: float) -> int:
        """Let every trial advance, and then the punctuation itself as the best of them says."""
        known, account = self._lateness, self._correction()
        # What is unseen will be late whatever the delay: it is taken off the level.
        level = max(self._level() - unseen, self._level() / 2)
        usual = level * np.exp(self._trials.pressure(self._steadiness.chance(known.rows)))
        strict = np.maximum(usual * exp(account), level * exp(STRICTEST))
        survival = [clock.survival() for clock in known.clocks]
        # The newest timestamp moves by chance. Behind both at one level the delay jumps from one clock to the other.
        looser = LOOSER if self._steadiness.steady else 1.0
        needed = self._needed(survival, level, usual[:FORECASTS], strict[:FORECASTS], looser)
        half, twice = needed[0, 1:3, ALL].tolist()
        wait = known.guard.wait  # for the end of a batch, whatever the delay
        self._steadiness.observe(survival[0], batch.size, known.rows, half + wait, twice + wait)
        forecast, kinds = self._forecast(PATIENCE * half + 1)
        price = self._worth(survival[0], np.stack([usual[FORECASTS:], strict[FORECASTS:]])) if kinds else np.empty(0)
        tried = np.full(KINDS, NOWHERE)
        for kind in kinds:
            aim = forecast.reach(kind, price[0, kind], self._trials.stands(FORECASTS + kind))
            tried[kind] = self._stay(aim, float(known.head - aim))
        heads = np.array([float(known.now) - float(known.offset), float(known.newest)])
        cost = self._trials.run(batch, heads, needed[:, 0], level, slope(half, twice, level), known.stay, tried)
        served = self._serves(cost)
        tolerated = level * exp(min(0.0, account)), level * exp(min(0.0, account)) * looser
        if served >= FORECASTS:
            kind = served - FORECASTS
            aim = min(forecast.reach(kind, price[1, kind], self._punctuation), known.newest)
            late = float(known.head - aim)
            if kind == BY_COUNT:
                return self._stay(aim, late)
            return self._behind(np.array([late, needed[1, 3, ALL]]), tolerated)
        delay = np.minimum(needed[:, 3, served], LONGEST * (needed[:, 4, served] + wait) + 1)
        if served != ALL:
            delay[1] = max(delay[1], min(needed[1, 0, ALL], self._affordable(survival[1][ALL])))
        if self._overspent:
            delay = np.maximum(delay, needed[:, 0, ALL])  # a short memory is a bet, and there is nothing left to bet
        return self._behind(delay, tolerated)

    def _needed(self, survival: list[Floats], level: float, usual: Floats, strict: Floats, looser: float) -> Floats:
        """The delays behind both clocks, by each memory: usual, of half and of twice the level, strict, the longer."""
        every = np.full(len(usual), level)
        levels = np.stack([usual, every / 2, every * 2, strict, np.maximum(usual, strict)])
        wanted = levels, levels * looser
        clocks = self._lateness.clocks
        return np.stack(
            [delays(s, c.highest(), c.weight(), w) for s, c, w in zip(survival, clocks, wanted, strict=True)]
        )

    def _forecast(self, patience: float) -> tuple[Forecast, range]:
        """What is to come of each stretch, and the kinds of forecast that can be made by now."""
        known = self._lateness
        census = known.census
        if not census.ready:
            return NOTHING, range(0)
        survival = known.delays.survival()[self._memories]
        forecast = census.forecast(known.head, survival, known.began[0], patience)
        return forecast, range(BY_COUNT + 1 if census.informs(self._dratio) else BY_AGE + 1)

    @property
    def _memories(self) -> list[int]:
        """The memories that forecasts use: by age, all history."""
        return [ALL, self._trials.memory]

    def _worth(self, survival: Floats, levels: Floats) -> Floats:
        """How many rows held one to come is worth to each kind: the odds at the delay that keeps each level."""
        clock, known, used = self._lateness.clocks[0], self._lateness.delays, self._memories
        delay = delays(survival[used], clock.highest()[used], clock.weight()[used], levels)
        later = [np.interp(d, LARGEST[: known.used], s) for d, s in zip(delay.T, known.survival()[used], strict=True)]
        worth: Floats = ODDS * (1 / np.maximum(np.stack(later, axis=1), 1e-9) - 1)
        return worth

    def _serves(self, cost: Floats) -> int:
        """Counts, if they are best and what they lost is paid for; else the best memory.

        All history serves a steady stream, by age unless that costs more.
        """
        if self._trials.counts:
            return ALL if self._overspent else FORECASTS + BY_COUNT
        if self._steadiness.steady:
            return FORECASTS + BY_AGE if cost[FORECASTS + BY_AGE] <= ABOUT * cost[ALL] and not self._overspent else ALL
        return self._trials.memory

    @property
    def _overspent(self) -> bool:
        return self._account.late > self._account.allowed

    def _behind(self, delay: Floats, tolerated: tuple[float, float]) -> int:
        """The punctuation with these delays behind the clocks, and not less than the latest rows ask for."""
        known = self._lateness
        asked = known.guard.asks(
            tolerated,
            delay,
            cautious=self._account.small and not known.lasted(SETTLED, known.guard.shortest),
            steady=self._steadiness.steady,
        )
        delay = np.maximum(delay, asked)
        reached = known.head - ceil(delay[0]), known.newest - ceil(delay[1])
        return self._stay(min(*reached, known.newest), float(delay[int(reached[1] < reached[0])]))

    def _stay(self, aim: int, delay: float) -> int:
        return int(self._lateness.stay(np.array([clamp(aim)]), np.array([max(0.0, delay)]))[0])

    def _affordable(self, survival: Floats) -> float:
        """The delay behind the newest timestamp at which a short memory may be wrong.

        If delays were again as all history has them, the rows that are later would be lost: at most a whole budget.
        """
        lost = self._lateness.rows / max(1, self._lateness.age[0]) * beyond_each(survival)
        return float(LARGEST[min(len(lost) - 1, int(np.count_nonzero(lost > self._account.allowed)))])

    def state(self) -> bytes:
        fields: dict[str, Value] = {"punctuation": self._punctuation, "waiting": int(self._waiting)}
        for part in self._parts:
            fields |= part.fields()
        return pack("budget", VERSION, fields)

    def restore(self, state: bytes) -> None:
        fields: Fields = unpack(state, "budget", VERSION)
        self._punctuation, self._waiting = fields.integer("punctuation"), bool(fields.integer("waiting"))
        for part in self._parts:
            part.restore(fields)

    @property
    def _parts(self) -> tuple[Account, Lateness, Trials, Steadiness, Senders]:
        return self._account, self._lateness, self._trials, self._steadiness, self._senders


NOTHING = Forecast(np.empty(0), (), 0, 1, NO_PUNCTUATION)
