"""Orders by counting rather than comparing: of codes, of the sequence, and where one sorted list falls in another."""

from __future__ import annotations

import numpy as np

from slackwater.engine.columns.arrays import Bools, Index, Ints

FITS = 1 << 62


def counted(key: Ints) -> Index:
    """The stable order of keys >= 0 by counting 16 bits at a time, the lowest first.

    >>> counted(np.array([2, 0, 2, 1])).tolist()
    [1, 3, 0, 2]
    """
    order = np.argsort(key.astype(np.uint16), kind="stable")  # of 16 bits: NumPy counts, it does not compare
    most = int(key.max(initial=0))
    for shift in range(16, most.bit_length(), 16):
        order = order[np.argsort((key >> shift).astype(np.uint16)[order], kind="stable")]
    return order


def ascending(values: Ints) -> bool:
    """Whether no value is below the one before it."""
    return bool((values[1:] >= values[:-1]).all())


def stable(key: Ints) -> Index:
    """The stable order of any integers: by counting where their spread is small, by comparing where it is not."""
    if ascending(key):
        return np.arange(len(key))
    least, most = int(key.min()), int(key.max())
    return counted(key - least) if most - least < 1 << 48 else np.argsort(key, kind="stable")


def in_sequence(time: Ints, arrival: Ints | None, position: Ints) -> Index | None:
    """The order of the sequence: event time, then arrival, then position in the source (language.md, "Streams").

    None where that is the order in which they stand. Rows that came in the order of their arrival, ties apart, need no
    second key.
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
    """Where a new run begins in rows that are sorted by these columns.

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
    """The runs that begin there: where each starts, and where it ends."""
    starts = np.flatnonzero(begins)
    return starts, np.append(starts, len(begins))[1:]


def positions(code: Ints, value: Ints, at_code: Ints, at: Ints) -> Index:
    """Per point, the end of those entries of its code whose value is not beyond it.

    Entries are sorted by code, then value, points by code; the answer counts from the first entry of all.

    >>> positions(np.array([0, 0, 1]), np.array([3, 7, 4]), np.array([0, 0, 1]), np.array([2, 7, 9])).tolist()
    [0, 2, 3]
    """
    if not len(at) or not len(code):
        return np.zeros(len(at), np.intp)
    least, most = int(at.min()), int(at.max())
    if (most - least + 3) * (int(max(code[-1], at_code.max())) + 1) >= FITS:
        marks = np.unique(at)
        value, at = np.searchsorted(marks, value), np.searchsorted(marks, at)  # only the comparison matters
        least, most = 0, len(marks)
    spread = most - least + 3
    inside = np.clip(value, least - 1, most + 1) - (least - 1)
    return np.searchsorted(code * spread + inside, at_code * spread + (at - (least - 1)), side="right")
