"""Aggregate functions over tuples with lifetimes: the value at each point, and its bound.

Sums are exact tallies that grow and shrink. MIN, MAX, FIRST and LAST are decided by one live tuple at each point;
COUNT(DISTINCT) counts the values of the live tuples. The bound of a value is the first known expiry that changes it:
for a sum the expiry of any tuple with a value, for a maximum that of the last tuple with this value. If expiring values
cancel, the bound is early and the same value is sent again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.living import Members
from slackwater.engine.changelog.timeline import NOTHING, Stretches, best
from slackwater.engine.columns.arrays import LATEST, Bools, Ints, valid
from slackwater.engine.columns.keys import dense, normal, ranked
from slackwater.engine.columns.order import bounds, counted, firsts, stable
from slackwater.engine.columns.rows import Rows
from slackwater.engine.columns.types import known_type
from slackwater.engine.numbers.finish import FUNCTIONS
from slackwater.engine.numbers.tally import ROWS, Tally
from slackwater.engine.operators.aggregates import LEAST, Arguments, not_here
from slackwater.engine.operators.extremes import comparable
from slackwater.engine.plan import Call

NUMBER = "began"
"""The column of the arguments of FIRST and LAST with the order in which tuples began."""


@dataclass(frozen=True, slots=True)
class GroupMembers:
    """The members of groups, and the points that each of them covers."""

    members: Members
    stretches: Stretches

    def known(self, name: str) -> Bools:
        return valid(self.members.column(name))

    def soonest(self, some: Bools | None = None) -> Ints:
        """Return at each point the earliest bound of the live members, LATEST if none has a bound."""
        found = self.stretches.best(~self.members.end, some)
        return np.where(found == NOTHING, LATEST, ~found)

    def last(self) -> Ints:
        """Return at each point the latest bound of the live members."""
        return self.stretches.best(self.members.end)

    def chosen(self, some: Bools, *keys: Ints) -> tuple[Ints, Ints]:
        """Return at each point the greatest member of `some` by these keys, -1 if there is none, and its bound."""
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
"""For each point: the value, and its bound."""


class Best(Protocol):
    """A call that one member of the group decides, or that counts distinct values."""

    def at(self, view: GroupMembers) -> Found: ...

    def needed(self, view: GroupMembers) -> Bools:
        """Return a mask of the members that matter if no member ever ends."""


class LastingExtreme:
    """MIN and MAX. Of equal extremes, the one that ends last decides."""

    def __init__(self, argument: str, least: bool) -> None:
        self.argument = argument
        self.least = least

    def _ranks(self, view: GroupMembers) -> tuple[Bools, Ints]:
        values, known = view.members.column(self.argument), view.known(self.argument)
        rank = np.zeros(len(values), np.int64)
        rank[known] = ordered(values.drop_null() if values.null_count else values, self.least)
        return known, rank

    def at(self, view: GroupMembers) -> Found:
        known, rank = self._ranks(view)
        member, bound = view.chosen(known, rank, view.members.end)
        return view.members.column(self.argument).take(pa.array(member, mask=member < 0)), bound

    def needed(self, view: GroupMembers) -> Bools:
        return _greatest(view.members.code, *self._ranks(view))


class End:
    """FIRST and LAST, by the order in which tuples began. `skips` ignores NULLs."""

    def __init__(self, argument: str, last: bool, skips: bool) -> None:
        self.argument = argument
        self.last = last
        self.skips = skips

    def _ranks(self, view: GroupMembers) -> tuple[Bools, Ints]:
        number = view.members.column(NUMBER).to_numpy()
        some = view.known(self.argument) if self.skips else np.ones(len(number), np.bool_)
        return some, number if self.last else ~number

    def at(self, view: GroupMembers) -> Found:
        member, bound = view.chosen(*self._ranks(view))
        return view.members.column(self.argument).take(pa.array(member, mask=member < 0)), bound

    def needed(self, view: GroupMembers) -> Bools:
        return _greatest(view.members.code, *self._ranks(view))


class DistinctCount:
    """COUNT(DISTINCT ...): a value is present as long as lifetimes of its tuples overlap or meet."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.arguments = list(arguments)

    def _values(self, view: GroupMembers) -> tuple[Ints, Ints]:
        """Return the members without NULLs, by value, then start; and a number for each pair of group and value."""
        known = np.logical_and.reduce([view.known(name) for name in self.arguments])
        columns = [pa.array(view.members.code), *(normal(view.members.column(name)) for name in self.arguments)]
        places = np.flatnonzero(known & (view.stretches.high > view.stretches.low))
        value, _ = dense([column.take(pa.array(places)) for column in columns])
        order = stable(view.stretches.low[places])
        order = order[counted(value[order])]
        return places[order], value[order]

    def at(self, view: GroupMembers) -> Found:
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

    def needed(self, view: GroupMembers) -> Bools:
        columns = [pa.array(view.members.code), *(normal(view.members.column(name)) for name in self.arguments)]
        _, first = dense(columns)
        needed = np.zeros(len(view.members), np.bool_)
        needed[first] = True
        for name in self.arguments:
            needed &= view.known(name)
        return needed


def _running(group: Ints, values: Ints) -> Ints:
    """Return the running maximum of values within each run of equal groups. Groups ascend."""
    rank = np.unique(values, return_inverse=True)
    number = np.cumsum(firsts(group)) * len(rank[0])
    greatest = np.maximum.accumulate(number + rank[1])
    found: Ints = rank[0][greatest - number]
    return found


def _greatest(code: Ints, some: Bools, rank: Ints) -> Bools:
    """Return a mask of the member of `some` with the greatest rank for each code."""
    order = np.flatnonzero(some)
    order = order[np.argsort(rank[order], kind="stable")]
    order = order[counted(code[order])]
    _, ends = bounds(firsts(code[order]))
    needed = np.zeros(len(code), np.bool_)
    needed[order[ends - 1]] = True
    return needed


def ordered(values: pa.Array, least: bool) -> Ints:
    """Return integers that sort as the values do; equal values get equal integers."""
    kind = values.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_timestamp(kind):
        return comparable(values, least)[0]
    code, first = dense([values])
    rank = ranked([values.take(pa.array(first))])[code]
    return ~rank if least else rank


@dataclass(frozen=True, slots=True)
class Worked:
    """The results at the points, before they are read as columns."""

    sums: Tally
    others: dict[str, pa.Array]


class Calls:
    """The calls of one aggregate. `sample` has the columns of its input and no rows."""

    def __init__(self, calls: Sequence[Call], sample: Rows) -> None:
        self.arguments = Arguments(sample)
        self.others: dict[str, Best] = {}
        self.whole = False
        """Whether every member counts, as in COUNT(*)."""
        self.readers = [self._reader(call) for call in calls]
        nothing = Worked({ROWS: np.zeros(0, np.int64)}, {name: self._empty(each) for name, each in self.others.items()})
        self.types = [
            known_type(call.type) or read(nothing).type for call, read in zip(calls, self.readers, strict=True)
        ]

    @property
    def numbered(self) -> bool:
        """Return whether a call depends on the order in which tuples began."""
        return any(isinstance(each, End) for each in self.others.values())

    def values(self, sums: Tally, view: GroupMembers | None) -> tuple[list[pa.Array], Ints | None]:
        """Return the values at the points and their bounds; without a view there are no bounds."""
        others = {} if view is None else {name: each.at(view) for name, each in self.others.items()}
        worked = Worked(sums, {name: value for name, (value, _) in others.items()})
        columns = [read(worked).cast(kind) for read, kind in zip(self.readers, self.types, strict=True)]
        if view is None:
            return columns, None
        bounds_ = [bound for _, bound in others.values()]
        bounds_ += [view.soonest(None if self.whole else view.known(name)) for name in self.arguments.counted]
        bounds_.append(view.soonest() if self.whole else view.last())
        return columns, np.minimum.reduce(bounds_)

    def needed(self, view: GroupMembers) -> Bools:
        """Return a mask of the members that MIN, MAX, FIRST, LAST and COUNT(DISTINCT) need if no member ever ends."""
        needed: Bools = np.logical_or.reduce([each.needed(view) for each in self.others.values()])
        return needed

    def _reader(self, call: Call) -> Callable[[Worked], pa.Array]:
        given = [self.arguments.column(tree) for tree in call.arguments]
        function = call.function
        if call.distinct and function == "count":
            return self._other(f"distinct.{'.'.join(given)}", DistinctCount(given))
        if call.distinct and function not in LEAST:
            raise not_here(f"{function}(DISTINCT ...)")
        if function in LEAST:
            return self._other(f"{LEAST[function]}.{given[0]}", LastingExtreme(given[0], LEAST[function]))
        if function in ("first", "last"):
            name = f"{function}.{call.ignore_nulls}.{given[0]}"
            return self._other(name, End(given[0], function == "last", call.ignore_nulls))
        if function in ("count", *FUNCTIONS):
            return self._sum(function, given[0] if given else None)
        raise not_here(function)

    def _other(self, name: str, other: Best) -> Callable[[Worked], pa.Array]:
        self.others.setdefault(name, other)
        return lambda worked: worked.others[name]

    def _sum(self, function: str, name: str | None) -> Callable[[Worked], pa.Array]:
        self.whole |= name is None
        read = self.arguments.summed(function, name)
        return lambda worked: read(worked.sums)

    def _empty(self, other: Any) -> pa.Array:
        return pa.array([], pa.int64() if isinstance(other, DistinctCount) else self.arguments.kinds[other.argument])
