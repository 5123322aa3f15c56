"""The points at which a group changes, by code, then time; and the greatest live tuple at each point.

A tuple covers a range of points. The maximum over all tuples that cover a point is computed for all points at once:
a range is the union of two overlapping ranges whose length is a power of two, and the maximum of such a range is passed
down to its halves, one length at a time.
"""

from __future__ import annotations

import numpy as np

from slackwater.engine.changelog.living import Members
from slackwater.engine.columns.arrays import EARLIEST, Bools, Index, Ints
from slackwater.engine.columns.order import bounds, counted, firsts, stable

NOTHING = EARLIEST


class Timeline:
    """The distinct points of events, given by code and time. `place` is the point of each event."""

    def __init__(self, code: Ints, time: Ints, size: int) -> None:
        order = stable(time)
        order = order[counted(code[order])]
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
