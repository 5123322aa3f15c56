"""From the tally of a window to the value of a call: COUNT, SUM, AVG, STDDEV and VARIANCE."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa

from slackwater.errors import RunError
from slackwater.kernels.arrays import Bools, Ints
from slackwater.kernels.decimals import average, decimals
from slackwater.kernels.limbs import Floats, integers, quotient, square_of, total, two_product
from slackwater.kernels.tally import ROWS, Tally, limbs_of


def counted(sums: Tally, number: int | None) -> Ints:
    """COUNT: rows, or those whose argument is not NULL."""
    rows = sums[ROWS]
    return rows if number is None else rows - sums.get(f"{number}.null", np.int64(0))


def finished(function: str, sums: Tally, number: int | None, kind: pa.DataType | None) -> pa.Array:
    """The value of a call at every point; `number` is that of its argument, `kind` the argument's type."""
    count = counted(sums, number)
    if function == "count" or number is None or kind is None:
        return pa.array(count)
    return FUNCTIONS[function](sums, number, kind, count)


def _sum(sums: Tally, number: int, kind: pa.DataType, count: Ints) -> pa.Array:
    """NULL over no values, never 0."""
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
    mean, _ = quotient(*total(limbs, len(count)), np.maximum(count, 1).astype(np.float64))
    return pa.array(_special(sums, number, mean), mask=count == 0)


def _deviation(sums: Tally, number: int, kind: pa.DataType, count: Ints, besides: int, root: bool) -> pa.Array:
    """From the exact sums of the values and of their squares: n * sum(x**2) - sum(x)**2, in twice the precision."""
    few = count <= besides
    rows = np.where(few, besides + 1, count).astype(np.float64)
    high, low = total(limbs_of(sums, f"{number}^"), len(count))
    scale = 10.0**kind.scale if pa.types.is_decimal(kind) else 1.0
    plain, rest = total(limbs_of(sums, f"{number}"), len(count))
    mean_square, left = square_of(plain / scale, rest / scale)
    product, extra = two_product(high, rows)
    spread = (product - mean_square) + (extra + low * rows - left)
    variance = np.maximum(spread, 0.0) / rows / (rows - besides)
    unknown = _not_finite(sums, number, len(count))
    value = np.where(unknown, np.nan, np.sqrt(variance) if root else variance)
    return pa.array(value, mask=few)


def _special(sums: Tally, number: int, value: Floats) -> Floats:
    """NaN where a NaN or both infinities are in the window, an infinity where one is."""
    for name, infinity in (("inf", np.inf), ("-inf", -np.inf), ("nan", np.nan)):
        found = sums.get(f"{number}.{name}")
        if found is not None:
            value = np.where(found > 0, np.where(np.isfinite(value), infinity, infinity + value), value)
    return value


def _not_finite(sums: Tally, number: int, size: int) -> Bools:
    found = np.zeros(size, np.bool_)
    for name in ("inf", "-inf", "nan"):
        found |= sums.get(f"{number}.{name}", np.zeros(size, np.int64)) > 0
    return found


FUNCTIONS: dict[str, Callable[..., pa.Array]] = {
    "sum": _sum,
    "avg": _average,
    "stddev_samp": partial(_deviation, besides=1, root=True),
    "stddev_pop": partial(_deviation, besides=0, root=True),
    "var_samp": partial(_deviation, besides=1, root=False),
    "var_pop": partial(_deviation, besides=0, root=False),
}
