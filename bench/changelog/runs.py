"""Queries and streams for the benchmarks of changelogs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.kernel import Changes
from slackwater.engine.changelog.log import Log

MS, SECOND = 1_000, 1_000_000
INPUT = {"columns": [["k", "int"], ["x", "int"], ["ts", "timestamp"]], "time": "ts", "arrival": None}


def stream(name):
    return {"op": "source", "class": 1, "key": None, "input": name}


def window(child, seconds):
    return {"op": "window", "class": 2, "key": None, "range": seconds * SECOND, "child": child}


def only_k(child):
    return {"op": "project", "class": child["class"], "key": None, "items": [["k", ["column", "k"], "int"]]} | {
        "child": child
    }


def where_x(child):
    condition = [">=", ["column", "x"], ["literal", 0, "int"]]
    return {"op": "filter", "class": child["class"], "key": None, "condition": condition, "child": child}


def grouped_sum(child):
    call = ["total", "sum", [["column", "x"]], "bigint", {}]
    return {"op": "aggregate", "class": 4, "key": ["k"], "group": [["k", ["column", "k"], "int"]], "calls": [call]} | {
        "child": child
    }


def twice(child):
    items = [["k", ["column", "k"], "int"], ["twice", ["+", ["column", "total"], ["column", "total"]], "bigint"]]
    return {"op": "project", "class": 4, "key": ["k"], "items": items, "child": child}


def distinct(child):
    return {"op": "distinct", "class": 3, "key": ["k"], "child": child}


def minus(left, right):
    return {"op": "minus", "class": 4, "key": ["k"], "left": left, "right": right}


def joined(left, right):
    columns, on = ["k", "x", "ts", "k2", "x2", "ts2"], [[["column", "k"], ["column", "k"]]]
    node = {"op": "join", "class": 3, "key": None, "columns": columns, "on": on, "condition": None}
    return node | {"left": left, "right": right}


def rows(count, keys, gap, seed=1):
    """A row every `gap` microseconds."""
    rng = np.random.default_rng(seed)
    times = pa.array(np.arange(1, count + 1) * gap).cast(pa.timestamp("us", "UTC"))
    arrays = [
        pa.array(rng.integers(0, keys, count).astype(np.int32)),
        pa.array(rng.integers(1, 100, count), pa.int32()),
    ]
    return pa.record_batch([*arrays, times], names=["k", "x", "ts"])


def kernel(query, **options):
    names = {"S": INPUT} | ({"R": INPUT} if "'R'" in str(query) else {})
    return Changes({"inputs": names, "query": query}, **options)


def batches(given: dict[str, pa.RecordBatch], size: int, gap: int) -> Iterator[tuple[dict[str, pa.RecordBatch], int]]:
    """The streams in batches of so many rows each, punctuated after each batch."""
    count = max(each.num_rows for each in given.values())
    for start in range(0, count, size):
        yield {name: each.slice(start, size) for name, each in given.items()}, (start + size) * gap + 1


def logs(made: Changes, given, size, gap) -> Iterator[Log]:
    state = made.init()
    for batch, mark in batches(given, size, gap):
        step = made.step(state, batch, mark)
        state = step.state
        yield step.log
