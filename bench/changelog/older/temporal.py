"""PIPES: every tuple carries its exact lifetime, and so is sent when that is known.

Windows and joins know it at once. An aggregate's value, and a value that EXCEPT lets through, end when something comes
that nobody knows of before: they are sent when they are over. DISTINCT adds to what is covered already what a new
tuple covers beyond it. What comes late from below makes what is above it later still.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from bench.changelog.older.model import Model
from bench.changelog.older.terms import Members, arguments_of, moments, values

FOREVER = np.iinfo(np.int64).max


class Tuple(NamedTuple):
    start: int
    end: int
    row: tuple[Any, ...]
    sent: int
    """When its lifetime is known."""


class Edge(NamedTuple):
    """What an operator sends: its columns, and its tuples by their start."""

    names: list[str]
    tuples: list[Tuple]

    @classmethod
    def of(cls, names, tuples):
        return cls(list(names), sorted(tuples, key=lambda each: each[:2]))

    def sent(self, now):
        """Return how many tuples were sent before a time."""
        return sum(each.sent < now for each in self.tuples)

    def delays(self, now):
        """Return how long after its start each tuple was sent; tuples known earlier are sent at their start."""
        return [max(0, each.sent - each.start) for each in self.tuples if each.sent < now]

    def table(self, time):
        return Counter(each.row for each in self.tuples if each.start <= time < each.end)

    def complete(self):
        """Map a time to the time at which every tuple that begins before it was sent."""
        starts = [each.start for each in self.tuples]
        latest = list(accumulate((each.sent for each in self.tuples), max))
        return lambda time: max(time, latest[place - 1]) if (place := bisect_left(starts, time)) else time


class Temporal(Model):
    def source(self, node):
        names, rows = self.given[node.input]
        return Edge.of(names, [Tuple(time, FOREVER, row, time) for time, row in rows])

    def window(self, step, below):
        cut = [each._replace(end=min(each.end, each.start + step.range.amount)) for each in below.tuples]
        return Edge.of(below.names, cut)

    def join(self, node, left, right):
        """Join each tuple with the tuples of the other side that began before it and still live."""
        sides = left, right
        trees = [[pair[side] for pair in node.on] for side in (0, 1)]
        there, sent = (defaultdict(list), defaultdict(list)), []
        tagged = [(each, side) for side, edge in enumerate(sides) for each in edge.tuples]
        for each, side in sorted(tagged, key=lambda pair: pair[0].start):
            key = values(trees[side], sides[side].names, each.row)
            there[1 - side][key] = [other for other in there[1 - side][key] if other.end > each.start]
            for other in there[1 - side][key]:
                row = each.row + other.row if side == 0 else other.row + each.row
                sent.append(Tuple(each.start, min(each.end, other.end), row, max(each.sent, other.sent)))
            there[side][key].append(each)
        names, rest = node.columns, node.condition
        return Edge.of(names, [each for each in sent if rest is None or values([rest], names, each.row)[0]])

    def aggregate(self, step, below):
        """Return a value of a group for each interval between its inputs and their ends, as in APAS 3.2."""
        group, calls = [item.tree for item in step.group], step.calls
        trees = arguments_of(calls)
        keyed = [
            (values(group, below.names, each.row), values(trees, below.names, each.row), each) for each in below.tuples
        ]
        happens = [(each.start, key, given, 1) for key, given, each in keyed]
        happens += [(each.end, key, given, -1) for key, given, each in keyed if each.end < FOREVER]
        groups = defaultdict(lambda: Members(calls))
        pieces = Pieces(below.complete())
        for time, changes in moments(happens, lambda change: change[0]):
            touched = {}
            for _, key, given, sign in changes:
                touched[key] = True
                groups[key].change(given, sign)
            for key in touched:
                results = groups[key].results()
                pieces.become(key, None if results is None else key + results, time, always=True)
        return Edge.of([each.name for each in [*step.group, *calls]], pieces.all())

    def distinct(self, node, below):
        covered, sent = {}, []
        for each in below.tuples:
            start = max(each.start, covered.get(each.row, each.start))
            if each.end > start:
                sent.append(each._replace(start=start))
                covered[each.row] = each.end
        return Edge.of(below.names, sent)

    def minus(self, node, left, right):
        complete = left.complete(), right.complete()
        pieces = Pieces(lambda time: max(each(time) for each in complete))
        happens = [
            (time, side, each.row, sign)
            for side, edge in enumerate((left, right))
            for each in edge.tuples
            for time, sign in ((each.start, 1), (each.end, -1))
            if time < FOREVER
        ]
        there = Counter(), Counter()
        for time, changes in moments(happens, lambda change: change[0]):
            touched = {}
            for _, side, row, sign in changes:
                touched[row] = True
                there[side][row] += sign
            for row in touched:
                pieces.become(row, row if there[0][row] > 0 and not there[1][row] else None, time)
        return Edge.of(left.names, pieces.all())


class Pieces:
    """Results by key, one after the other: each is known when it is over and nothing that began before can come."""

    def __init__(self, complete):
        self.complete = complete
        self.open = {}
        self.made = []

    def become(self, key, row, time, always=False):
        since, before = self.open.get(key, (time, None))
        if row == before and not always:
            return
        if before is not None:
            self.made.append(Tuple(since, time, before, self.complete(time)))
        self.open[key] = (time, row)

    def all(self):
        left = [Tuple(since, FOREVER, row, FOREVER) for since, row in self.open.values() if row is not None]
        return self.made + left


def pieces_by_inputs(edge, inputs, now):
    """APAS 3.2: every result that lives is sent again at each input. How many tuples that is, and how late the first.

    Only counted: with 10,000 groups there are 200 million of them.
    """
    times = np.unique(inputs[inputs < now])
    start, until = (np.array([each[place] for each in edge.tuples]) for place in (0, 1))
    first, last = np.searchsorted(times, start, side="right"), np.searchsorted(times, until, side="left")
    count = np.maximum(np.minimum(last + 1, len(times)) - first, 0)
    sent = count > 0
    return int(count.sum()), (times[first[sent]] - start[sent]).tolist()
