"""Sort orders of codes and of the sequence, by counting instead of comparing, and searches in sorted entries."""

from __future__ import annotations

import numpy as np

from slackwater.engine.columns.arrays import Bools, Index, Ints

FITS = 1 << 62
"""A product below this limit can be used as one int64 sort key."""


def counted(key: Ints) -> Index:
    """Return the stable sort order of keys >= 0: a radix sort of 16 bits at a time, the lowest first.

    >>> counted(np.array([2, 0, 2, 1])).tolist()
    [1, 3, 0, 2]
    """
    order = np.argsort(key.astype(np.uint16), kind="stable")  # NumPy uses a radix sort for 16 bits
    most = int(key.max(initial=0))
    for shift in range(16, most.bit_length(), 16):
        order = order[np.argsort((key >> shift).astype(np.uint16)[order], kind="stable")]
    return order


def ascending(values: Ints) -> bool:
    """Return whether no value is smaller than its predecessor."""
    return bool((values[1:] >= values[:-1]).all())


def stable(key: Ints) -> Index:
    """Return the stable sort order of any integers: by counting if their range is small, else by comparing."""
    if ascending(key):
        return np.arange(len(key))
    least, most = int(key.min()), int(key.max())
    return counted(key - least) if most - least < 1 << 48 else np.argsort(key, kind="stable")


def sorted_within(code: Ints, *values: Ints) -> Index:
    """Return the stable sort order by code >= 0, then by one value and the next.

    >>> sorted_within(np.array([1, 0, 1]), np.array([5, 2, 3])).tolist()
    [1, 2, 0]
    """
    order = stable(values[-1])
    for value in reversed(values[:-1]):
        order = order[stable(value[order])]
    return order[counted(code[order])]


def last_of_each(code: Ints, *values: Ints) -> Index:
    """Return the place of the greatest row of each code, by one value and then the next; of equal ones the last."""
    order = sorted_within(code, *values)
    _, ends = bounds(firsts(code[order]))
    return order[ends - 1]


def in_sequence(time: Ints, arrival: Ints | None, position: Ints) -> Index | None:
    """Return the sequence order: event time, then arrival, then position in the source (language.md, "Streams").

    None if the rows are already in this order. If a stable sort by event time alone gives it, no second key is sorted.
    """
    order = None if ascending(time) else stable(time)
    t, came = (time, position) if order is None else (time.take(order), position.take(order))
    behind = came[1:] >= came[:-1]
    if arrival is not None:
        arrived = arrival if order is None else arrival.take(order)
        behind = (arrived[1:] > arrived[:-1]) | ((arrived[1:] == arrived[:-1]) & behind)
    if (behind | (t[1:] > t[:-1])).all():
        return order
    return np.lexsort((position, time) if arrival is None else (position, arrival, time))


def firsts(*sorted_columns: Ints) -> Bools:
    """Return a mask of the rows at which a new run begins, in rows sorted by these columns.

    >>> firsts(np.array([1, 1, 2]), np.array([5, 5, 5])).tolist()
    [True, False, True]
    """
    begins = np.ones(len(sorted_columns[0]), np.bool_)
    if len(begins) > 1:
        begins[1:] = sorted_columns[0][1:] != sorted_columns[0][:-1]
        for column in sorted_columns[1:]:
            begins[1:] |= column[1:] != column[:-1]
    return begins


def bounds(begins: Bools) -> tuple[Index, Index]:
    """Return the start and the end of each run, from the mask of their first rows."""
    starts = np.flatnonzero(begins)
    return starts, np.append(starts, len(begins))[1:]


def positions(code: Ints, value: Ints, at_code: Ints, at: Ints) -> Index:
    """Return for each point the end of the entries with its code whose value is at most `at`.

    Entries are sorted by code, then value; points by code. The result is an index into all entries.

    >>> positions(np.array([0, 0, 1]), np.array([3, 7, 4]), np.array([0, 0, 1]), np.array([2, 7, 9])).tolist()
    [0, 2, 3]
    """
    if not len(at) or not len(code):
        return np.zeros(len(at), np.intp)
    least, most = int(at.min()), int(at.max())
    if (most - least + 3) * (int(max(code[-1], at_code.max())) + 1) >= FITS:
        marks = np.unique(at)
        value, at = np.searchsorted(marks, value), np.searchsorted(marks, at)  # ranks are smaller
        least, most = 0, len(marks)
    spread = most - least + 3
    inside = np.clip(value, least - 1, most + 1) - (least - 1)
    return np.searchsorted(code * spread + inside, at_code * spread + (at - (least - 1)), side="right")
