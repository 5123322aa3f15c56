"""Small chains written by hand, and batches for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from slackwater.engine.fused import Fused
from slackwater.engine.plan import ONE_TUPLE, Aggregate, Call, Chain, Frequency, Input, Item, Length, Step, Window

COLUMNS = (("k", "int"), ("x", "double"), ("ts", "timestamp"))
K, X = Item("k", ("column", "k"), "int"), ("column", "x")


def kernel(*steps: Step, columns: tuple[tuple[str, str], ...] = COLUMNS) -> Fused:
    return Fused(Chain(Input(columns, "ts"), steps))


def tuples(amount: int) -> Length:
    return Length(amount, is_time=False)


def ticks(amount: int) -> Length:
    return Length(amount, is_time=True)


def window(range: Length, every: Length = ONE_TUPLE, *by: str) -> Window:
    return Window(range, every, by, by)


def grouped(function: str, argument: str | None = "x", group: tuple[Item, ...] = (K,), **options: bool) -> Aggregate:
    """SELECT k, function(argument) GROUP BY k."""
    arguments = () if argument is None else (("column", argument),)
    return Aggregate(group, (Call("a", function, arguments, **options),))


def every(length: Length, *by: str) -> Frequency:
    return Frequency(length, by)


def batch(keys: Any, values: Any, times: Any) -> pa.RecordBatch:
    moments = pa.array(np.asarray(times, np.int64)).cast(pa.timestamp("us", "UTC"))
    return pa.RecordBatch.from_arrays(
        [pa.array(keys, pa.int32()), pa.array(values, pa.float64()), moments], names=["k", "x", "ts"]
    )
