"""Exact sums. A number is split into limbs, multiples of powers of 2**32, and limbs are added as integers.

The sum of a window is the difference of two running sums. In floating point the rounding errors of rows that have left
would remain. Integer limbs cancel exactly, so that a sum does not depend on batches or on the age of the stream. Limbs
of 32 bits leave room for 2**31 rows in a window. A number may be split into limbs in more than one way. DECIMALs of up
to 38 digits are integers of more than 64 bits, for which limbs are the digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from slackwater.engine.columns.arrays import Bools, Ints
from slackwater.errors import RunError

Floats = npt.NDArray[np.float64]
Limbs: TypeAlias = dict[int, Ints]
"""The limbs by exponent k: multiples of 2**(32 k)."""
WIDTH = 32
MASK = (1 << WIDTH) - 1
SPLITTER = float(2**27 + 1)
"""Dekker's constant: splits a double into two halves whose products are exact."""
LEAST_EXPONENT = -34
"""The exponent k below which no double has bits left: 2**(32 * -34) is below the smallest subnormal."""
GAINED = 10_000
"""The factor of AVG's additional digits: four more than its argument."""


def of_integers(values: Ints) -> Limbs:
    """Return the limbs of integers; a single limb if all are small.

    >>> {k: limb.tolist() for k, limb in of_integers(np.array([5, -(2**40)])).items()}
    {0: [5, 0], 1: [0, -256]}
    """
    if not len(values) or (values.min() >= -(1 << 31) and values.max() < 1 << 31):
        return {0: values}
    return {0: values & MASK, 1: values >> WIDTH}


def of_decimals(column: pa.Array) -> Limbs:
    """Return the limbs of the unscaled integers of a decimal128 column without NULLs."""
    words = np.frombuffer(column.buffers()[1], np.int64)[2 * column.offset : 2 * (column.offset + len(column))]
    low, high = words[0::2], words[1::2]
    return {0: low & MASK, 1: (low >> WIDTH) & MASK, 2: high & MASK, 3: high >> WIDTH}


def of_floats(values: Floats) -> Limbs:
    """Return the exact limbs of finite doubles, from the highest down.

    >>> sorted(of_floats(np.array([1.5])).items())
    [(-1, array([2147483648])), (0, array([1]))]
    """
    limbs: Limbs = {}
    rest = values
    largest = float(np.abs(values).max(initial=0.0))
    k = int(np.frexp(largest)[1]) // WIDTH
    while largest:
        head = np.trunc(scaled(rest, -k))
        limb = head.astype(np.int64)
        if limb.any():
            limbs[k] = limb
            rest = rest - scaled(head, k)
        if k < LEAST_EXPONENT or not rest.any():
            break
        k -= 1
    return limbs


def scaled(values: Floats, k: int) -> Floats:
    """Return values * 2**(32 k), which is exact unless the result is subnormal."""
    return values * 2.0 ** (WIDTH * k) if abs(k) < 31 else np.ldexp(values, WIDTH * k)


def of_squares(values: Floats) -> Limbs:
    """Return the limbs of the exact squares of doubles: the rounded square plus its rounding error (Dekker)."""
    square = values * values
    upper = SPLITTER * values
    upper = upper - (upper - values)
    lower = values - upper
    left = ((upper * upper - square) + 2.0 * upper * lower) + lower * lower
    return plus(of_floats(square), of_floats(left))


def plus(one: Limbs, two: Limbs) -> Limbs:
    return {k: one[k] + two[k] if k in one and k in two else one.get(k, two.get(k)) for k in {*one, *two}}  # type: ignore[misc]


def digits(limbs: Mapping[int, Ints], size: int) -> tuple[int, list[Ints]]:
    """Return the least exponent and the digits from there on: in [0, 2**32), but the last has the sign."""
    if not limbs:
        return 0, [np.zeros(size, np.int64)]
    least, most = min(limbs), max(limbs)
    made: list[Ints] = []
    carry: Any = np.int64(0)
    for k in range(least, most + 1):
        value = limbs[k] + carry if k in limbs else carry
        carry = value >> WIDTH
        made.append(value & MASK)
    return least, [*made, carry]


def total(limbs: Mapping[int, Ints], size: int) -> tuple[Floats, Floats]:
    """Return the sum as two doubles: the nearest double, and its rounding error."""
    least, places = digits(limbs, size)
    if len(places) > 1:
        places[-2:] = _towards_zero(places[-2], places[-1])
    high: Floats = np.zeros(size)
    low: Floats = np.zeros(size)
    with np.errstate(over="ignore", invalid="ignore"):  # a sum beyond the greatest double is infinite
        for place in range(len(places) - 1, -1, -1):
            high, left = two_sum(high, scaled(places[place].astype(np.float64), least + place))
            low = low + left
        near, rest = fast_two_sum(high, low)
    finite = np.isfinite(high)
    return np.where(finite, near, high), np.where(finite, rest, 0.0)


def _towards_zero(low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """Return the two highest digits with the same sign, so that the highest is not -1 for a small negative number."""
    value = (high << WIDTH) | low
    top = np.where(value < 0, -(-value >> WIDTH), value >> WIDTH)
    return value - (top << WIDTH), top


def integers(limbs: Mapping[int, Ints], size: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return sums of integers as int64, and a mask of the sums that do not fit."""
    least, places = digits({**limbs, 0: limbs.get(0, np.zeros(size, np.int64))}, size)
    if least:
        raise ValueError("whole numbers have no limbs below 0")
    low = places[0]
    high = places[1]
    for place in range(2, len(places)):
        high = high + (places[place] << (WIDTH * (place - 1)))
    beyond: npt.NDArray[np.bool_] = (high >= 1 << 31) | (high < -(1 << 31))
    return (high << WIDTH) | low, beyond


def two_sum(one: Floats, two: Floats) -> tuple[Floats, Floats]:
    """Return the rounded sum and its exact rounding error (Knuth)."""
    added = one + two
    part = added - one
    return added, (one - (added - part)) + (two - part)


def fast_two_sum(one: Floats, two: Floats) -> tuple[Floats, Floats]:
    """Return the result of `two_sum`, if the first number is the larger (Dekker)."""
    added = one + two
    return added, two - (added - one)


def two_product(one: Floats, two: Floats) -> tuple[Floats, Floats]:
    """Return the rounded product and its exact rounding error (Dekker)."""
    product = one * two
    first, second = SPLITTER * one, SPLITTER * two
    first, second = first - (first - one), second - (second - two)
    rest_one, rest_two = one - first, two - second
    return product, ((first * second - product) + first * rest_two + rest_one * second) + rest_one * rest_two


def quotient(high: Floats, low: Floats, divisor: Floats) -> tuple[Floats, Floats]:
    """Return (high + low) / divisor as two doubles."""
    first = high / divisor
    product, left = two_product(first, divisor)
    return fast_two_sum(first, ((high - product) - left + low) / divisor)


def square_of(high: Floats, low: Floats) -> tuple[Floats, Floats]:
    """Return (high + low)**2 as two doubles."""
    product, left = two_product(high, high)
    return fast_two_sum(product, left + 2.0 * high * low)


def decimals(limbs: Mapping[int, Ints], kind: pa.DataType, count: Ints) -> pa.Array:
    """Return the sums as a column of decimals; NULL where `count` is 0."""
    _, places = digits({**limbs, 0: limbs.get(0, np.zeros(len(count), np.int64))}, len(count))
    return _column(_widened(places), kind, count == 0)


def average(limbs: Mapping[int, Ints], kind: pa.DataType, count: Ints) -> pa.Array:
    """Return the sums divided by the counts, rounded half away from zero; NULL where `count` is 0."""
    _, places = digits({**limbs, 0: limbs.get(0, np.zeros(len(count), np.int64))}, len(count))
    negative = places[-1] < 0
    size = _negated(places, negative)
    divisor = np.maximum(count, 1)
    doubled = _times(size, 2 * GAINED)
    doubled[0] = doubled[0] + divisor
    rounded = _over(_times(doubled, 1), 2 * divisor)
    return _column(_widened(_negated(rounded, negative)), kind, count == 0)


def _times(places: Sequence[Ints], factor: int) -> list[Ints]:
    made, carry = [], np.zeros_like(places[0])
    for place in places:
        value = place * factor + carry
        made.append(value & MASK)
        carry = value >> WIDTH
    return [*made, carry]


def _over(places: Sequence[Ints], divisor: Ints) -> list[Ints]:
    """Return the digits divided by numbers below 2**31: long division from the highest digit down."""
    made: list[Ints] = []
    left = np.zeros_like(places[0])
    for place in reversed(places):
        value = (left << WIDTH) | place
        made.append(value // divisor)
        left = value % divisor
    return made[::-1]


def _negated(places: Sequence[Ints], negative: Bools) -> list[Ints]:
    """Return the digits negated (two's complement) where `negative` is true."""
    made = []
    carry = negative.astype(np.int64)
    for place in places:
        value = np.where(negative, (~place) & MASK, place & MASK) + carry
        made.append(value & MASK)
        carry = value >> WIDTH
    return made


def _widened(places: Sequence[Ints]) -> list[Ints]:
    """Return at least four digits of 32 bits; added digits extend the sign."""
    sign = np.where(places[-1] & (1 << (WIDTH - 1)), MASK, 0) if len(places) < 4 else np.zeros_like(places[0])
    return [place & MASK for place in [*places, *[sign] * (4 - len(places))]]


def _column(places: Sequence[Ints], kind: pa.DataType, empty: Bools) -> pa.Array:
    if any((place != np.where(places[3] >> (WIDTH - 1), MASK, 0)).any() for place in places[4:]):
        raise RunError("SW-581", f"a sum does not fit {kind}", hint="use DOUBLE, or a smaller window")
    words = np.empty((len(empty), 2), np.uint64)
    words[:, 0] = places[0].astype(np.uint64) | (places[1].astype(np.uint64) << np.uint64(WIDTH))
    words[:, 1] = places[2].astype(np.uint64) | (places[3].astype(np.uint64) << np.uint64(WIDTH))
    known = pa.array(~empty).buffers()[1]
    wide = pa.Array.from_buffers(pa.decimal128(38, kind.scale), len(empty), [known, pa.py_buffer(words)])
    return wide.cast(kind)
