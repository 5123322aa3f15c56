"""STREAM: every tuple is a positive when it begins and a negative when it ends, on every edge."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, NamedTuple

from bench.changelog.older.model import Model
from bench.changelog.older.terms import Members, arguments_of, moments, values


class Event(NamedTuple):
    time: int
    sign: int
    row: tuple[Any, ...]


class Edge(NamedTuple):
    """What an operator sends: its columns, and its events by time, negatives first."""

    names: list[str]
    events: list[Event]

    @classmethod
    def of(cls, names, events):
        return cls(list(names), sorted(events, key=lambda event: event[:2]))

    def sent(self, now):
        """Return how many tuples were sent before a time."""
        return sum(event.time < now for event in self.events)

    def delays(self, now):
        """Return the delay of each result: none, since it is sent when it begins."""
        return [0 for event in self.events if event.sign > 0 and event.time < now]

    def table(self, time):
        live = Counter()
        for event in self.events:
            if event.time <= time:
                live[event.row] += event.sign
        return +live


class PositiveNegative(Model):
    def source(self, node):
        names, rows = self.given[node.input]
        return Edge.of(names, [Event(time, 1, row) for time, row in rows])

    def window(self, step, below):
        """Return the rows and their negatives: each row is sent once more when it leaves the window."""
        length = step.range.amount
        return Edge.of(below.names, [*below.events, *(Event(e.time + length, -1, e.row) for e in below.events)])

    def join(self, node, left, right):
        """Join two logs: at each time, rows that leave are matched first, then rows that arrive."""
        sides = left, right
        trees = [[pair[side] for pair in node.on] for side in (0, 1)]
        there = defaultdict(Counter), defaultdict(Counter)
        tagged = [(event, side) for side, each in enumerate(sides) for event in each.events]
        sent = []
        for event, side in sorted(tagged, key=lambda pair: pair[0][:2]):
            key = values(trees[side], sides[side].names, event.row)
            for other, count in there[1 - side][key].items():
                pair = event.row + other if side == 0 else other + event.row
                sent += [event._replace(row=pair)] * count
            there[side][key][event.row] += event.sign
            there[side][key] = +there[side][key] if event.sign < 0 else there[side][key]
        names, rest = node.columns, node.condition
        return Edge.of(names, [each for each in sent if rest is None or values([rest], names, each.row)[0]])

    def aggregate(self, step, below):
        """Return the value of a group at each of its inputs, as in APAS 3.2."""
        group, calls = [item.tree for item in step.group], step.calls
        trees = arguments_of(calls)
        groups, shown, sent = defaultdict(lambda: Members(calls)), {}, []
        for time, events in moments(below.events, lambda event: event.time):
            touched = {}
            for event in events:
                key = values(group, below.names, event.row)
                touched[key] = True
                groups[key].change(values(trees, below.names, event.row), event.sign)
            for key in touched:
                results = groups[key].results()
                sent += replaced(shown, key, None if results is None else key + results, time, always=True)
        return Edge.of([each.name for each in [*step.group, *calls]], sent)

    def distinct(self, step, below):
        return self.minus(step, below, Edge.of(below.names, []))

    def minus(self, node, left, right):
        there, shown, sent = (Counter(), Counter()), {}, []
        tagged = [(event, side) for side, each in enumerate((left, right)) for event in each.events]
        for time, events in moments(tagged, lambda pair: pair[0].time):
            touched = {}
            for event, side in events:
                touched[event.row] = True
                there[side][event.row] += event.sign
            for row in touched:
                stands = there[0][row] > 0 and not there[1][row]
                sent += replaced(shown, row, row if stands else None, time)
        return Edge.of(left.names, sent)


def replaced(shown, key, row, time, always=False):
    """Return the events that replace the shown result of a key; none if it is unchanged, unless `always`."""
    before = shown.pop(key, None)
    if row is not None:
        shown[key] = row
    if row == before and not always:
        return []
    went = [] if before is None else [Event(time, -1, before)]
    return went if row is None else [*went, Event(time, 1, row)]
