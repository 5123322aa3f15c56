"""Aggregate, distinct, minus: one output tuple combines many input tuples.

Tuples that begin at the same moment are sorted by their columns, NULL first, as in `semantics.relational`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from slackwater.semantics.changelog.temporal import Event, Living, Log, Temporal, born, moments
from slackwater.semantics.feeds import END_OF_TIME
from slackwater.semantics.rows import Row, Values
from slackwater.semantics.values import orders, same_rows

Value = Callable[[list[Row]], Values | None]
"""Returns the aggregates of the rows of one group, or None for no rows."""


def aggregate(log: Log, key: Callable[[Row], Any], value: Value) -> Log:
    """Return the changelog of an aggregate (APAS 3.2): at each input, the group's new value and its bound.

    The bound is the time at which the value would next change or end, as far as is known. A negative tuple ends the
    previous value of the group if its bound was later. When a bound has passed and the group lives on, the next value
    follows.
    """
    living = Living()
    shown: dict[Any, Temporal] = {}
    events: list[Event] = []
    for time in moments(log):
        made: list[Event] = []
        living.go_on_to(time, log)
        touched = {key(each.row) for each in living.touched}
        groups = by_key(living.tuples, key)
        for group in dict.fromkeys([*shown, *groups]):
            previous = shown.get(group)
            if previous is not None and previous.end > time and group not in touched:
                continue
            if previous is not None:
                del shown[group]
                if previous.end > time:
                    made.append(Event(time, previous, positive=False))
            if group in groups:
                shown[group] = current(groups[group], time, value)
                made.append(Event(time, shown[group]))
        events += in_order(made)
    return Log.of(events)


def current(members: Sequence[Temporal], time: int, value: Value) -> Temporal:
    """Return the value of a group at a moment, bounded by the first expiry of a member that would change it."""
    now = value([each.row for each in members])
    for end in sorted({each.end for each in members} - {END_OF_TIME}):
        then = value([each.row for each in members if each.end > end])
        if now is None or then is None or not same_rows(now, then):
            return born(now or (), time, end)
    return born(now or (), time, END_OF_TIME)


def distinct(log: Log) -> Log:
    """Return one live tuple per value. When it ends, another live tuple with the same value takes over (APAS 3.4)."""
    return minus(log, Log.of([]))


def minus(left: Log, right: Log) -> Log:
    """Return S - R by matching columns, each value once: a match on R ends the S tuple (APAS 3.5).

    When the R tuple ends, a live S tuple comes back (figure 6). One S tuple represents a value until it ends; then the
    live tuple with the latest bound takes over, which makes takeovers rare. Among equal bounds the first to arrive is
    chosen.
    """
    ones, twos = Living(), Living()
    shown: dict[Any, tuple[Temporal, Temporal]] = {}
    events: list[Event] = []
    for time in moments(left, right):
        made: list[Event] = []
        ones.go_on_to(time, left)
        twos.go_on_to(time, right)
        matched = {orders(each.values) for each in twos.tuples}
        there = by_key(ones.tuples, lambda row: orders(row.values))
        for value in dict.fromkeys([*shown, *there]):
            candidates = there.get(value, []) if value not in matched else []
            if value in shown:
                standing, sent = shown[value]
                if standing in candidates:
                    continue
                del shown[value]
                if sent.end > time:
                    made.append(Event(time, sent, positive=False))
            if candidates:
                chosen = max(candidates, key=lambda each: each.end)
                sent = born(chosen.values, time, chosen.end)
                shown[value] = (chosen, sent)
                made.append(Event(time, sent))
        events += in_order(made)
    return Log.of(events)


def in_order(events: Sequence[Event]) -> list[Event]:
    return sorted(events, key=lambda event: orders(event.tuple.values))


def by_key(tuples: Sequence[Temporal], key: Callable[[Row], Any]) -> dict[Any, list[Temporal]]:
    """Return the tuples by key, in order of arrival."""
    found: dict[Any, list[Temporal]] = {}
    for each in tuples:
        found.setdefault(key(each.row), []).append(each)
    return found
