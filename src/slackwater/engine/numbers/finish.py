"""The values of COUNT, SUM, AVG, STDDEV and VARIANCE from the tally of a window."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import Bools, Ints
from slackwater.engine.numbers.decimals import average, decimals
from slackwater.engine.numbers.limbs import Floats, integers, quotient, square_of, total, two_product
from slackwater.engine.numbers.tally import HUGE, ROWS, Tally, limbs_of
from slackwater.errors import RunError


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
}
