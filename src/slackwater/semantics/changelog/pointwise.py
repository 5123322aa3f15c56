"""Range window, filter, map, union, join: each output tuple comes from one input tuple, or from a pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from slackwater.semantics.changelog.temporal import Event, Living, Log, Temporal, cut, moments
from slackwater.semantics.rows import Row


def map_log(log: Log, change: Callable[[Temporal], Temporal | None]) -> Log:
    """Return the log with each tuple changed, or dropped if `change` returns None. Negatives follow their tuples.

    A negative is sent only if the bound of the tuple that it ends was later.
    """
    images: dict[Temporal, Temporal] = {}
    events: list[Event] = []
    for event in log:
        if event.positive:
            image = change(event.tuple)
            if image is not None:
                images[event.tuple] = image
                events.append(Event(event.at, image))
        elif event.tuple in images and event.at < images[event.tuple].end:
            events.append(Event(event.at, images[event.tuple], positive=False))
    return Log.of(events)


def range_window(log: Log, length: int) -> Log:
    """Bound lifetimes by t -> [t, t + r). The end is known when a row begins, so no negative is needed."""
    return map_log(log, lambda each: cut(each, min(each.end, each.start + length)))


def filter_log(log: Log, keep: Callable[[Row], bool]) -> Log:
    """Return the tuples whose row is kept, with unchanged lifetimes."""
    return map_log(log, lambda each: each if keep(each.row) else None)


def project_log(log: Log, change: Callable[[Row], Row]) -> Log:
    """Return the tuples with changed rows and unchanged lifetimes."""
    return map_log(log, lambda each: Temporal(change(each.row), each.end))


def union(left: Log, right: Log) -> Log:
    """Return the tuples of both logs with unchanged lifetimes; at one moment the left ones come first."""
    return Log.of([*left, *right])


def join(left: Log, right: Log, pairs: Callable[[list[Row], list[Row]], list[Row]]) -> Log:
    """Return the joined pairs. The lifetime of a pair is the intersection of its tuples' lifetimes (APAS 3.1).

    A negative on an input ends the pairs that it shortens, but no pair whose upper bound had already passed (figure 2).
    """
    ones, twos = Living(), Living()
    joined: dict[tuple[Temporal, Temporal], Temporal] = {}
    events: list[Event] = []
    for time in moments(left, right):
        ones.go_on_to(time, left)
        twos.go_on_to(time, right)
        ended = ones.ended + twos.ended
        for (one, two), pair in joined.items():
            if (one in ended or two in ended) and pair.end > time:
                events.append(Event(time, pair, positive=False))
        joined = {sides: pair for sides, pair in joined.items() if not set(sides) & set(ended)}
        for one in ones.tuples:
            for two in twos.tuples:
                if one not in ones.new and two not in twos.new:
                    continue
                for row in pairs([one.row], [two.row]):
                    marks = replace(row.marks, row_time=time)
                    pair = Temporal(replace(row, time=time, marks=marks), min(one.end, two.end))
                    joined[one, two] = pair
                    events.append(Event(time, pair))
    return Log.of(events)
