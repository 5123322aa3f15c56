"""CAST between Arrow columns as Spark does it (ANSI): fractions are cut off, what cannot be cast is an error."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from slackwater.errors import RunError

WHOLE = r"^\s*[+-]?\d{1,19}\s*$"
NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
SECOND = 1_000_000


def cast(column: pa.Array, target: pa.DataType, tries: bool = False) -> pa.Array:
    """The column in another type. With `tries` NULL where that cannot be (TRY_CAST), of text only.

    >>> cast(pa.array([1.9, -1.9, None]), pa.int32()).to_pylist()
    [1, -1, None]
    >>> cast(pa.array(["7", "x"]), pa.int32(), tries=True).to_pylist()
    [7, None]
    """
    try:
        return _cast(_possible(column, target) if tries else column, target)
    except pa.ArrowInvalid as cause:
        raise RunError(
            "SW-582", f"a value cannot be cast to {target}: {cause}", hint="use TRY_CAST, or leave such rows out"
        ) from cause


def _cast(column: pa.Array, target: pa.DataType) -> pa.Array:
    source = column.type
    if source == target:
        return column
    if pa.types.is_timestamp(source) and _is_number(target):
        return _cast(_seconds(column, target), target)
    if pa.types.is_timestamp(target) and _is_number(source):
        return _cast(pc.multiply(column, pa.scalar(SECOND).cast(column.type)), pa.int64()).cast(target)
    if pa.types.is_floating(source) and pa.types.is_integer(target):
        return pc.trunc(column).cast(target)
    if pa.types.is_string(source) and not pa.types.is_string(target):
        column = pc.utf8_trim_whitespace(column)
    if pa.types.is_decimal(target) and not pa.types.is_decimal(source):
        return column.cast(pa.decimal128(38, target.scale)).cast(target)
    return column.cast(target)


def _seconds(column: pa.Array, target: pa.DataType) -> pa.Array:
    """Seconds since 1970; as a whole number those that have passed."""
    ticks = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
    seconds = pc.divide(ticks.cast(pa.float64()), float(SECOND))
    return pc.floor(seconds) if pa.types.is_integer(target) else seconds


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _possible(column: pa.Array, target: pa.DataType) -> pa.Array:
    """Text that can be read as the target; NULL for the rest."""
    if not pa.types.is_string(column.type):
        return column
    pattern = WHOLE if pa.types.is_integer(target) else NUMBER
    return pc.if_else(pc.match_substring_regex(column, pattern), column, pa.scalar(None, pa.string()))
