"""Our estimator, the default for DRATIO. How it works and what it guarantees: docs/design/budget.md."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp

import numpy as np

from slackwater.defaults import IDLE_SECONDS
from slackwater.disorder.budget.account import RatioAccount
from slackwater.disorder.budget.histogram import DelayMemory
from slackwater.disorder.budget.latest import Latest, ages, raised
from slackwater.disorder.budget.seen import SeenTimes
from slackwater.disorder.budget.senders import Senders
from slackwater.disorder.budget.settings import DEFAULT, Settings
from slackwater.disorder.clock import EARLIEST, Times, clamp, minus, ticks_per_second
from slackwater.disorder.estimator import NO_PUNCTUATION, Sources, named
from slackwater.disorder.state import Fields, Value, pack, unpack
from slackwater.disorder.tally import Tally
from slackwater.errors import InputError

VERSION = 9
FAR = float(1 << 62)
CLOCKS = ("_now", "_newest", "_first_arrival", "_first_clock", "_delayed", "_released")


@dataclass(frozen=True, slots=True)
class Delay:
    """A delay in ticks, the number of latest rows that ask for it, and the share of them that may be later."""

    ticks: float
    rows: int
    level: float


@named("budget")
class Budget:
    """Keeps the punctuation behind the clock of the stream by the longest delay that is asked for.

    The account says which share of the rows may be late from now on. All rows ask for the delay that this share
    exceeds, recent rows for a longer one if chance does not explain how many of them are late, and bursts for a longer
    one if another of them could not be afforded.

    >>> arrival = np.arange(5_000)
    >>> Budget(0.01).observe(arrival - arrival % 7, arrival) > 4_900
    True
    """

    __slots__ = (
        "_account", "_delayed", "_dratio", "_first_arrival", "_first_clock", "_latest", "_memory", "_newest",
        "_now", "_punctuation", "_quick", "_released", "_seen", "_senders", "_settings", "_ticks", "excuse",
    )  # fmt: skip

    def __init__(
        self, dratio: float = 0.01, *, unit: str = "us", idle: int | None = None, settings: Settings = DEFAULT
    ) -> None:
        if not 0 < dratio < 1:
            raise InputError("SW-423", f"drop ratio {dratio} is no share", expected="between 0 and 1, both excluded")
        self._dratio = dratio
        self._settings = settings
        self._ticks = ticks_per_second(unit)
        self._account = RatioAccount(dratio, settings)
        self._memory = DelayMemory(dratio, settings.recent)
        self._latest = Latest()
        self._seen = SeenTimes(settings.seen_times)
        self._senders = Senders(IDLE_SECONDS * self._ticks if idle is None else idle, settings)
        self.excuse = self._senders.excuse
        self._now = self._newest = self._first_arrival = self._first_clock = EARLIEST
        self._delayed = self._released = 0
        self._quick = 0.0  # delay
        self._punctuation = NO_PUNCTUATION

    @property
    def started(self) -> bool:
        return self._account.rows > 0

    def observe(self, event: Times, arrival: Times, source: Sources | None = None) -> int:
        if not len(event):
            return self._punctuation
        if not self.started and len(event) > 1:
            # A batch is scored by the clock before it: the first one is taken as two, so that it says something.
            half = len(event) // 2
            self._enter(event[:half], arrival[:half], None if source is None else source[:half])
            event, arrival, source = event[half:], arrival[half:], None if source is None else source[half:]
        self._enter(event, arrival, source)
        return self._advance()

    def tallied(self, tally: Tally) -> int:
        if not self.started:
            return self.observe(*tally.rows)
        self._account.enter(tally.size, tally.before(self._punctuation))
        self._learn(tally)
        return self._advance()

    def _enter(self, event: Times, arrival: Times, source: Sources | None) -> None:
        late = event < self._punctuation
        self._account.enter(len(event), int(np.count_nonzero(late)))
        if source is not None:
            # Rows that are on time because the punctuation was held for their sender say nothing about delays.
            usual = late | ~self._senders.observe(event, arrival, source)
            event, arrival = event[usual], arrival[usual]
        if len(event):
            self._learn(Tally.of(event, arrival))

    def _learn(self, batch: Tally) -> None:
        """Score the rows by the clock before them, then move the clock."""
        own, first = self._settings, self._now == EARLIEST
        quick = batch.delay_at(int(batch.size * own.quick_share))
        self._quick += (quick - self._quick) * min(1.0, batch.size / min(own.quick_rows, self._account.rows))
        self._delayed += batch.delayed(self._offset)
        before = self._clock
        if not first:
            self._memory.add(minus(np.full(len(batch.event), before), batch.event), batch.count)
        aged = ages(batch, self._now, self._newest, self._offset)
        self._now, self._newest = max(self._now, batch.clock), max(self._newest, batch.newest)
        if first:
            self._first_arrival, self._first_clock = self._now, self._clock
        self._latest.enter(aged, 0 if first else clamp(self._clock - before))
        self._seen.enter(batch)

    @property
    def _offset(self) -> int:
        return clamp(int(self._quick))

    @property
    def _clock(self) -> int:
        return clamp(min(self._now - self._offset, self._newest))

    @property
    def _age(self) -> int:  # by arrivals or by the clock
        return max(self._now - self._first_arrival, self._clock - self._first_clock)

    def _advance(self) -> int:
        if not self._released and not self._can_start():
            return self._punctuation
        self._released = 1
        aim = self._aim(self._delay())
        worth = self._settings.sender_share * max(0.0, self._account.spare)
        self._punctuation = max(self._punctuation, min(aim, self._senders.reach(aim, worth)))
        return self._punctuation

    def _can_start(self) -> bool:
        """Return whether enough rows came, over a time much longer than the delays of these rows.

        Rows sent before the stream began may still come. They are waited for no longer than silent senders are.
        """
        own, rows = self._settings, self._account.rows
        level = self._dratio * exp(own.start_level)
        delay = max(self._longest(self._asked(level)).ticks, self._memory.delay(level, own.stretch, self._age))
        enough = rows >= max(own.first_rows, own.first_share / self._dratio) and self._delays_known()
        return enough and self._age >= min(own.start_delays * delay, self._senders.idle)

    def _delays_known(self) -> bool:
        """Return whether many rows were delayed, or almost none of many: the first rows to come are always quick."""
        own, rows = self._settings, self._account.rows
        none = rows >= own.prompt_rows and self._delayed < own.prompt_share * rows
        return none or self._delayed >= min(own.delayed_rows, rows / 2)

    def _delay(self) -> Delay:
        """Return the current delay: long enough for the level of the account, and for bursts beyond its spare rows."""
        own, account = self._settings, self._account
        rare = self._memory.delay(account.strictest, own.stretch)
        burst = self._of_all(min(self._memory.affordable(account.spare), rare) if own.dips else 0.0)
        return self._longest([*self._asked(account.level), burst])

    def _longest(self, asked: list[Delay]) -> Delay:
        """Return the longest of these delays, but not many times the delay that the ratio itself asks for."""
        longest = max(asked, key=lambda each: each.ticks)
        usual = max(each.ticks for each in self._asked(self._dratio))
        most = self._settings.longest * usual if usual else FAR
        return longest if longest.ticks <= most else self._of_all(most)

    def _asked(self, level: float) -> list[Delay]:
        """Return the delays that keep a level: of all rows, and of recent and latest rows with a margin for chance."""
        own, memory = self._settings, self._memory
        newly = raised(level, max(1.0, memory.recent), own.surprise)
        every = Delay(memory.delay(level, own.stretch), memory.rows, level)
        recent = Delay(memory.recent_delay(newly, own.stretch), int(memory.recent), newly)
        shares = [(rows, raised(level, rows, own.surprise)) for rows in own.latest]
        return [every, recent, *(Delay(self._latest.delay(rows, share), rows, share) for rows, share in shares)]

    def _of_all(self, ticks: float) -> Delay:
        """Return a delay of so many ticks, with the share of all rows that were later."""
        return Delay(ticks, self._memory.rows, self._memory.share_above(ticks))

    def _aim(self, delay: Delay) -> int:
        aim = clamp(self._clock - ceil(delay.ticks))
        return self._seen.below(aim, int(min(self._settings.seen_delays * delay.ticks, FAR)))

    def explain(self) -> str:
        """Return a sentence that says what holds the punctuation where it is now.

        >>> budget, time = Budget(0.01, unit="ms"), np.arange(20_000) * 10
        >>> reached = budget.observe(time - np.arange(20_000) % 50 * 40, time)
        >>> budget.explain()
        'at most 4.047% of the last 256 rows were later than 1.44 s'
        """
        delay = self._delay()
        if not self._released:
            age = self._seconds(self._age)
            return f"waiting for the stream to show its delays: {self._account.rows:,} rows in {age}"
        if waiting := self._senders.waiting(self._aim(delay)):
            silent = self._seconds(waiting.silent)
            return f"waiting for sender {waiting.key}, silent for {silent}, owes about {waiting.owed:,.0f} rows"
        return f"at most {delay.level:.3%} of the last {delay.rows:,} rows were later than {self._seconds(delay.ticks)}"

    def _seconds(self, ticks: float) -> str:
        return f"{ticks / self._ticks:.3g} s"

    def state(self) -> bytes:
        fields: dict[str, Value] = {"punctuation": self._punctuation, "quick": self._quick}
        fields |= {f"clock{name}": getattr(self, name) for name in CLOCKS}
        for part in self._parts:
            fields |= part.fields()
        return pack("budget", VERSION, fields)

    def restore(self, state: bytes) -> None:
        fields: Fields = unpack(state, "budget", VERSION)
        self._punctuation, self._quick = fields.integer("punctuation"), fields.number("quick")
        for name in CLOCKS:
            setattr(self, name, fields.integer(f"clock{name}"))
        for part in self._parts:
            part.restore(fields)

    @property
    def _parts(self) -> tuple[RatioAccount, DelayMemory, Latest, SeenTimes, Senders]:
        return self._account, self._memory, self._latest, self._seen, self._senders
