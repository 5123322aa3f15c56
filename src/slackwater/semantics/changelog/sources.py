"""Tuples with lifetimes from streams, tuple windows, and changelogs that arrive as rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from slackwater.algebra.nodes import Scan
from slackwater.semantics.changelog.temporal import Event, Log, Temporal
from slackwater.semantics.feeds import END_OF_TIME
from slackwater.semantics.rows import Instant, Rejected, Row
from slackwater.semantics.values import orders

BEGINS = ("insert", "update_postimage")
ENDS = ("delete", "update_preimage")
BOUND = "_valid_to"
"""The column of a changelog, as EMIT CHANGES writes it, with the latest end of a row's lifetime."""


def of_stream(rows: Iterable[Row], length: int | None = None) -> Log:
    """Return rows that live for ever or, at boundaries of SLIDE s, until the next boundary (`length` is s)."""
    ends = ((row, END_OF_TIME if length is None else row.time + length) for row in rows)
    return Log.of(Event(row.time, Temporal(row, end)) for row, end in ends)


def of_instants(relations: Sequence[tuple[Instant, list[Row]]]) -> Log:
    """Return the changelog of a window whose rows leave when others come: the relation of its last instant lives.

    The end is not known when a row begins: the row lives until a negative tuple ends it. If one part has several
    instants at one time, the last counts. Rows that begin at one time do so in sequence order, across all parts.
    """
    settled = {(instant.time, instant.part): rows for instant, rows in relations}
    living: dict[Any, dict[Any, Temporal]] = {}
    events: list[Event] = []
    begun: list[tuple[tuple[int, ...], Event]] = []
    for (time, part), rows in settled.items():
        before = living.get(part, {})
        inside = {row.place: row for row in rows}
        events += [Event(time, each, positive=False) for place, each in before.items() if place not in inside]
        now = {place: before.get(place) or Temporal(replace(row, time=time)) for place, row in inside.items()}
        begun += [(place, Event(time, each)) for place, each in now.items() if place not in before]
        living[part] = now
    return Log.of([*events, *(event for _, event in sorted(begun, key=lambda pair: pair[0]))])


@dataclass(slots=True)
class ChangelogFeed:
    """A stream whose rows carry a change type (CHANGELOG BY): the live keys and the refused rows."""

    scan: Scan
    living: dict[Any, Temporal] = field(default_factory=dict)
    refused: list[Rejected] = field(default_factory=list)

    def log(self, rows: Sequence[Row]) -> Log:
        """Return the changelog that the rows state, moment by moment."""
        events: list[Event] = []
        for time in sorted({row.time for row in rows}):
            before = dict(self.living)
            for row in rows:
                if row.time == time:
                    self.take(row)
            gone = [each for key, each in before.items() if self.living.get(key) is not each and each.end > time]
            events += [Event(time, each, positive=False) for each in gone]
            events += [Event(time, each) for key, each in self.living.items() if before.get(key) is not each]
        return Log.of(events)

    def take(self, row: Row) -> None:
        """Apply one row. An insert of a live key and an unknown change type are refused.

        A delete of a key that is not live changes nothing. A key whose bound has passed is not live. A row whose bound
        is its own time has an empty lifetime.
        """
        given = dict(zip((each.name for each in self.scan.fields), row.values, strict=True))
        kind = str(given[self.scan.change_type or ""]).lower()
        key = orders(given[name] for name in self.key)
        bound = END_OF_TIME if given.get(BOUND) is None else given[BOUND]
        alive = key in self.living and self.living[key].end > row.time
        if kind in ENDS:
            self.living.pop(key, None)
        elif kind not in BEGINS or (kind == "insert" and alive):
            self.refused.append(Rejected(self.scan.stream, self.scan.alias, given, row.batch))
        elif bound <= row.time:
            self.living.pop(key, None)
        else:
            self.living.pop(key, None)  # reinsert at the end: tuples of one moment keep the order of the rows
            self.living[key] = Temporal(row, bound)

    @property
    def key(self) -> tuple[str, ...]:
        """Return the declared key. Without one: every column except change type, event time, arrival and bound."""
        besides = (self.scan.change_type, self.scan.event_time, self.scan.arrival, BOUND)
        return self.scan.key or tuple(each.name for each in self.scan.fields if each.name not in besides)
