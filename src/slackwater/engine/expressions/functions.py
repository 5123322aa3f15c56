"""Operators and functions of Spark SQL over Arrow columns. NULL in, NULL out, unless a function says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from slackwater.engine.columns.arrays import valid
from slackwater.engine.columns.keys import ordinals
from slackwater.errors import QueryError

WIDER = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64()]


def unified(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """Columns in the widest of their types: a DOUBLE makes numbers DOUBLE, a DECIMAL whole numbers DECIMAL.

    >>> [column.to_pylist() for column in unified([pa.array([1.5]), pa.array([9], pa.int32())])]
    [[1.5], [9.0]]
    """
    kinds = {column.type for column in columns if not pa.types.is_null(column.type)}
    if not kinds:
        return list(columns)
    decimals = [kind for kind in kinds if pa.types.is_decimal(kind)]
    if len(kinds) == 1:
        (target,) = kinds
    elif all(kind in WIDER for kind in kinds):
        target = max(kinds, key=WIDER.index)
    elif any(pa.types.is_floating(kind) for kind in kinds):
        target = pa.float64()
    elif decimals:
        scale = max(kind.scale for kind in decimals)
        target = pa.decimal128(38, scale)
    elif all(pa.types.is_temporal(kind) and not pa.types.is_duration(kind) for kind in kinds):
        target = next((kind for kind in kinds if pa.types.is_timestamp(kind) and kind.tz), pa.timestamp("us"))
    else:
        raise _apart(kinds)
    return [column.cast(target) for column in columns]


def _apart(kinds: set[pa.DataType]) -> QueryError:
    listed = ", ".join(sorted(map(str, kinds)))
    return QueryError("SW-351", f"values of {listed} cannot stand together", hint="cast one to the type of the other")


def arithmetic(function: Callable[..., pa.Array], one: pa.Array, two: pa.Array) -> pa.Array:
    """Overflow is an error; DECIMAL with DOUBLE is DOUBLE."""
    if _any(pa.types.is_floating, one, two):
        one, two = one.cast(pa.float64()), two.cast(pa.float64())
    return function(one, two)


def compared(function: Callable[..., pa.Array], one: pa.Array, two: pa.Array) -> pa.Array:
    """NaN equals NaN and is greater than any number."""
    first, second = unified([one, two])
    if pa.types.is_floating(first.type) and (_has_nan(first) or _has_nan(second)):
        first, second = _ordered(first), _ordered(second)
    return function(first, second)


def same(one: pa.Array, two: pa.Array) -> pa.Array:
    """`<=>`: NULL equals NULL."""
    both = pc.and_(one.is_null(), two.is_null())
    return pc.or_(both, pc.fill_null(compared(pc.equal, one, two), False))


def _any(test: Callable[[pa.DataType], bool], *columns: pa.Array) -> bool:
    return any(test(column.type) for column in columns)


def _has_nan(column: pa.Array) -> bool:
    return bool(pc.any(pc.is_nan(column)).as_py())


def _ordered(column: pa.Array) -> pa.Array:
    """Doubles as integers of the same order, NaN last."""
    return pa.array(ordinals(column), mask=~valid(column))


COMPARISONS: dict[str, Callable[..., pa.Array]] = {
    "=": partial(compared, pc.equal),
    "<>": partial(compared, pc.not_equal),
    "<": partial(compared, pc.less),
    "<=": partial(compared, pc.less_equal),
    ">": partial(compared, pc.greater),
    ">=": partial(compared, pc.greater_equal),
    "<=>": same,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "+": partial(arithmetic, pc.add_checked),
    "-": partial(arithmetic, pc.subtract_checked),
    "*": partial(arithmetic, pc.multiply_checked),
    "negative": pc.negate_checked,
    "not": pc.invert,
    "is null": pc.is_null,
    "is true": lambda value: pc.fill_null(value, False),
    "is false": lambda value: pc.fill_null(pc.invert(value), False),
}
