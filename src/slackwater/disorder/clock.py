"""Times as int64 counts of one unit. Arithmetic saturates at the limits of int64 and never wraps."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from slackwater.errors import InputError, nearest

Times = npt.NDArray[np.int64]

EARLIEST = int(np.iinfo(np.int64).min)
LATEST = int(np.iinfo(np.int64).max)
TICKS = {"us": 1_000_000, "ms": 1_000, "s": 1}
"""Ticks per second of each unit."""
MANY = 1 << 12
"""From this many values on, one check for overflow is cheaper than a check of every difference."""


def ticks_per_second(unit: str) -> int:
    if unit not in TICKS:
        raise InputError("SW-420", f"unknown time unit {unit!r}", expected="us, ms or s", hint=nearest(unit, TICKS))
    return TICKS[unit]


def clamp(time: int) -> int:
    """Return the nearest int64 value.

    >>> clamp(2**63) == LATEST
    True
    """
    return max(EARLIEST, min(LATEST, time))


def minus(left: Times, right: Times | np.int64) -> Times:
    """Return left - right, saturated.

    >>> minus(np.array([5, LATEST]), np.array([7, -1])).tolist() == [-2, LATEST]
    True
    """
    difference = left - right
    if left.size >= MANY and _cannot_wrap(left) and _cannot_wrap(right):
        return difference
    wrapped = ((left ^ right) & (left ^ difference)) < 0
    return np.where(wrapped, np.where(left < 0, EARLIEST, LATEST), difference) if wrapped.any() else difference


def _cannot_wrap(times: Times | np.int64) -> bool:
    """Return whether no difference of two such times overflows int64. Cheaper than checking every difference."""
    return int(times.min()) >= -(LATEST // 2) and int(times.max()) <= LATEST // 2


def times(values: npt.ArrayLike) -> Times:
    """Return the values as a one-dimensional int64 array, without a copy if they already are one."""
    array: npt.NDArray[Any] = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(
            "SW-421",
            f"times must be one row of integers, not {array.dtype} of shape {array.shape}",
            expected="a one-dimensional int64 array",
            hint="convert timestamps to integers of one unit first",
        )
    return array.astype(np.int64, copy=False)
