"""The rows that a window holds at an instant.

Positions j, k count the sequence s(1), s(2), ... from 1; `rows` are in sequence order. t is a row's event time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from slackwater.algebra.lengths import Length
from slackwater.semantics.rows import Row, Values


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
