"""The rows that a frequency picks (CSQL 4.3, 4.4): of a stream, or of the sequence of instants of a window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from slackwater.algebra.lengths import Length

T = TypeVar("T")


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


def picked(
    rows: Sequence[T], every: Length, strict: bool, time: Callable[[T], int], part: Callable[[T], Any]
) -> list[T]:
    """Return the rows that a frequency picks, in stream order. Each part has its own counts and slots."""
    apart: dict[Any, list[T]] = {}
    for row in rows:
        apart.setdefault(part(row), []).append(row)
    chosen: set[int] = set()
    for each in apart.values():
        chosen |= {id(row) for row in _picked(each, every, strict, time)}
    return [row for row in rows if id(row) in chosen]


def _picked(rows: Sequence[T], every: Length, strict: bool, time: Callable[[T], int]) -> list[T]:
    if not every.is_time:
        return every_nth(rows, every.amount)
    return at_multiples(rows, every.amount, time) if strict else last_of_slots(rows, every.amount, time)
