"""Tallies: the integers that rows add to the sums of their group: counts, and limbs of sums and of sums of squares.

A column that would be all zeros is left out. `3.nan` counts the NaNs of argument 3 and `3.null` its NULLs; `3.0` and
`3.-1` are limbs of its sum, `3^.0` is a limb of its sum of squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slackwater.engine.columns.arrays import Ints, ints, valid
from slackwater.engine.numbers.limbs import Floats, Limbs, of_decimals, of_floats, of_integers, of_squares

ROWS = "rows"
HUGE = 1e150
"""A larger number counts as huge: its square may overflow a double, and the deviation is infinite."""
Tally = dict[str, Ints]


@dataclass(frozen=True, slots=True)
class Argument:
    """A column that is counted, and summed or squared if a call over it needs that."""

    name: str
    summed: bool = False
    squared: bool = False


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
    return added


def _numbers(added: Tally, number: int, column: pa.Array, squared: bool) -> None:
    if pa.types.is_decimal(column.type):
        _limbs(added, f"{number}", of_decimals(pc.fill_null(column, 0) if column.null_count else column))
    elif pa.types.is_floating(column.type):
        values = _finite(added, number, _filled(column.cast(pa.float64())))
        _limbs(added, f"{number}", of_floats(values))
    else:
        whole = ints(pc.fill_null(column, 0) if column.null_count else column)
        _limbs(added, f"{number}", of_integers(whole))
    if squared:
        values = _finite({}, number, _filled(column.cast(pa.float64())))
        huge = np.abs(values) > HUGE
        if huge.any():
            added[f"{number}.huge"] = huge.astype(np.int64)
            values = np.where(huge, 0.0, values)
        _limbs(added, f"{number}^", of_squares(values))


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
