"""Small trees written by hand, and batches for them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from slackwater.engine.changelog.kernel import Changes, Step
from slackwater.engine.state import State

STREAM = {"columns": [["k", "int"], ["x", "int"], ["ts", "timestamp"]], "time": "ts", "arrival": None}
EDITS = {
    "columns": [["op", "string"], ["k", "int"], ["x", "int"], ["ts", "timestamp"]],
    "time": "ts",
    "change_type": "op",
    "key": ["k"],
}
S = {"op": "source", "class": 1, "key": None, "input": "S"}
E = {"op": "source", "class": 4, "key": ["k"], "input": "E"}


def window(child: dict[str, Any], length: int, level: int = 2) -> dict[str, Any]:
    return {"op": "window", "class": level, "key": child["key"], "range": length, "child": child}


def grouped(child: dict[str, Any], function: str = "sum", *arguments: str, **options: bool) -> dict[str, Any]:
    """SELECT k, function(arguments) AS a GROUP BY k."""
    call = ["a", function, [["column", name] for name in arguments], "unknown", options]
    return {"op": "aggregate", "class": 4, "key": ["k"], "group": [["k", ["column", "k"], "int"]], "calls": [call]} | {
        "child": child
    }


def of_k(child: dict[str, Any]) -> dict[str, Any]:
    items = [["k", ["column", "k"], "int"]]
    return {"op": "project", "class": child["class"], "key": None, "items": items, "child": child}


def distinct(child: dict[str, Any]) -> dict[str, Any]:
    return {"op": "distinct", "class": max(3, child["class"]), "key": ["k"], "child": child}


def kernel(query: dict[str, Any], **options: Any) -> Changes:
    return Changes({"inputs": {"S": STREAM, "E": EDITS}, "query": query}, **options)


def rows(*given: tuple[Any, ...]) -> pa.RecordBatch:
    """(k, x, ts) or (op, k, x, ts)."""
    edits = bool(given) and len(given[0]) == 4
    names = ["op", "k", "x", "ts"] if edits else ["k", "x", "ts"]
    kinds = {"op": pa.string(), "k": pa.int32(), "x": pa.int32(), "ts": pa.timestamp("us", "UTC")}
    columns = [list(each) for each in zip(*given, strict=True)] if given else [[]] * len(names)
    schema = pa.schema([(name, kinds[name]) for name in names])
    return pa.RecordBatch.from_pylist(
        [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)], schema
    )


def steps(made: Changes, *given: tuple[dict[str, pa.RecordBatch], int]) -> list[Step]:
    """What each batch yields."""
    state: State = made.init()
    found: list[Step] = []
    for batches, punctuation in given:
        found.append(made.step(state, batches, punctuation))
        state = found[-1].state
    return found
