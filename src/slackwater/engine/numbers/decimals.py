"""Sums and averages of DECIMALs from limbs: integers of more than 64 bits, for all rows at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import Bools, Ints
from slackwater.engine.numbers.limbs import MASK, WIDTH, digits
from slackwater.errors import RunError

GAINED = 10_000
"""The factor of AVG's additional digits: four more than its argument."""


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
