"""Which senders are behind: silent beyond their habit, or still catching up on what they could not send.

A sender's habit is its usual gap between rows, its longest pause that ended without a backlog, and its usual lag. It
is *behind* once it is silent, or lags, by more than 30 gaps and twice that pause beyond its habit. What it has not
sent is then expected to come, at its usual rate and oldest first, until the idle timeout gives it up. It has caught
up when it sends rows of which none lags any more; what it sends afresh beside its backlog does not count as that.
"""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from slackwater.defaults import IDLE_SECONDS
from slackwater.disorder.clock import EARLIEST, LATEST, Times, minus, ticks_per_second
from slackwater.disorder.estimator import Sources
from slackwater.disorder.state import Fields, Value, pack, unpack

Bools = NDArray[np.bool_]

VERSION = 1
GAPS = 30
KNOWN = 30  # rows after which a sender has habits
MOST = 4_096  # senders that are followed at a time; more are not told apart
COLUMNS = ("key", "rows", "first", "last", "front", "lag", "pause", "since")
NOT_BEHIND = LATEST


class Senders:
    """One row per sender, sorted by key."""

    __slots__ = ("_clock", "_table", "idle")

    def __init__(self, idle: int) -> None:
        self.idle = idle
        self._table: Times = np.empty((len(COLUMNS), 0), np.int64)
        self._clock = EARLIEST

    def observe(self, event: Times, arrival: Times, source: Sources) -> Bools:
        """Enter a batch; which of its rows are the awaited backlog of senders that were behind, in order."""
        clock = max(self._clock, int(arrival.max()))
        key, member = np.unique(keys(source), return_inverse=True)
        self._enrol(key)
        place = np.searchsorted(self._table[0], key)
        known = (place < self._table.shape[1]) & (self._table[0, np.minimum(place, self._table.shape[1] - 1)] == key)
        front = np.full(len(key), LATEST)
        behind = self._table[7, place[known]] != NOT_BEHIND
        front[known] = np.where(behind, self._table[4, place[known]], LATEST)
        self._enter(event, arrival, member, len(key), place, known)
        self._clock = clock
        self._judge()
        return event >= front[member]

    def _enrol(self, key: Times) -> None:
        """Follow new senders; where there are too many, in the place of those that are given up by now."""
        if len(np.setdiff1d(key, self._table[0])) > MOST - self._table.shape[1]:
            silent = minus(np.full(self._table.shape[1], self._clock), self._table[3])
            self._table = self._table[:, silent <= self.idle]
        new = np.setdiff1d(key, self._table[0])[: MOST - self._table.shape[1]]
        if len(new):
            fresh = np.zeros((len(COLUMNS), len(new)), np.int64)
            fresh[0], fresh[5], fresh[7] = new, LATEST, NOT_BEHIND
            fresh[2], fresh[3], fresh[4] = LATEST, EARLIEST, EARLIEST
            table = np.concatenate([self._table, fresh], axis=1)
            self._table = table[:, np.argsort(table[0])]

    def _enter(self, event: Times, arrival: Times, member: Times, count: int, place: Times, known: Bools) -> None:
        """Update what is known of each sender that sent."""
        order = np.argsort(member, kind="stable")
        starts = np.searchsorted(member[order], np.arange(count))
        event, arrival = event[order], arrival[order]
        delay = minus(arrival, event)
        rows = np.diff(np.append(starts, len(order)))[known]
        first, last, newest, oldest, least, most = (
            each[known]
            for each in (
                np.minimum.reduceat(arrival, starts),
                np.maximum.reduceat(arrival, starts),
                np.maximum.reduceat(event, starts),
                np.minimum.reduceat(event, starts),
                np.minimum.reduceat(delay, starts),
                np.maximum.reduceat(delay, starts),
            )
        )
        at, table = place[known], self._table
        gap, patience, behind = minus(first, table[3, at]), self._patience(at), table[7, at] != NOT_BEHIND
        lags = minus(most, np.minimum(table[5, at], LATEST // 2)) > patience
        backlog = behind & lags
        paused = (table[1, at] >= KNOWN) & ~backlog & (gap > table[6, at])
        table[6, at] = np.where(paused, gap, table[6, at] - table[6, at] // 1_000)
        table[5, at] = np.where(behind, table[5, at], np.minimum(least, _towards(table[5, at], least)))
        table[1, at] += rows
        table[2, at] = np.minimum(table[2, at], first)
        table[3, at] = np.maximum(table[3, at], last)
        table[4, at] = np.where(backlog, np.maximum(table[4, at], oldest), np.maximum(table[4, at], newest))
        table[7, at] = np.where(backlog, table[7, at], NOT_BEHIND)

    def _patience(self, at: Times) -> Times:
        _, rows, first, last, _, _, pause, _ = self._table[:, at]
        gaps = minus(last, first) // np.maximum(rows, 1)
        patience: Times = np.maximum(GAPS * gaps, 2 * np.minimum(pause, LATEST // 4))
        return patience

    def _judge(self) -> None:
        """Mark who has fallen silent, and since when."""
        _, rows, _, last, _, _, _, since = self._table
        silent = minus(np.full(len(rows), self._clock), last) > self._patience(np.arange(len(rows)))
        self._table[7] = np.where(silent & (rows >= KNOWN), np.minimum(since, self._clock), since)

    def waited_for(self) -> tuple[int, float]:
        """How far the sender that is furthest behind has sent, and how many rows are still to come from all.

        The latest time and none if nobody is waited for.
        """
        _, rows, first, last, front, lag, _, since = self._table
        clock = np.full(len(since), self._clock)
        waited = (since != NOT_BEHIND) & (minus(clock, since) <= self.idle)
        if not waited.any():
            return LATEST, 0.0
        span = np.maximum(minus(last, first), 1)[waited].astype(np.float64)
        missing = minus(minus(clock, front), lag)[waited].astype(np.float64)
        return int(front[waited].min()), float((rows[waited] / span * np.maximum(missing, 0.0)).sum())

    def fields(self) -> dict[str, Value]:
        return {"senders": self._table.ravel(), "senders_clock": self._clock}

    def restore(self, fields: Fields) -> None:
        self._table = fields.times("senders").reshape(len(COLUMNS), -1)
        self._clock = fields.integer("senders_clock")


class SourceHold:
    """For any estimator: no punctuation passes the newest row of a sender that is behind, until it is given up.

    >>> hold = SourceHold(unit="s")
    >>> steady = np.arange(200)
    >>> hold.observe(steady, steady, steady % 2) == LATEST
    True
    >>> alone = np.arange(200, 300)
    >>> hold.observe(alone, alone, np.zeros(100, np.int64))     # 1 fell silent after its row of 199
    199
    """

    __slots__ = ("_senders",)

    def __init__(self, idle: int | None = None, *, unit: str = "us") -> None:
        self._senders = Senders(IDLE_SECONDS * ticks_per_second(unit) if idle is None else idle)

    def observe(self, event: Times, arrival: Times, source: Sources) -> int:
        if len(event):
            self._senders.observe(event, arrival, source)
        return self._senders.waited_for()[0]

    def state(self) -> bytes:
        return pack("sources", VERSION, self._senders.fields())

    def restore(self, state: bytes) -> None:
        self._senders.restore(unpack(state, "sources", VERSION))


def keys(source: Sources) -> Times:
    """A number for each sender: itself, or one drawn from its text that is the same on every machine."""
    if source.dtype.kind in "iu":
        return source.astype(np.int64)
    names, member = np.unique(source.astype(str), return_inverse=True)
    return np.array([_number(name) for name in names.tolist()], np.int64)[member]


def _number(name: str) -> int:
    text = name.encode()
    return zlib.crc32(text) << 31 | zlib.crc32(text[::-1] + b"/") >> 1


def _towards(usual: Times, seen: Times) -> Times:
    """A tenth of the way up to what was seen."""
    up: Times = np.maximum(0, np.minimum(minus(seen, usual), LATEST // 2)) // 10
    return usual + up
