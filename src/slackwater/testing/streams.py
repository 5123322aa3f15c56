"""Random streams as hypothesis strategies: chosen disorder, any cut into batches, any monotone punctuation.

    @given(feed(READINGS, disorder=["bounded"], punctuation="any"))
    def test(given_feed): interpret(plan, {"Readings": given_feed})

    make_feed(Seeded(seed), READINGS, punctuation="trailing")   # the same, from a seed

Times are multiples of `unit` ticks, starting at 0, so that plans drawn with the same unit (`testing.plans`) have
windows of a few rows. Spark's watermark has milliseconds: use a unit of at least 1,000 for cases that run on Spark.

Disorder, the delay between a row's event time and its arrival:

    none        rows arrive in event-time order
    bounded     up to 5 units
    heavy       mostly 0, now and then up to 100 units
    backlog     one sender is silent for a while, then its rows come at once

Punctuation, given after each batch:

    never_late  the highest value at which no later row is late
    any         any monotone sequence, rows being late or not, with repeats and jumps far ahead
    trailing    the greatest event time seen minus a few units, like a fixed slack
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from hypothesis import strategies as st

from slackwater.algebra.catalog import StreamDef
from slackwater.semantics.feeds import Feed, FeedBatch
from slackwater.testing.catalog import CATALOG
from slackwater.testing.choices import Choices, Drawn, one_in

Disorder: TypeAlias = Literal["none", "bounded", "heavy", "backlog"]
Punctuation: TypeAlias = Literal["never_late", "any", "trailing"]
Given: TypeAlias = dict[str, Any]

DISORDERS: tuple[Disorder, ...] = ("none", "bounded", "heavy", "backlog")
PUNCTUATIONS: tuple[Punctuation, ...] = ("never_late", "any", "trailing")
FAR = 150
"""How far ahead a stamp from the future is, in units."""
COLUMNS: dict[str, tuple[Any, ...]] = {
    "id": (0, 1, 2, None),
    "kind": ("a", "ab", "b", None),
    "v": (0, 1, 2, 3, 5, 9, -3, None),
    "x": (0.0, 0.5, 1.25, -2.0, 3.0, None),
    "host": ("h1", "h2"),
    "op": ("insert", "insert", "insert", "delete", "update_postimage"),
}
"""The values of each column; hypothesis shrinks to the first."""
GAPS = (0, 1, 1, 2, 3, 7)
DELAYS: dict[Disorder, tuple[int, ...]] = {
    "none": (0,),
    "backlog": (0,),
    "bounded": (0, 1, 2, 3, 4, 5),
    "heavy": (0, 0, 0, 0, 0, 1, 1, 2, 4, 25, 100),
}
SELDOM = 240
"""A byte of at least this value triggers a rare event."""


def make_rows(
    choices: Choices,
    stream: StreamDef,
    *,
    disorder: Sequence[Disorder] = DISORDERS,
    max_rows: int = 24,
    unit: int = 1,
    nulls: bool = True,
    null_times: bool = True,
    duplicates: bool = True,
    far_future: bool = True,
) -> list[Given]:
    """Return the rows of one stream in order of arrival. Ties in event time and in arrival are common.

    All rows are read from one choice of bytes, which is quick, and shrinks to plain rows.
    """
    count = choices.between(0, max_rows)
    kind = choices.one_of(list(disorder))
    width = len(stream.fields) + 6
    drawn = choices.octets(count * width)
    clock, made = 0, []
    for number in range(count):
        gap, delay, again, ahead, unknown, late, *cells = drawn[number * width : (number + 1) * width]
        clock += _pick(GAPS, gap)
        row = _values(stream, cells, nulls)
        row[str(stream.event_time)] = (clock + FAR * (far_future and ahead >= SELDOM)) * unit
        if null_times and unknown >= SELDOM:
            row[str(stream.event_time)] = None
        made.append((clock + _pick(DELAYS[kind], delay), row))
        if duplicates and again >= SELDOM:
            made.append((clock + _pick(DELAYS[kind], late), dict(row)))
    if kind == "backlog":
        made = _held_back(made, choices.between(0, max(clock, 1)), choices.between(1, 30))
    made.sort(key=lambda pair: pair[0])
    return [row | ({stream.arrival: arrival * unit} if stream.arrival else {}) for arrival, row in made]


def make_feed(
    choices: Choices,
    stream: StreamDef,
    *,
    punctuation: Punctuation = "any",
    max_batches: int = 6,
    unit: int = 1,
    **options: Any,
) -> Feed:
    """Return one stream cut into batches, some of them empty, with a punctuation after each.

    The other options are those of `make_rows`.
    """
    arrived = make_rows(choices, stream, unit=unit, **options)
    batches = _cut(choices, arrived, choices.between(0, max_batches - 1))
    times = [[row[str(stream.event_time)] for row in batch] for batch in batches]
    known = [[time for time in batch if time is not None] for batch in times]
    marks = _punctuations(choices, known, punctuation, unit)
    return Feed(tuple(FeedBatch(tuple(batch), mark) for batch, mark in zip(batches, marks, strict=True)))


def make_feeds(choices: Choices, streams: Sequence[str], **options: Any) -> dict[str, Feed]:
    """Return a feed for each named stream of the catalog."""
    known = {stream.name: stream for stream in CATALOG.streams}
    return {name: make_feed(choices, known[name], **options) for name in streams}


def recut_feed(choices: Choices, given: Feed) -> Feed:
    """Return the same rows with the same effective punctuations in other batches, some of them empty.

    A batch is split, or empty batches are added; the punctuation of all parts but the last repeats.
    """
    batches: list[FeedBatch] = []
    for batch in given.batches:
        parts = _cut(choices, batch.rows, choices.between(0, 2))
        batches += [FeedBatch(tuple(part)) for part in parts[:-1]] + [FeedBatch(tuple(parts[-1]), batch.punctuation)]
    return Feed(tuple(batches))


@st.composite
def rows(draw: st.DrawFn, stream: StreamDef, /, **options: Any) -> list[Given]:
    """Draw rows of a stream with `make_rows`."""
    return make_rows(Drawn(draw), stream, **options)


@st.composite
def feed(draw: st.DrawFn, stream: StreamDef, /, **options: Any) -> Feed:
    """Draw a feed of a stream with `make_feed`."""
    return make_feed(Drawn(draw), stream, **options)


@st.composite
def recut(draw: st.DrawFn, given: Feed) -> Feed:
    """Draw another cut of a feed into batches with `recut_feed`."""
    return recut_feed(Drawn(draw), given)


def _cut(choices: Choices, items: Sequence[Any], cuts: int) -> list[Sequence[Any]]:
    """Return a sequence in pieces, some of them empty."""
    edges = [0, *sorted(choices.between(0, len(items)) for _ in range(cuts)), len(items)]
    return [items[start:end] for start, end in pairwise(edges)]


def _pick(choices: tuple[Any, ...], byte: int) -> Any:
    return choices[byte % len(choices)]


def _values(stream: StreamDef, cells: list[int], nulls: bool) -> Given:
    """Return the columns other than the clocks."""
    known = [(field.name, cell) for field, cell in zip(stream.fields, cells, strict=False) if field.name in COLUMNS]
    return {name: _pick(COLUMNS[name] if nulls else _known(COLUMNS[name]), cell) for name, cell in known}


def _known(choices: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(value for value in choices if value is not None)


def _held_back(made: list[tuple[int, Given]], start: int, length: int) -> list[tuple[int, Given]]:
    """Delay the rows of one sender that would arrive within an interval to its end."""
    behind = [row.get("host", "h1") == "h1" and start <= arrival < start + length for arrival, row in made]
    return [(start + length if late else arrival, row) for late, (arrival, row) in zip(behind, made, strict=True)]


def _punctuations(choices: Choices, times: list[list[int]], kind: Punctuation, unit: int) -> list[int | None]:
    match kind:
        case "never_late":
            return [_least(times[batch + 1 :], times) for batch in range(len(times))]
        case "trailing":
            slack = choices.between(0, 6) * unit
            return [_greatest(times[: batch + 1], slack) for batch in range(len(times))]
        case "any":
            highest = max((time for batch in times for time in batch), default=0) // unit + 9
            return _rising([_mark(choices, highest, unit) for _ in times])


def _mark(choices: Choices, highest: int, unit: int) -> int | None:
    """Return any time up to a little beyond the rows, or None."""
    return None if one_in(choices, 4) else choices.between(0, highest) * unit


def _rising(marks: list[int | None]) -> list[int | None]:
    """Return the marks that do not go back; None repeats the previous one."""
    risen: list[int | None] = []
    for mark in marks:
        highest = max((each for each in risen if each is not None), default=None)
        risen.append(mark if mark is None or highest is None else max(mark, highest))
    return risen


def _least(later: list[list[int]], times: list[list[int]]) -> int | None:
    """Return the smallest time of the later rows; after the last row, the greatest time seen."""
    return min((time for batch in later for time in batch), default=_greatest(times, 0))


def _greatest(seen: list[list[int]], slack: int) -> int | None:
    return max((time - slack for batch in seen for time in batch), default=None)
