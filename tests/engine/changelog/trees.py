"""Small trees written by hand, and batches for them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from slackwater.engine.changelog.kernel import ChangelogKernel, ChangelogStep
from slackwater.engine.columns.state import State
from slackwater.engine.plan import (
    AggregateStep,
    Call,
    DistinctStep,
    Edge,
    EnginePlan,
    Input,
    NamedTree,
    Node,
    Over,
    ProjectStep,
    Size,
    Source,
    WindowStep,
)

STREAM = Input((("k", "int"), ("x", "int"), ("ts", "timestamp")), "ts")
EDITS = Input((("op", "string"), ("k", "int"), ("x", "int"), ("ts", "timestamp")), "ts", None, "op", ("k",))
INPUTS = {"S": STREAM, "E": EDITS}
S = Source(Edge(1), "S")
E = Source(Edge(4, ("k",)), "E")
K = NamedTree("k", ("column", "k"), "int")


def window(child: Node, length: int, level: int = 2) -> Over:
    return Over(Edge(level, child.edge.key), child, WindowStep(Size(length, is_time=True)))


def grouped(child: Node, function: str = "sum", *arguments: str, **options: bool) -> Over:
    """SELECT k, function(arguments) AS a GROUP BY k."""
    call = Call("a", function, tuple(("column", name) for name in arguments), **options)
    return Over(Edge(4, ("k",)), child, AggregateStep((K,), (call,)))


def of_k(child: Node) -> Over:
    return Over(Edge(child.edge.level), child, ProjectStep((K,)))


def distinct(child: Node) -> Over:
    return Over(Edge(max(3, child.edge.level), ("k",)), child, DistinctStep())


def kernel(query: Node, **options: Any) -> ChangelogKernel:
    return ChangelogKernel(EnginePlan(INPUTS, query), **options)


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


def steps(made: ChangelogKernel, *given: tuple[dict[str, pa.RecordBatch], int]) -> list[ChangelogStep]:
    """Return the output of each batch."""
    state: State = made.init()
    found: list[ChangelogStep] = []
    for batches, punctuation in given:
        found.append(made.step(state, batches, punctuation))
        state = found[-1].state
    return found
