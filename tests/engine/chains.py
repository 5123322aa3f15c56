"""Small chains written by hand, and batches for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from slackwater.engine.fused import Fused

COLUMNS = [["k", "int"], ["x", "double"], ["ts", "timestamp"]]


def kernel(*steps: dict[str, Any], columns: list[list[str]] = COLUMNS) -> Fused:
    return Fused({"columns": columns, "time": "ts", "arrival": None, "steps": list(steps)})


def window(range: dict[str, int], every: dict[str, int] | None = None, *by: str) -> dict[str, Any]:
    return {"op": "window", "range": range, "every": every or {"tuples": 1}, "by": list(by)}


def grouped(function: str, argument: str | None = "x", **options: bool) -> dict[str, Any]:
    """SELECT k, function(argument) GROUP BY k."""
    arguments = [] if argument is None else [["column", argument]]
    return {
        "op": "aggregate",
        "group": [["k", ["column", "k"], "int"]],
        "calls": [["a", function, arguments, "unknown", options]],
    }


def every(amount: int, unit: str, *by: str) -> dict[str, Any]:
    return {"op": "frequency", "every": {unit: amount}, "by": list(by)}


def batch(keys: Any, values: Any, times: Any) -> pa.RecordBatch:
    moments = pa.array(np.asarray(times, np.int64)).cast(pa.timestamp("us", "UTC"))
    return pa.RecordBatch.from_arrays(
        [pa.array(keys, pa.int32()), pa.array(values, pa.float64()), moments], names=["k", "x", "ts"]
    )
