"""Tallies: the integers that rows add to the sums of their group, and the values of COUNT, SUM, AVG ... from these.

A tally has counts, and limbs of sums and of sums of squares. A column that would be all zeros is left out. `3.nan`
counts the NaNs of argument 3 and `3.null` its NULLs; `3.0` and `3.-1` are limbs of its sum, `3^.0` is a limb of its sum
of squares, `3&.5` counts its values with bit 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slackwater.engine.columns.arrays import Bools, Ints, ints, valid
from slackwater.engine.numbers.limbs import (
    Floats,
    Limbs,
    average,
    decimals,
    integers,
    of_decimals,
    of_floats,
    of_integers,
    of_squares,
    quotient,
    square_of,
    total,
    two_product,
)
from slackwater.errors import RunError

ROWS = "rows"
HUGE = 1e150
"""A larger number counts as huge: its square may overflow a double, and the deviation is infinite."""
Tally = dict[str, Ints]


@dataclass(frozen=True, slots=True)
class Argument:
    """A column that is counted, and summed, squared or counted bit by bit if a call over it needs that."""

    name: str
    summed: bool = False
    squared: bool = False
    bits: bool = False


def tally(rows: pa.RecordBatch, arguments: Sequence[Argument]) -> Tally:
    """Return the numbers that each row adds.

    >>> rows = pa.record_batch({"x": [1.5, None]})
    >>> {name: added.tolist() for name, added in tally(rows, [Argument("x", summed=True)]).items()}
    {'rows': [1, 1], '0.null': [0, 1], '0.0': [1, 0], '0.-1': [2147483648, 0]}
    """
    added: Tally = {ROWS: np.ones(rows.num_rows, np.int64)}
    for number, argument in enumerate(arguments):
        column = rows.column(argument.name)
        if column.null_count:
            added[f"{number}.null"] = (~valid(column)).astype(np.int64)
        if argument.summed:
            _numbers(added, number, column, argument.squared)
        if argument.bits:
            _bits(added, number, column)
    return added


def _numbers(added: Tally, number: int, column: pa.Array, squared: bool) -> None:
    if pa.types.is_decimal(column.type):
        _limbs(added, f"{number}", of_decimals(pc.fill_null(column, 0) if column.null_count else column))
    elif pa.types.is_floating(column.type):
        values = _finite(added, number, _filled(column.cast(pa.float64())))
        _limbs(added, f"{number}", of_floats(values))
    else:
        _limbs(added, f"{number}", of_integers(_whole(column)))
    if squared:
        values = _finite({}, number, _filled(column.cast(pa.float64())))
        huge = np.abs(values) > HUGE
        if huge.any():
            added[f"{number}.huge"] = huge.astype(np.int64)
            values = np.where(huge, 0.0, values)
        _limbs(added, f"{number}^", of_squares(values))


def _bits(added: Tally, number: int, column: pa.Array) -> None:
    whole = _whole(column)
    seen = int(np.bitwise_or.reduce(whole, initial=0))
    _limbs(added, f"{number}&", {k: (whole >> k) & 1 for k in range(column.type.bit_width) if (seen >> k) & 1})


def _whole(column: pa.Array) -> Ints:
    return ints(pc.fill_null(column, 0) if column.null_count else column)


def _filled(column: pa.Array) -> Floats:
    values: Floats = (pc.fill_null(column, 0.0) if column.null_count else column).to_numpy()
    return values


def _finite(added: Tally, number: int, values: Floats) -> Floats:
    """Return the values with 0 for NaN and infinities, which are counted instead."""
    finite = np.isfinite(values)
    if finite.all():
        return values
    for name, mask in (("nan", np.isnan(values)), ("inf", values == np.inf), ("-inf", values == -np.inf)):
        if mask.any():
            added[f"{number}.{name}"] = mask.astype(np.int64)
    return np.where(finite, values, 0.0)


def _limbs(added: Tally, name: str, limbs: Limbs) -> None:
    for k, limb in limbs.items():
        added[f"{name}.{k}"] = limb


def limbs_of(sums: Mapping[str, Ints], name: str) -> Limbs:
    """Return the limbs that are stored under a name."""
    prefix = f"{name}."
    return {int(key[len(prefix) :]): limb for key, limb in sums.items() if key.startswith(prefix) and _exponent(key)}


def _exponent(key: str) -> bool:
    return key.rpartition(".")[2].lstrip("-").isdigit()


def summed(tallies: Tally, order: Any, starts: Any) -> Tally:
    """Return the tallies of runs of rows. Without an order, the rows are already sorted."""
    return {name: _of_runs(added if order is None else added.take(order), starts) for name, added in tallies.items()}


def _of_runs(added: Ints, starts: Any) -> Ints:
    """Return the sums of runs: differences of running sums, in which overflows cancel."""
    running = np.cumsum(added)
    ends = np.append(starts[1:], len(added))
    return np.diff(running.take(ends - 1), prepend=0)


def together(one: Tally, two: Tally, sizes: tuple[int, int]) -> Tally:
    """Return the concatenation of two tallies. A column that one of them lacks is zero there."""
    names = dict.fromkeys([*one, *two])
    zeros = [np.zeros(size, np.int64) for size in sizes]
    return {name: np.concatenate([one.get(name, zeros[0]), two.get(name, zeros[1])]) for name in names}


def counted(sums: Tally, number: int | None) -> Ints:
    """Return COUNT: the number of rows, or of rows whose argument is not NULL."""
    rows = sums[ROWS]
    return rows if number is None else rows - sums.get(f"{number}.null", np.int64(0))


def finished(function: str, sums: Tally, number: int | None, kind: pa.DataType | None) -> pa.Array:
    """Return the value of a call at every point. `number` is the number of its argument, `kind` the argument's type."""
    count = counted(sums, number)
    if function == "count" or number is None or kind is None:
        return pa.array(count)
    return FUNCTIONS[function](sums, number, kind, count)


def _sum(sums: Tally, number: int, kind: pa.DataType, count: Ints) -> pa.Array:
    """Return SUM: NULL over no values, never 0."""
    limbs = limbs_of(sums, f"{number}")
    if pa.types.is_decimal(kind):
        return decimals(limbs, pa.decimal128(min(38, kind.precision + 10), kind.scale), count)
    if pa.types.is_floating(kind):
        return pa.array(_special(sums, number, total(limbs, len(count))[0]), mask=count == 0)
    value, beyond = integers(limbs, len(count))
    if beyond.any():
        raise RunError("SW-581", "a sum does not fit a BIGINT", hint="use DECIMAL or DOUBLE, or a try_ function")
    return pa.array(value, mask=count == 0)


def _average(sums: Tally, number: int, kind: pa.DataType, count: Ints) -> pa.Array:
    limbs = limbs_of(sums, f"{number}")
    if pa.types.is_decimal(kind):
        return average(limbs, pa.decimal128(min(38, kind.precision + 4), min(38, kind.scale + 4)), count)
    high, low = total(limbs, len(count))
    scale = np.where(np.abs(high) > HUGE, 2.0**-64, 1.0)  # values near the greatest double would overflow
    finite = np.where(np.isfinite(high), high, 0.0)
    mean, _ = quotient(finite * scale, low * scale, np.maximum(count, 1).astype(np.float64))
    return pa.array(_special(sums, number, np.where(np.isfinite(high), mean / scale, high)), mask=count == 0)


def _deviation(sums: Tally, number: int, kind: pa.DataType, count: Ints, besides: int, root: bool) -> pa.Array:
    """Return a deviation or variance from exact sums: n * sum(x**2) - sum(x)**2, in twice the precision."""
    few = count <= besides
    rows = np.where(few, besides + 1, count).astype(np.float64)
    high, low = total(limbs_of(sums, f"{number}^"), len(count))
    scale = 10.0**kind.scale if pa.types.is_decimal(kind) else 1.0
    plain, rest = total(limbs_of(sums, f"{number}"), len(count))
    mean_square, left = square_of(plain / scale, rest / scale)
    product, extra = two_product(high, rows)
    spread = (product - mean_square) + (extra + low * rows - left)
    variance = np.maximum(spread, 0.0) / rows / (rows - besides)
    value = np.where(_has(sums, number, "huge", len(count)), np.inf, np.sqrt(variance) if root else variance)
    unknown = [_has(sums, number, name, len(count)) for name in ("inf", "-inf", "nan")]
    return pa.array(np.where(np.logical_or.reduce(unknown), np.nan, value), mask=few)


def _bitwise(
    sums: Tally, number: int, kind: pa.DataType, count: Ints, is_set: Callable[[Ints, Ints], Bools]
) -> pa.Array:
    """Return BIT_AND, BIT_OR or BIT_XOR: which bits are set, from the number of values that have each."""
    found = np.zeros(len(count), np.int64)
    for k, ones in limbs_of(sums, f"{number}&").items():
        found |= is_set(ones, count).astype(np.int64) << k
    spare = 64 - kind.bit_width
    return pa.array((found << spare) >> spare, mask=count == 0).cast(kind)  # the shifts extend the sign


def _special(sums: Tally, number: int, value: Floats) -> Floats:
    """Return the value, NaN if the window has a NaN or both infinities, or an infinity if it has one."""
    up, down, nan = (_has(sums, number, name, len(value)) for name in ("inf", "-inf", "nan"))
    value = np.where(up, np.inf, np.where(down, -np.inf, value))
    return np.where(nan | (up & down), np.nan, value)


def _has(sums: Tally, number: int, name: str, size: int) -> Bools:
    """Return a mask of the windows with values of a kind that is counted separately (NaN, infinite, huge)."""
    found = sums.get(f"{number}.{name}")
    return np.zeros(size, np.bool_) if found is None else found > 0


FUNCTIONS: dict[str, Callable[..., pa.Array]] = {
    "sum": _sum,
    "avg": _average,
    "stddev_samp": partial(_deviation, besides=1, root=True),
    "stddev_pop": partial(_deviation, besides=0, root=True),
    "var_samp": partial(_deviation, besides=1, root=False),
    "var_pop": partial(_deviation, besides=0, root=False),
    "bit_and": partial(_bitwise, is_set=lambda ones, count: ones == count),
    "bit_or": partial(_bitwise, is_set=lambda ones, count: ones > 0),
    "bit_xor": partial(_bitwise, is_set=lambda ones, count: ones % 2 == 1),
}
