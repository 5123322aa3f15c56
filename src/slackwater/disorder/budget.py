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
from slackwater.disorder.histogram import LARGEST, Histogram, beyond_each, delays
from slackwater.disorder.seen import Seen, scores
from slackwater.disorder.sources import IDLE_SECONDS, Senders
from slackwater.disorder.start import Start
from slackwater.disorder.state import Fields, Value, pack, unpack
from slackwater.disorder.steady import Steadiness
from slackwater.disorder.tally import Tally
from slackwater.disorder.trials import ALL, MEMORIES, Floats, Trials, slope
from slackwater.errors import InputError

VERSION = 6
FEWEST, TENTH = 60, 0.1  # rows before the first punctuation, and a tenth of those among which one may be late
DELAYED, NONE_DELAYED = 100, 1_000  # rows that show what delays are like, or without that, that there are none
LONGEST = 4.0  # times the usual delay: past losses are repaid by patience, not by holding rows for ever
OLD = 1.5  # times its longest delay: the age of a stream before anything is released that it could not pay for
SETTLED = 10.0  # times its longest delay: a stream of that age has shown what it is like
QUICK, FEWEST_QUICK = 20, 64  # one row in so many is quick, of at least so many
LOOSER = 2.0  # times the level, behind the newest timestamp of a steady stream
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
        "_account", "_clocks", "_dratio", "_grain", "_guard", "_learnt", "_newest", "_now", "_offset", "_punctuation",
        "_seen", "_senders", "_start", "_steadiness", "_trials", "_waiting",
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
        self._seen = Seen()
        self._start = Start()
        self._learnt = self._waiting = self._grain = self._offset = 0
        self._now = self._newest = EARLIEST
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
        return self._learnt > 0

    def tallied(self, tally: Tally) -> int:
        self._account.enter(tally.size, tally.before(self._punctuation))
        return self._step(tally)

    def _step(self, batch: Tally) -> int:
        before = self._learn(batch)
        self._trials.count(batch)
        allowed = self._sources_allow()
        if self._enough() and self._old_enough(unseen := self._unseen(before), before):
            reached = min(self._advance(batch, unseen), allowed)
            if self._delays_known():
                self._punctuation = max(self._punctuation, reached)
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

    def _learn(self, batch: Tally) -> tuple[int, int]:
        """Enter the batch into the memories; the clocks as they stood when its rows came."""
        started = self.started
        if not started:
            self._begin(batch)
        self._quicken(batch)
        self._start.delayed += batch.delayed(self._offset)
        before, after = (self._now, self._newest), (max(self._now, batch.clock), max(self._newest, batch.newest))
        spares, spares_now = self._seen.enter(batch)
        last = np.searchsorted(batch.event, batch.last_event)
        ages = [scores(each, batch.last_event, spares_now[last]) for each in self._heads(*self._clocks_at(batch))]
        if started:
            # A row's score is what it needs behind the clocks of the batch before.
            needed = [scores(each, batch.event, spares) for each in self._heads(*map(_at, before))]
            self._remember(batch.event, needed, [_at(each) for each in self._start.elapsed(before)], batch.count)
            self._guard.lasted(before, after)
            self._start.enter(batch, after[0], min(self._began))
        else:
            before = after
            self._remember_first(batch)
        self._guard.observe(np.stack(ages))
        self._learnt += batch.size
        self._now, self._newest = after
        if self._grain != 1:
            apart = np.maximum(minus(batch.event, np.int64(self._start.event)), -LATEST)
            self._grain = gcd(self._grain, int(np.gcd.reduce(apart)))
        return before

    def _begin(self, batch: Tally) -> None:
        self._start.begin(batch)
        self._now, self._newest = self._start.arrival, self._start.event
        self._offset = batch.delay_at(batch.size // QUICK)

    def _clocks_at(self, batch: Tally) -> tuple[Times, Times]:
        """Both clocks as each of the last rows came."""
        return (
            np.maximum(np.maximum.accumulate(batch.last_arrival), max(self._now, batch.clock_before)),
            np.maximum(np.maximum.accumulate(batch.last_event), max(self._newest, batch.newest_before)),
        )

    def _remember_first(self, batch: Tally) -> None:
        """The first batch has no clocks before it: its rows are scored, one by one, by the clocks as they came."""
        event, arrival = batch.rows
        clock, newest = np.maximum.accumulate(arrival), np.maximum.accumulate(event)
        since = [minus(clock, np.int64(self._start.arrival)), minus(newest, np.int64(self._start.event))]
        self._remember(event, [minus(each, event) for each in self._heads(clock, newest)], since)

    def _heads(self, clock: Times, newest: Times) -> tuple[Times, Times]:
        """What delays are measured from: the arrival clock less that of the quick rows, and the newest timestamp."""
        return minus(clock, np.int64(self._offset)), newest

    def _remember(self, event: Times, needed: list[Times], ages: list[Times], count: Times | None = None) -> None:
        for start, score, age, histogram in zip(self._began, needed, ages, self._clocks, strict=True):
            known = event >= start  # what was sent before the start was not seen from the start
            histogram.add(np.where(known, score, 0), age, count)

    @property
    def _began(self) -> tuple[int, int]:
        """The event times at which the stream began: by the arrival of its first row, and by its timestamp."""
        return clamp(self._start.arrival - self._offset), self._start.event

    def _quicken(self, batch: Tally) -> None:
        """Delays are measured from the quick ones, so that a constant part costs no precision."""
        if (faster := self._quick(batch)) < self._offset:
            by = min(LATEST // 2, self._offset - faster)
            self._clocks[0].shift(by)
            self._guard.ages[0] = _plus(self._guard.ages[0], by)
            self._offset = faster

    def _quick(self, batch: Tally) -> int:
        """A delay that one row in twenty undercuts: of the batch, or of the last 64 rows if it has fewer."""
        if batch.size >= FEWEST_QUICK:
            return batch.delay_at(batch.size // QUICK)
        delay = minus(batch.last_arrival, batch.last_event)
        known = np.concatenate([_plus(self._guard.ages[0], self._offset), delay])[-FEWEST_QUICK:]
        return int(np.partition(known, len(known) // QUICK)[len(known) // QUICK])

    def _level(self) -> float:
        """D, and one row more at the start: less than that cannot be told from nothing."""
        return self._dratio + 1 / self._learnt

    def _correction(self) -> float:
        """What the account says; whether the stream is settled matters to it only while the budget is small."""
        elapsed = self._start.elapsed((self._now, self._newest))
        settled = self._account.few and self._lasted(SETTLED, elapsed)
        return self._account.correction(settled=settled, steady=self._steadiness.steady)

    def _lasted(self, times: float, elapsed: tuple[int, int]) -> bool:
        """Whether the stream is so many times as old as its longest delay."""
        longest = (float(clock.highest()[-1]) for clock in self._clocks)
        return all(age >= times * each for age, each in zip(elapsed, longest, strict=True))

    def _enough(self) -> bool:
        return self._learnt >= max(FEWEST, TENTH / self._dratio)

    def _delays_known(self) -> bool:
        """Whether most rows are delayed, or many, or so many are not that there seem to be none: these come first."""
        delayed, rows = self._start.delayed, self._learnt
        return delayed >= min(DELAYED, rows / 2) or rows >= NONE_DELAYED

    def _unseen(self, before: tuple[int, int]) -> float:
        """The share of rows that are probably later than the stream is old.

        What was sent before it began is waited for as senders are: until the idle timeout is over.
        """
        elapsed = self._start.elapsed(before)
        beyond = max(clock.beyond(age) for clock, age in zip(self._clocks, elapsed, strict=True))
        return max(beyond, self._start.sent_before) if elapsed[0] <= self._senders.idle else beyond

    def _old_enough(self, unseen: float, before: tuple[int, int]) -> bool:
        """Whether rows that are later than the stream is old are rarer than the level.

        As long as there is no budget to pay for an error, the stream must also be older than its longest delay.
        """
        if self._account.small and not self._lasted(OLD, self._start.elapsed(before)):
            return False
        return unseen <= self._level() * exp(max(0.0, self._correction()))

    def _advance(self, batch: Tally, unseen: float) -> int:
        account = self._correction()
        # What is unseen will be late whatever the delay, and may be twice what is expected: it is taken off the level.
        level = max(self._level() - 2 * unseen, self._level() / 2)
        heads = np.array([float(self._now) - float(self._offset), float(self._newest)])
        usual = level * np.exp(self._trials.pressure(self._steadiness.chance(self._learnt)))
        strict = np.maximum(usual * exp(account), level * exp(STRICTEST))
        every = np.ones(len(usual)) * level
        levels = np.stack([usual, every / 2, every * 2, strict, np.maximum(usual, strict)])
        # The newest timestamp moves by chance. Behind both at one level the delay jumps from one clock to the other.
        looser = LOOSER if self._steadiness.steady else 1.0
        wanted = levels, levels * looser
        survival = [clock.survival() for clock in self._clocks]
        needed = np.stack(
            [delays(s, c.highest(), c.weight(), w) for s, c, w in zip(survival, self._clocks, wanted, strict=True)]
        )
        half, twice = needed[0, 1:3, -1].tolist()
        self._steadiness.observe(survival[0], batch.size, self._learnt, half, twice)
        price = slope(half, twice, level)
        self._trials.run(batch, heads, needed[:, 0], level, price, self._stay)
        best = ALL if self._steadiness.steady else self._trials.best
        delay = np.minimum(needed[:, 3, best], LONGEST * needed[:, 4, best] + 1)
        if best != ALL:
            delay[1] = max(delay[1], min(needed[1, 0, ALL], self._affordable(survival[1][ALL])))
        if self._account.late > self._account.allowed:
            delay = np.maximum(delay, needed[:, 0, ALL])  # a short memory is a bet, and there is nothing left to bet
        tolerated = level * exp(min(0.0, account))
        asked = self._guard.asks((tolerated, looser * tolerated), delay, cautious=self._account.small)
        delay = np.maximum(delay, asked)
        reached = clamp(self._now - self._offset) - ceil(delay[0]), self._newest - ceil(delay[1])
        aim = clamp(min(*reached, self._newest))
        return int(self._stay(_at(aim), delay[[int(reached[1] < reached[0])]])[0])

    def _affordable(self, survival: Floats) -> float:
        """The delay behind the newest timestamp at which a short memory may be wrong.

        If delays were again as all history has them, the rows that are later would be lost: at most a whole budget.
        """
        age, _ = self._start.elapsed((self._now, self._newest))
        lost = self._learnt / max(1, age) * beyond_each(survival)
        return float(LARGEST[min(len(lost) - 1, int(np.count_nonzero(lost > self._account.allowed)))])

    def _stay(self, aim: Times, delay: Floats) -> Times:
        """Where punctuations stay that aim at these times, with these delays: at their grain, at what was seen.

        This holds back no row more, and loses those less that are still to come.
        """
        beyond = minus(aim, np.int64(self._start.event)) % max(1, self._grain)
        return self._seen.below(minus(aim, beyond), delay)

    def state(self) -> bytes:
        fields: dict[str, Value] = {name: getattr(self, f"_{name}") for name in SCALARS}
        fields |= (
            self._account.fields()
            | self._seen.fields()
            | self._start.fields()
            | self._clocks[0].fields("arrival")
            | self._clocks[1].fields("newest")
        )
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
        self._seen.restore(fields)
        self._start.restore(fields)
        self._clocks[0].restore(fields, "arrival")
        self._clocks[1].restore(fields, "newest")
        self._trials.restore(fields)
        self._steadiness.restore(fields)
        self._senders.restore(fields)
        self._guard.restore(fields)


SCALARS = (
    "learnt", "waiting", "grain", "offset", "now", "newest", "punctuation",
)  # fmt: skip


def _at(time: int) -> Times:
    return np.array([time], np.int64)


def _plus(times: Times, by: int) -> Times:
    return minus(times, np.int64(-max(by, -LATEST)))
