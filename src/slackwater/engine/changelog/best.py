"""What one member of a group decides at each point: MIN, MAX, FIRST, LAST; and how many values a group has.

The members that live at a point are those whose stretch covers it. Each call also says until when its value holds, by
what is known: until the member that decides it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.living import Members
from slackwater.engine.changelog.timeline import NOTHING, Stretches, best
from slackwater.engine.columns.arrays import LATEST, Bools, Ints, valid
from slackwater.engine.columns.keys import dense, normal, ranked
from slackwater.engine.columns.order import bounds, counted, firsts, stable
from slackwater.engine.operators.extremes import comparable

NUMBER = "began"
"""The order in which tuples began, among the arguments of FIRST and LAST."""


@dataclass(frozen=True, slots=True)
class View:
    """The members of groups, and the points that each covers."""

    members: Members
    stretches: Stretches

    def known(self, name: str) -> Bools:
        return valid(self.members.column(name))

    def soonest(self, some: Bools | None = None) -> Ints:
        """At each point the first bound of those that live; LATEST where none has one."""
        found = self.stretches.best(~self.members.end, some)
        return np.where(found == NOTHING, LATEST, ~found)

    def last(self) -> Ints:
        """At each point the last bound of those that live."""
        return self.stretches.best(self.members.end)

    def chosen(self, some: Bools, *keys: Ints) -> tuple[Ints, Ints]:
        """At each point the greatest member of some, by one key and then the next, -1 for none; and its bound."""
        order = self.stretches.leading(some, *keys)
        for key in reversed(keys):
            order = order[np.argsort(key[order], kind="stable")]
        rank, among = np.zeros(len(some), np.int64), np.zeros(len(some), np.bool_)
        rank[order], among[order] = np.arange(len(order)), True
        found = self.stretches.best(rank, among)
        there = found != NOTHING
        if not len(order):
            return np.full(len(found), -1), np.full(len(found), LATEST)
        member = np.where(there, order[np.where(there, found, 0)], -1)
        return member, np.where(there, self.members.end[member], LATEST)


Found = tuple[pa.Array, Ints]
"""By point: the value, and until when."""


class Best(Protocol):
    """A call that one member of the group decides, or that counts members apart."""

    def at(self, view: View) -> Found: ...

    def needed(self, view: View) -> Bools:
        """Which members matter, where none is ever ended."""


class Extreme:
    """MIN and MAX: of the greatest values the one that ends last."""

    def __init__(self, argument: str, least: bool) -> None:
        self.argument = argument
        self.least = least

    def _ranks(self, view: View) -> tuple[Bools, Ints]:
        values, known = view.members.column(self.argument), view.known(self.argument)
        rank = np.zeros(len(values), np.int64)
        rank[known] = ordered(values.drop_null() if values.null_count else values, self.least)
        return known, rank

    def at(self, view: View) -> Found:
        known, rank = self._ranks(view)
        member, bound = view.chosen(known, rank, view.members.end)
        return view.members.column(self.argument).take(pa.array(member, mask=member < 0)), bound

    def needed(self, view: View) -> Bools:
        return _greatest(view.members.code, *self._ranks(view))


class End:
    """FIRST and LAST, by the order in which tuples began; with `skips`, of those that are not NULL."""

    def __init__(self, argument: str, last: bool, skips: bool) -> None:
        self.argument = argument
        self.last = last
        self.skips = skips

    def _ranks(self, view: View) -> tuple[Bools, Ints]:
        number = view.members.column(NUMBER).to_numpy()
        some = view.known(self.argument) if self.skips else np.ones(len(number), np.bool_)
        return some, number if self.last else ~number

    def at(self, view: View) -> Found:
        member, bound = view.chosen(*self._ranks(view))
        return view.members.column(self.argument).take(pa.array(member, mask=member < 0)), bound

    def needed(self, view: View) -> Bools:
        return _greatest(view.members.code, *self._ranks(view))


class DistinctCount:
    """COUNT(DISTINCT ...): a value is there for as long as tuples with it follow on each other."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.arguments = list(arguments)

    def _values(self, view: View) -> tuple[Ints, Ints]:
        """The members without a NULL, by value, then start; and a number for each group's value."""
        known = np.logical_and.reduce([view.known(name) for name in self.arguments])
        columns = [pa.array(view.members.code), *(normal(view.members.column(name)) for name in self.arguments)]
        places = np.flatnonzero(known & (view.stretches.high > view.stretches.low))
        value, _ = dense([column.take(pa.array(places)) for column in columns])
        order = stable(view.stretches.low[places])
        order = order[counted(value[order])]
        return places[order], value[order]

    def at(self, view: View) -> Found:
        size = view.stretches.size
        places, value = self._values(view)
        if not len(places):
            return pa.array(np.zeros(size, np.int64)), np.full(size, LATEST)
        low, high = view.stretches.low[places], view.stretches.high[places]
        reached = _running(value, high)
        opens = firsts(value) | (low > np.append(0, reached[:-1]))
        closes = np.append(opens[1:], True)
        change = np.bincount(low[opens], minlength=size + 1) - np.bincount(reached[closes], minlength=size + 1)
        stretch = np.cumsum(opens).astype(np.int64)
        until = _running(stretch, view.members.end[places])
        stop = np.where(closes, reached, np.append(low[1:], 0))
        some = stop > low
        bound = best(low[some], stop[some], ~until[some], size)
        count = np.cumsum(change)[:size]
        return pa.array(count), np.where(bound == NOTHING, LATEST, ~bound)

    def needed(self, view: View) -> Bools:
        columns = [pa.array(view.members.code), *(normal(view.members.column(name)) for name in self.arguments)]
        _, first = dense(columns)
        needed = np.zeros(len(view.members), np.bool_)
        needed[first] = True
        for name in self.arguments:
            needed &= view.known(name)
        return needed


def _running(group: Ints, values: Ints) -> Ints:
    """The greatest value so far of each run of equal groups, which ascend."""
    rank = np.unique(values, return_inverse=True)
    number = np.cumsum(firsts(group)) * len(rank[0])
    greatest = np.maximum.accumulate(number + rank[1])
    found: Ints = rank[0][greatest - number]
    return found


def _greatest(code: Ints, some: Bools, rank: Ints) -> Bools:
    """Of some, the member of each code with the greatest rank."""
    order = np.flatnonzero(some)
    order = order[np.argsort(rank[order], kind="stable")]
    order = order[counted(code[order])]
    _, ends = bounds(firsts(code[order]))
    needed = np.zeros(len(code), np.bool_)
    needed[order[ends - 1]] = True
    return needed


def ordered(values: pa.Array, least: bool) -> Ints:
    """Integers in the order of the values, equal ones alike."""
    kind = values.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_timestamp(kind):
        return comparable(values, least)[0]
    code, first = dense([values])
    rank = ranked([values.take(pa.array(first))])[code]
    return ~rank if least else rank
