"""CAST between Arrow columns as Spark does it (ANSI): fractions are cut off, what cannot be cast is an error."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slackwater.engine.columns.arrays import EARLIEST, LATEST, ints, valid, where
from slackwater.engine.expressions import texts
from slackwater.errors import RunError

SECOND = 1_000_000


def cast(column: pa.Array, target: pa.DataType, tries: bool = False) -> pa.Array:
    """The column in another type. What cannot be cast is an error, or with `tries` NULL (TRY_CAST).

    >>> cast(pa.array([1.9, -1.9, None]), pa.int32()).to_pylist()
    [1, -1, None]
    >>> cast(pa.array(["7", "x"]), pa.int32(), tries=True).to_pylist()
    [7, None]
    """
    found = _converted(column, target)
    if not tries and found.null_count > column.null_count:
        lost = column.filter(pc.and_(found.is_null(), column.is_valid())).cast(pa.string())
        raise RunError(
            "SW-582", f"{lost[0].as_py()!r} cannot be cast to {target}", hint="use TRY_CAST, or leave such rows out"
        )
    return found


def _converted(column: pa.Array, target: pa.DataType) -> pa.Array:
    """The column in another type, NULL where a value has no equal in it."""
    source = column.type
    if source == target or pa.types.is_null(source):
        return column.cast(target)
    if pa.types.is_string(source):
        return _read(column, target)
    if pa.types.is_string(target):
        return _written(column)
    if pa.types.is_timestamp(target) and _is_number(source):
        return _moments(column).cast(target)
    if pa.types.is_timestamp(source) and (_is_number(target) or pa.types.is_decimal(target)):
        return _converted(_seconds(column, target), target)
    if pa.types.is_boolean(target):
        return pc.not_equal(column, pa.scalar(0, source))
    if pa.types.is_integer(target):
        return _whole(column, target)
    if pa.types.is_decimal(target):
        return _decimal(column, target)
    if pa.types.is_decimal(source):
        column = column.cast(pa.string())  # Arrow's own way is a few last digits off
    return column.cast(target, safe=False)


def _read(column: pa.Array, target: pa.DataType) -> pa.Array:
    """Text as what it says."""
    if pa.types.is_boolean(target):
        return texts.booleans(column)
    if pa.types.is_integer(target):
        return _whole(texts.whole_numbers(column), target)
    if pa.types.is_floating(target):
        return texts.floats(column, target)
    if pa.types.is_decimal(target):
        return _rounded(texts.decimals(column), target)
    if pa.types.is_date(target):
        return texts.dates(column)
    if pa.types.is_timestamp(target):
        return texts.timestamps(column, target)
    return column.cast(target)


def _written(column: pa.Array) -> pa.Array:
    """Values as text; a time without the zeros at its end."""
    if pa.types.is_floating(column.type):
        return texts.of_floats(column)
    if not pa.types.is_timestamp(column.type):
        return column.cast(pa.string())
    written = pc.strftime(column.cast(pa.timestamp("us")), format="%Y-%m-%d %H:%M:%S")
    return pc.replace_substring_regex(written, r"\.?0+$", "")


def _moments(seconds: pa.Array) -> pa.Array:
    """Microseconds of seconds. As in Spark whole seconds that are too many are the last moment that there is."""
    if pa.types.is_integer(seconds.type):
        most = LATEST // SECOND
        number = ints(pc.fill_null(seconds, 0))
        ticks = np.clip(number, -most, most) * SECOND
        ticks = np.where(number > most, LATEST, np.where(number < -most, EARLIEST, ticks))
        return pa.array(ticks, mask=~valid(seconds))
    return _whole(pc.multiply(seconds.cast(pa.float64()), float(SECOND)), pa.int64())


def _seconds(column: pa.Array, target: pa.DataType) -> pa.Array:
    """Seconds since 1970; as a whole number those that have passed."""
    ticks = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
    if pa.types.is_integer(target):
        passed = np.floor_divide(ints(pc.fill_null(ticks, 0)), SECOND)
        return pa.array(passed, mask=~valid(column))
    if pa.types.is_decimal(target):
        return pc.multiply(ticks.cast(pa.decimal128(19, 0)), pa.scalar("0.000001").cast(pa.decimal128(6, 6)))
    return pc.divide(ticks.cast(pa.float64(), safe=False), float(SECOND))


def _whole(column: pa.Array, target: pa.DataType) -> pa.Array:
    """Numbers without their fractions, where they fit."""
    source, bits = column.type, target.bit_width
    if pa.types.is_boolean(source) or (pa.types.is_integer(source) and source.bit_width <= bits):
        return column.cast(target)
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    if pa.types.is_floating(source):
        return _cut(column, least, most).cast(target)
    if pa.types.is_decimal(source):
        column = pc.trunc(column).cast(pa.decimal256(76, 0))
    kind = pa.decimal256(76, 0) if pa.types.is_decimal(source) else pa.int64()
    fits = pc.and_(pc.greater_equal(column, pa.scalar(least, kind)), pc.less_equal(column, pa.scalar(most, kind)))
    return where(fits, column).cast(target)


def _cut(column: pa.Array, least: int, most: int) -> pa.Array:
    """Floats without their fractions. As in Java 2^63, which is next to the greatest BIGINT, is taken for it."""
    numbers = np.trunc(column.to_numpy(zero_copy_only=False).astype(np.float64))
    fits = valid(column) & (numbers >= least) & (numbers <= most)
    whole = np.where(fits & (numbers < most), numbers, 0.0).astype(np.int64)
    return pa.array(np.where(fits & (numbers >= most), most, whole), mask=~fits)


def _decimal(column: pa.Array, target: pa.DataType) -> pa.Array:
    """A float is the number that it is written as: 1.005 is half of a hundredth, though in bits it is less."""
    if pa.types.is_floating(column.type):
        return _rounded(texts.decimals(column.cast(pa.float64()).cast(pa.string())), target)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    return _rounded(column.cast(pa.decimal256(76, max(0, getattr(column.type, "scale", 0)))), target)


def _rounded(column: pa.Array, target: pa.DataType) -> pa.Array:
    """Exact numbers with the places of a DECIMAL, half away from zero, where they fit."""
    places, nines = column.type.scale, "9" * target.scale + "5"
    limit = pa.scalar(f"{'9' * (target.precision - target.scale)}.{nines[:places]}").cast(column.type)
    fits = (pc.less if places > target.scale else pc.less_equal)(pc.abs(column), limit)
    rounded = pc.round(where(fits, column), ndigits=target.scale, round_mode="half_towards_infinity")
    return rounded.cast(pa.decimal256(76, target.scale)).cast(target)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
