"""The points at which a group changes, the greatest live tuple at each point, and the results that are sent there.

A tuple covers a range of points. The maximum over all tuples that cover a point is computed for all points at once:
a range is the union of two overlapping ranges whose length is a power of two, and the maximum of such a range is passed
down to its halves, one length at a time.

At each point of a group there is a result or none. A result is sent where it differs from the last one, where an input
touched the group, and where the bound of the last one is reached. The last one is ended by a negative tuple if its
bound is later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.living import Members
from slackwater.engine.columns.arrays import (
    EARLIEST,
    Bools,
    Index,
    Ints,
    bounds,
    counted,
    firsts,
    joined,
    sorted_within,
    valid,
)
from slackwater.engine.columns.keys import dense, normal
from slackwater.engine.columns.state import Memory

NOTHING = EARLIEST


class Timeline:
    """The distinct points of events, given by code and time. `place` is the point of each event."""

    def __init__(self, code: Ints, time: Ints, size: int) -> None:
        order = sorted_within(code, time)
        first = firsts(code[order], time[order])
        self.order = order
        self.starts = np.flatnonzero(first)
        self.place = np.empty(len(order), np.int64)
        self.place[order] = np.cumsum(first) - 1
        self.code, self.time = code[order][self.starts], time[order][self.starts]
        self.begin, self.finish = np.zeros(size, np.int64), np.zeros(size, np.int64)
        begins, finishes = bounds(firsts(self.code))
        self.begin[self.code[begins]], self.finish[self.code[begins]] = begins, finishes

    def __len__(self) -> int:
        return len(self.code)

    def running(self, added: Ints, rest: Ints) -> Ints:
        """Return the running sum at each point: `rest` of its code, plus `added` by the events so far."""
        if not len(self):
            return added[:0]
        steps = np.cumsum(np.add.reduceat(added[self.order], self.starts))
        before = np.append(0, steps)[self.begin[self.code]]
        found: Ints = steps - before + rest[self.code]
        return found

    def any(self, happens: Bools) -> Bools:
        """Return a mask of the points at which one of these events happens."""
        found = np.zeros(len(self), np.bool_)
        found[self.place[happens]] = True
        return found


class Stretches:
    """The range of points that each member of a group covers, from its beginning to its end.

    In the timeline, the events of these members start at `first`: the beginnings of the new ones, then the ends of
    those that leave.
    """

    def __init__(self, line: Timeline, members: Members, first: int = 0) -> None:
        count, leaves = len(members), members.leaves
        code = members.code
        self.low = line.begin[code]
        self.low[members.old :] = line.place[first : first + count - members.old]
        self.high = line.finish[code]
        ends = first + count - members.old
        self.high[leaves] = line.place[ends : ends + int(np.count_nonzero(leaves))]
        self.line, self.code, self.size = line, code, len(line)
        self.whole = ~leaves
        self.whole[members.old :] = False
        """The members that live throughout the step: most of them, if a window is much larger than a batch."""
        self.covers = self.high > self.low

    def best(self, rank: Ints, some: Bools | None = None) -> Ints:
        """Return the greatest rank of the members that cover each point, NOTHING if none does."""
        covers = self.covers if some is None else self.covers & some
        places = np.flatnonzero(covers & ~self.whole)
        found = best(self.low[places], self.high[places], rank[places], self.size)
        throughout = np.full(len(self.line.begin), NOTHING)
        always = np.flatnonzero(covers & self.whole)
        np.maximum.at(throughout, self.code[always], rank[always])
        both: Ints = np.maximum(found, throughout[self.line.code])
        return both

    def leading(self, some: Bools, *keys: Ints) -> Index:
        """Return the members of `some` that may be the greatest at a point, by one key and then the next.

        Of the members that live throughout, only the greatest of each code can be.
        """
        left = some & self.covers
        whole = np.flatnonzero(left & self.whole)
        for key in keys:
            top = np.full(len(self.line.begin), NOTHING)
            np.maximum.at(top, self.code[whole], key[whole])
            whole = whole[key[whole] == top[self.code[whole]]]
        return np.sort(np.append(np.flatnonzero(left & ~self.whole), whole))


def best(low: Index | Ints, high: Index | Ints, rank: Ints, size: int) -> Ints:
    """Return the greatest rank of the non-empty ranges [low, high) at each of `size` points, NOTHING if none covers it.

    >>> best(np.array([0, 1]), np.array([3, 2]), np.array([5, 7]), 4).tolist() == [5, 7, 5, NOTHING]
    True
    """
    found = np.full(size, NOTHING)
    if not len(low):
        return found
    level = np.frexp((high - low).astype(np.float64))[1] - 1
    order = counted(level.astype(np.int64))
    ends = np.cumsum(np.bincount(level))
    for k in range(len(ends) - 1, -1, -1):
        here = order[(ends[k - 1] if k else 0) : ends[k]]
        np.maximum.at(found, low[here], rank[here])
        if k:
            np.maximum.at(found, high[here] - (1 << k), rank[here])
            half = 1 << (k - 1)
            lower = found.copy()
            np.maximum(lower[half:], found[:-half], out=lower[half:])
            found = lower
    return found


@dataclass(frozen=True, slots=True)
class Results:
    """For each point: the group, the time, whether there is a result, its columns, and its known bound.

    `touched` marks the points at which a result is sent again even if it is unchanged.
    """

    code: Ints
    time: Ints
    there: Bools
    touched: Bools
    columns: Sequence[pa.Array]
    bound: Ints


@dataclass(frozen=True, slots=True)
class Sent:
    """Results that begin, or that are ended: the group, the start, the bound, the columns.

    `of` is the place of an ended result among those that begin, -1 if it was sent before this step.
    """

    code: Ints
    start: Ints
    end: Ints
    columns: list[pa.Array]
    at: Ints
    of: Ints


class Shown:
    """The result that was last sent for each code: its start, its bound, its columns."""

    def __init__(self, name: str, types: Sequence[pa.DataType]) -> None:
        self.name = name
        self.types = list(types)

    def step(self, memory: Memory, results: Results, size: int) -> tuple[Sent, Sent]:
        """Return the results that begin and those that are ended, and keep the last result of each of `size` codes."""
        line = _Line(results, *self._before(memory, results.code))
        kept, bound = line.kept()
        born, ended = line.born(kept, bound), line.ended(kept, bound)
        self._keep(memory, line, kept, bound, size)
        return born, ended

    def trim(self, memory: Memory, size: int) -> None:
        """Drop the codes that are no longer in use."""
        if len(memory.ints(f"{self.name}.start")) <= size:
            return
        for name in memory.names(f"{self.name}."):
            memory.put(name, memory.column(name).slice(0, size))  # type: ignore[union-attr]

    def _before(self, memory: Memory, code: Ints) -> tuple[Ints, Ints, Ints, list[pa.Array]]:
        """Return code, start, bound and columns of the results that were sent before for these groups."""
        start = memory.ints(f"{self.name}.start")
        groups = code[firsts(code)]
        groups = groups[groups < len(start)]
        groups = groups[start[groups] > EARLIEST]
        stored = [memory.column(f"{self.name}.{place}") for place in range(len(self.types))]
        columns = [
            pa.array([], kind) if column is None else column.take(pa.array(groups))
            for column, kind in zip(stored, self.types, strict=True)
        ]
        return groups, start[groups], memory.ints(f"{self.name}.bound")[groups], columns

    def _keep(self, memory: Memory, line: _Line, kept: Index, bound: Ints, size: int) -> None:
        last = kept[np.append(line.code[kept][1:] != line.code[kept][:-1], True)] if len(kept) else kept
        gone, last = last[~line.there[last]], last[line.there[last]]
        code = line.code[last]
        old = memory.ints(f"{self.name}.start")
        source = np.arange(size)
        source[len(old) :] = -1
        source[code] = len(old) + np.arange(len(last))
        for place, column in enumerate(line.columns):
            stored = memory.column(f"{self.name}.{place}")
            new = column.take(pa.array(last))
            every = new if stored is None else joined([stored, new])
            memory.put(f"{self.name}.{place}", every.take(pa.array(source, mask=source < 0)))
        for name, fresh in (("start", line.time[last]), ("bound", bound[last])):
            values = memory.sized(f"{self.name}.{name}", size, EARLIEST)
            values[code] = fresh
            values[line.code[gone]] = EARLIEST
            memory.put(f"{self.name}.{name}", values)


class _Line:
    """For each group the result that was sent before, then its points."""

    def __init__(self, results: Results, code: Ints, start: Ints, bound: Ints, columns: list[pa.Array]) -> None:
        before = len(code)
        order = counted(np.concatenate([code, results.code]))
        self.sent = order < before
        self.code = np.concatenate([code, results.code])[order]
        self.time = np.concatenate([start, results.time])[order]
        self.bound = np.concatenate([bound, results.bound])[order]
        self.there = np.concatenate([np.ones(before, np.bool_), results.there])[order]
        self.touched = np.concatenate([np.ones(before, np.bool_), results.touched])[order]
        self.columns = [
            joined([old, new.cast(old.type)]).take(pa.array(order))
            for old, new in zip(columns, results.columns, strict=True)
        ]
        self.first = firsts(self.code)

    def kept(self) -> tuple[Index, Ints]:
        """Return the places at which a result is sent, including those sent before, and the bounds of all places.

        A result that stays the same is sent once, with the bound that is known at its last point.
        """
        keep = self.touched | self.changed()
        if not len(keep):
            return np.flatnonzero(keep), self.bound
        head = np.maximum.accumulate(np.where(keep, np.arange(len(keep)), 0))
        over = ~keep & self.sent[head] & (self.code == self.code[head]) & (self.time >= self.bound[head])
        keep |= over & ~np.append(False, over[:-1] & (head[1:] == head[:-1]))
        kept = np.flatnonzero(keep)
        bound = self.bound.copy()
        finish = np.append(np.flatnonzero(self.first), len(keep))[np.cumsum(self.first)]
        last = np.minimum(np.append(kept[1:], len(keep))[: len(kept)], finish[kept]) - 1
        fresh = ~self.sent[kept]
        bound[kept[fresh]] = self.bound[last[fresh]]
        return kept, bound

    def changed(self) -> Bools:
        """Return a mask of the points whose result differs from the one at the point before in the group."""
        before = np.append(False, self.there[:-1]) & ~self.first
        same = self.there & before
        if same.any():
            for column in self.columns:
                same &= np.append(False, _equal(column))
        return ~(same | (~self.there & ~before))

    def born(self, kept: Index, bound: Ints) -> Sent:
        begins = kept[~self.sent[kept] & self.there[kept]]
        return self._sent(begins, bound, self.time[begins], np.full(len(begins), -1))

    def ended(self, kept: Index, bound: Ints) -> Sent:
        """Return the results that the next one of the group replaces before their bound."""
        before = np.append(-1, kept[:-1])[: len(kept)]
        follows = (before >= 0) & (self.code[before] == self.code[kept])
        before, at = before[follows], self.time[kept[follows]]
        cut = self.there[before] & (bound[before] > at)
        places = before[cut]
        fresh = np.cumsum(~self.sent[kept] & self.there[kept]) - 1
        number = np.full(len(self.code), -1)
        number[kept] = fresh
        return self._sent(places, bound, at[cut], np.where(self.sent[places], -1, number[places]))

    def _sent(self, places: Index, bound: Ints, at: Ints, of: Ints) -> Sent:
        columns = [column.take(pa.array(places)) for column in self.columns]
        return Sent(self.code[places], self.time[places], bound[places], columns, at, of)


def _equal(column: pa.Array) -> Bools:
    """Return a mask, one shorter than the column, of the values that equal their predecessor. NULL equals NULL."""
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        known = valid(column)
        values = normal(column.fill_null(0)).to_numpy(zero_copy_only=False)
        equal = (values[1:] == values[:-1]) | ((values[1:] != values[1:]) & (values[:-1] != values[:-1]))
        both: Bools = equal & (known[1:] == known[:-1])
        return both
    code, _ = dense([column])
    same: Bools = code[1:] == code[:-1]
    return same
