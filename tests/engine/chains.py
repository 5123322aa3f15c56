"""Small chains written by hand, and batches for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from slackwater.engine.chain import ChainKernel
from slackwater.engine.plan import (
    ONE_TUPLE,
    AggregateStep,
    Call,
    Chain,
    FrequencyStep,
    Input,
    NamedTree,
    Size,
    Step,
    WindowStep,
)

COLUMNS = (("k", "int"), ("x", "double"), ("ts", "timestamp"))
K, X = NamedTree("k", ("column", "k"), "int"), ("column", "x")


def kernel(*steps: Step, columns: tuple[tuple[str, str], ...] = COLUMNS) -> ChainKernel:
    return ChainKernel(Chain(Input(columns, "ts"), steps))


def tuples(amount: int) -> Size:
    return Size(amount, is_time=False)


def ticks(amount: int) -> Size:
    return Size(amount, is_time=True)


def window(range: Size, every: Size = ONE_TUPLE, *by: str) -> WindowStep:
    return WindowStep(range, every, by, by)


def grouped(
    function: str, argument: str | None = "x", group: tuple[NamedTree, ...] = (K,), **options: bool
) -> AggregateStep:
    """Return the step of `SELECT k, function(argument) GROUP BY k`."""
    arguments = () if argument is None else (("column", argument),)
    return AggregateStep(group, (Call("a", function, arguments, **options),))


def every(length: Size, *by: str) -> FrequencyStep:
    return FrequencyStep(length, by)


def batch(keys: Any, values: Any, times: Any) -> pa.RecordBatch:
    moments = pa.array(np.asarray(times, np.int64)).cast(pa.timestamp("us", "UTC"))
    return pa.RecordBatch.from_arrays(
        [pa.array(keys, pa.int32()), pa.array(values, pa.float64()), moments], names=["k", "x", "ts"]
    )
