"""Senders that are behind, and how far the punctuation may go without them.

A sender's *front* is its newest event time, and its *lag* the distance from there to the arrival clock. It is behind if
it lags by several times its usual lag, and owes its usual rate times the distance from its front. The punctuation goes
as far as the rows that all such senders owe are worth losing. Nobody is waited for beyond the idle timeout.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slackwater.disorder.budget.settings import DEFAULT, Settings
from slackwater.disorder.clock import EARLIEST, LATEST, Times, clamp, minus
from slackwater.disorder.estimator import Sources
from slackwater.disorder.state import Fields, Value

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

WHOLE = ("key", "rows", "began", "origin", "last", "front", "least")
FLAGS = ("behind", "awaited")


@dataclass(frozen=True, slots=True)
class WaitedSender:
    """A sender that holds the punctuation back: its key, how long it is silent (ticks), and the rows that it owes."""

    key: int
    silent: int
    owed: float


class Senders:
    """Follows the senders: one place per sender in every array, sorted by key.

    `rows` sent, arrival of the first row (`began`) and of the `last`, first event time (`origin`), `front`, the `least`
    lag, the mean lag beyond that (`usual`), whether it is `behind`, and whether the punctuation is held for it.
    """

    key: Times
    rows: Times
    began: Times
    origin: Times
    last: Times
    front: Times
    least: Times

    def __init__(self, idle: int, settings: Settings = DEFAULT) -> None:
        self.idle = idle
        self._settings = settings
        self._clock = EARLIEST
        for name in WHOLE:
            setattr(self, name, np.empty(0, np.int64))
        self.usual: Floats = np.empty(0)
        self.behind: Bools = np.empty(0, np.bool_)
        self.awaited: Bools = np.empty(0, np.bool_)

    def observe(self, event: Times, arrival: Times, source: Sources) -> Bools:
        """Enter a batch; return which of its rows come from senders for which the punctuation was held."""
        key, member = np.unique(keys(source), return_inverse=True)
        clock = max(self._clock, int(arrival.max()))
        self._enrol(key)
        place = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        known = self.key[place] == key
        awaited: Bools = (known & self.awaited[place])[member]
        self._enter(event, arrival, member, place, known)
        passed, self._clock = clamp(clock - max(self._clock, clock - LATEST // 2)), clock
        self._judge(passed)
        return awaited

    def excuse(self, wrong: Sources, honest: Sources) -> None:
        """Forget senders that sent only suspect rows: they are not silent, but their true times are unknown."""
        self._keep(np.flatnonzero(~np.isin(self.key, np.setdiff1d(keys(wrong), keys(honest)))))

    def _enrol(self, key: Times) -> None:
        """Follow new senders. If there are too many, drop senders that are silent beyond the timeout to make room."""
        new, most = np.setdiff1d(key, self.key), self._settings.most_senders
        if len(new) > most - len(self.key):
            self._keep(np.flatnonzero(self._silent() <= self.idle))
        new = new[: most - len(self.key)]
        if not len(new):
            return
        fresh = {"key": new, "began": LATEST, "origin": LATEST, "last": EARLIEST, "front": EARLIEST, "least": LATEST}
        for name in (*WHOLE, "usual", *FLAGS):
            known = getattr(self, name)
            added = np.broadcast_to(np.asarray(fresh.get(name, 0), known.dtype), len(new))
            setattr(self, name, np.concatenate([known, added]))
        self._keep(np.argsort(self.key))

    def _keep(self, place: Times) -> None:
        for name in (*WHOLE, "usual", *FLAGS):
            setattr(self, name, getattr(self, name)[place])

    def _enter(self, event: Times, arrival: Times, member: Times, place: Times, known: Bools) -> None:
        """Update the senders of a batch's rows. A few rows that are sent again do not stop the front of a sender."""
        order = np.lexsort((event, member))
        starts = np.searchsorted(member[order], np.arange(len(place)))
        event, arrival = event[order], arrival[order]
        at = place[known]
        count = np.diff(np.append(starts, len(order)))
        few = (count * self._settings.quick_share).astype(np.int64)
        oldest, early, newest = (event[starts + each][known] for each in (0, few, count - 1))
        self.rows[at] += count[known]
        self.began[at] = np.minimum(self.began[at], np.minimum.reduceat(arrival, starts)[known])
        self.last[at] = np.maximum(self.last[at], np.maximum.reduceat(arrival, starts)[known])
        self.origin[at] = np.minimum(self.origin[at], oldest)
        self.front[at] = np.maximum(self.front[at], np.where(self.behind[at], early, newest))

    def _judge(self, passed: int) -> None:
        """Update the usual lags after a batch that lasted `passed`, and find the senders that are behind.

        A lag counts as at most a multiple of the usual one, so that one long silence does not raise the mean at once.
        """
        lag = minus(np.full(len(self.key), self._clock), self.front)
        self.least = np.minimum(self.least, lag)
        beyond = minus(lag, self.least).astype(np.float64)
        life = np.maximum(minus(np.full(len(self.key), self._clock), self.began), 1).astype(np.float64)
        gap = life / np.maximum(self.rows, 1)
        most = self._settings.sender_lags * (self.usual + gap)
        self.usual += (np.minimum(beyond, most) - self.usual) * np.minimum(1.0, passed / life)
        self.behind = (self.rows >= self._settings.sender_rows) & (beyond > most) & (self._silent() <= self.idle)

    def _silent(self) -> Times:
        return minus(np.full(len(self.key), self._clock), self.last)

    def _rate(self, place: Times) -> Floats:
        """Return the rows per tick of event time that these senders sent."""
        rate: Floats = self.rows[place] / np.maximum(minus(self.front, self.origin)[place], 1)
        return rate

    def reach(self, aim: int, worth: float) -> int:
        """Return the latest time up to `aim` before which senders that are behind owe at most `worth` rows."""
        self.awaited = np.zeros(len(self.key), np.bool_)
        place = np.flatnonzero(self.behind & (self.front < aim))
        if not len(place):
            return aim
        place = place[np.argsort(self.front[place], kind="stable")]
        front, rates = minus(self.front[place], self.front[place[0]]).astype(np.float64), np.cumsum(self._rate(place))
        owed = np.cumsum(np.append(0.0, np.diff(front) * rates[:-1]))  # before each front
        last = int(np.searchsorted(owed, worth, side="right")) - 1
        reached = clamp(int(self.front[place[0]]) + int(front[last] + (worth - owed[last]) / max(rates[last], 1e-12)))
        if reached >= aim:
            return aim
        self.awaited[place] = True
        return reached

    def waiting(self, until: int) -> WaitedSender | None:
        """Return the awaited sender that owes most before a time; None if none is awaited."""
        place = np.flatnonzero(self.awaited)
        if not len(place):
            return None
        owed = self._rate(place) * np.maximum(minus(np.full(len(place), until), self.front[place]), 0)
        most = int(place[np.argmax(owed)])
        return WaitedSender(int(self.key[most]), int(self._silent()[most]), float(owed.max()))

    def fields(self) -> dict[str, Value]:
        named: dict[str, Value] = {f"sender_{name}": getattr(self, name) for name in (*WHOLE, "usual")}
        flags = {f"sender_{name}": getattr(self, name).astype(np.int64) for name in FLAGS}
        return named | flags | {"senders_clock": self._clock}

    def restore(self, fields: Fields) -> None:
        for name in WHOLE:
            setattr(self, name, fields.times(f"sender_{name}"))
        for name in FLAGS:
            setattr(self, name, fields.times(f"sender_{name}").astype(np.bool_))
        self.usual = fields.numbers("sender_usual")
        self._clock = fields.integer("senders_clock")


def keys(source: Sources) -> Times:
    """Return a number for each sender: itself, or one drawn from its text that is the same on every machine."""
    if source.dtype.kind in "iu":
        return source.astype(np.int64)
    names, member = np.unique(source.astype(str), return_inverse=True)
    return np.array([_number(name) for name in names.tolist()], np.int64)[member]


def _number(name: str) -> int:
    text = name.encode()
    return zlib.crc32(text) << 31 | zlib.crc32(text[::-1] + b"/") >> 1
