"""The rows that a window holds at an instant, and the rows that a frequency picks (CSQL 4.2 to 4.4).

Positions j, k count the sequence s(1), s(2), ... from 1; `rows` are in sequence order. t is a row's event time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from slackwater.algebra.lengths import Length
from slackwater.semantics.rows import Row, Values

T = TypeVar("T")


def time_window(rows: Sequence[Row], time: int, length: int) -> list[Row]:
    """Return `RANGE r` at row j: the rows k <= j with t(k) in (t(j) - r, t(j)]. `rows` end at j.

    CSQL 4.2 includes both ends; Slackwater follows ADC-J: (t - r, t].
    """
    return [row for row in rows if time - length < row.time <= time]


def tuple_window(rows: Sequence[Row], count: int) -> list[Row]:
    """Return `RANGE n TUPLES` at row j: the last n rows up to and including j (CSQL's text; its formula has n + 1)."""
    return list(rows[-count:])


def row_window(rows: Sequence[Row], time: int, length: Length) -> list[Row]:
    """Return the window of either kind over the rows up to and including the row that causes the instant."""
    return time_window(rows, time, length.amount) if length.is_time else tuple_window(rows, length.amount)


def extent(rows: Iterable[Row], boundary: int, length: int) -> list[Row]:
    """Return the rows of an extent. WIN 6.1, with b = (i + 1) * SLIDE: extent(i) = { r | b - RANGE <= r.ts < b }."""
    return [row for row in rows if boundary - length <= row.time < boundary]


def boundary_window(rows: Sequence[Row], boundary: int, length: Length) -> list[Row]:
    """Return the rows evaluated at a boundary: an extent, or the last n rows with t < b (a mixed jumping window)."""
    if length.is_time:
        return extent(rows, boundary, length.amount)
    return tuple_window([row for row in rows if row.time < boundary], length.amount)


def extents_of(time: int, length: int, slide: int) -> range:
    """Return the boundaries of all extents that contain `time`: multiples of the slide in (t, t + RANGE].

    >>> list(extents_of(7, length=10, slide=5))
    [10, 15]
    >>> list(extents_of(10, length=10, slide=5))
    [15, 20]
    >>> list(extents_of(7, length=2, slide=5))
    []
    """
    first = (time // slide + 1) * slide
    return range(first, time + length + 1, slide)


def parts(rows: Iterable[Row], key: Callable[[Row], Any]) -> dict[Values, list[Row]]:
    """Return the rows by their partition columns; each part keeps its order."""
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def every_nth(rows: Sequence[T], count: int) -> list[T]:
    """Return every n-th row. CSQL 4.3: F_n s(j) = s(n * j).

    >>> every_nth("abcdefg", 3)
    ['c', 'f']
    """
    return list(rows[count - 1 :: count])


def last_of_slots(rows: Sequence[T], length: int, time: Callable[[T], int]) -> list[T]:
    """Return the last row of each slot. CSQL 4.3: F_t s(j) = s(max { k | t(k) in slot j }).

    Slots are the disjoint intervals [(j - 1) * t, j * t).

    >>> last_of_slots([1, 4, 5, 17], 5, time=lambda row: row)
    [4, 5, 17]
    """
    last = {time(row) // length: row for row in rows}
    return list(last.values())


def at_multiples(rows: Sequence[T], length: int, time: Callable[[T], int]) -> list[T]:
    """Return the rows whose time is exactly a multiple of t: the local form of CSQL 4.4."""
    return [row for row in rows if time(row) % length == 0]


def pick_rows(
    rows: Sequence[T], every: Length, strict: bool, time: Callable[[T], int], part: Callable[[T], Any]
) -> list[T]:
    """Return the rows that a frequency picks, in stream order. Each part has its own counts and slots."""
    apart: dict[Any, list[T]] = {}
    for row in rows:
        apart.setdefault(part(row), []).append(row)
    chosen: set[int] = set()
    for each in apart.values():
        chosen |= {id(row) for row in _pick_from_part(each, every, strict, time)}
    return [row for row in rows if id(row) in chosen]


def _pick_from_part(rows: Sequence[T], every: Length, strict: bool, time: Callable[[T], int]) -> list[T]:
    if not every.is_time:
        return every_nth(rows, every.amount)
    return at_multiples(rows, every.amount, time) if strict else last_of_slots(rows, every.amount, time)
