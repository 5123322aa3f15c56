"""Tuples with lifetimes, logs of tuples, and the tuples that live at a moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from slackwater.semantics.feeds import END_OF_TIME
from slackwater.semantics.rows import Marks, Row, Values


@dataclass(frozen=True, slots=True, eq=False)
class Temporal:
    """APAS definition 1: a row that holds from `start` until `end` at the latest.

    Tuples are compared by identity: a negative tuple refers to the tuple that it ends. Real changelogs use the primary
    key.
    """

    row: Row
    end: int = END_OF_TIME

    @property
    def start(self) -> int:
        return self.row.time

    @property
    def values(self) -> Values:
        return self.row.values


def born(values: Values, start: int, end: int) -> Temporal:
    return Temporal(Row(values, start, marks=Marks(row_time=start)), end)


def cut(tuple_: Temporal, end: int) -> Temporal:
    """Return the same row with another bound."""
    return Temporal(replace(tuple_.row), end)


@dataclass(frozen=True, slots=True)
class Event:
    """The start of a positive tuple, or the negative tuple that ends one."""

    at: int
    tuple: Temporal
    positive: bool = True


@dataclass(frozen=True, slots=True)
class Log:
    """A changelog: events by time, negatives before positives."""

    events: dict[int, list[Event]]

    @classmethod
    def of(cls, events: Iterable[Event]) -> Log:
        by_time: dict[int, list[Event]] = {}
        for event in sorted(events, key=lambda event: (event.at, event.positive)):
            by_time.setdefault(event.at, []).append(event)
        return cls(by_time)

    def __iter__(self) -> Iterator[Event]:
        return (event for events in self.events.values() for event in events)

    def at(self, time: int) -> list[Event]:
        return self.events.get(time, [])


def moments(*logs: Log) -> list[int]:
    """Return every time at which a tuple of the logs begins, is ended, or expires."""
    times = {event.at for log in logs for event in log}
    ends = {event.tuple.end for log in logs for event in log if event.positive}
    return sorted(times | (ends - {END_OF_TIME}))


@dataclass(slots=True)
class Living:
    """The live tuples of one input, in order of arrival."""

    tuples: list[Temporal] = field(default_factory=list)
    ended: list[Temporal] = field(default_factory=list)
    """Tuples that a negative tuple ended at this moment."""
    expired: list[Temporal] = field(default_factory=list)
    """Tuples whose bound is this moment."""
    new: list[Temporal] = field(default_factory=list)
    """Tuples that begin at this moment."""

    def go_on_to(self, time: int, log: Log) -> None:
        """Apply the events of the next moment."""
        events = log.at(time)
        negated = [event.tuple for event in events if not event.positive]
        self.ended = [each for each in self.tuples if each in negated]
        self.expired = [each for each in self.tuples if each.end <= time and each not in negated]
        self.new = [event.tuple for event in events if event.positive and event.tuple.end > time]
        gone = self.ended + self.expired
        self.tuples = [each for each in self.tuples if each not in gone] + self.new

    @property
    def touched(self) -> list[Temporal]:
        """Return the tuples that an input began or ended at this moment. Expired tuples are not among them."""
        return self.ended + self.new
