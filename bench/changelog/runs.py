"""Queries and streams for the benchmarks of changelogs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.kernel import ChangelogKernel
from slackwater.engine.changelog.log import TupleLog
from slackwater.engine.plan import (
    AggregateStep,
    Call,
    DistinctStep,
    Edge,
    EnginePlan,
    FilterStep,
    Input,
    JoinLogs,
    MinusLogs,
    NamedTree,
    Over,
    ProjectStep,
    Size,
    Source,
    WindowStep,
    walk,
)

MS, SECOND = 1_000, 1_000_000
INPUT = Input((("k", "int"), ("x", "int"), ("ts", "timestamp")), "ts")
K, X = ("column", "k"), ("column", "x")


def stream(name):
    return Source(Edge(), name)


def window(child, seconds):
    return Over(Edge(2), child, WindowStep(Size(seconds * SECOND, True)))


def only_k(child):
    return Over(Edge(child.edge.level), child, ProjectStep((NamedTree("k", K, "int"),)))


def where_x(child):
    return Over(Edge(child.edge.level), child, FilterStep((">=", X, ("literal", 0, "int"))))


def grouped_sum(child):
    return Over(
        Edge(4, ("k",)), child, AggregateStep((NamedTree("k", K, "int"),), (Call("total", "sum", (X,), "bigint"),))
    )


def twice(child):
    doubled = NamedTree("twice", ("+", ("column", "total"), ("column", "total")), "bigint")
    return Over(Edge(4, ("k",)), child, ProjectStep((NamedTree("k", K, "int"), doubled)))


def distinct(child):
    return Over(Edge(3, ("k",)), child, DistinctStep())


def minus(left, right):
    return MinusLogs(Edge(4, ("k",)), left, right)


def joined(left, right):
    return JoinLogs(Edge(3), left, right, ("k", "x", "ts", "k2", "x2", "ts2"), ((K, K),))


def inputs_of(query):
    """Return the names of the streams that a query reads."""
    return {node.input for node in walk(query) if isinstance(node, Source)}


def rows(count, keys, gap, seed=1):
    """Return rows, one every `gap` microseconds."""
    rng = np.random.default_rng(seed)
    times = pa.array(np.arange(1, count + 1) * gap).cast(pa.timestamp("us", "UTC"))
    arrays = [
        pa.array(rng.integers(0, keys, count).astype(np.int32)),
        pa.array(rng.integers(1, 100, count), pa.int32()),
    ]
    return pa.record_batch([*arrays, times], names=["k", "x", "ts"])


def kernel(query, **options):
    return ChangelogKernel(
        EnginePlan({name: INPUT for name in ("S", "R") if name in inputs_of(query)}, query), **options
    )


def batches(given: dict[str, pa.RecordBatch], size: int, gap: int) -> Iterator[tuple[dict[str, pa.RecordBatch], int]]:
    """Return the streams in batches of equal size, with a punctuation after each batch."""
    count = max(each.num_rows for each in given.values())
    for start in range(0, count, size):
        yield {name: each.slice(start, size) for name, each in given.items()}, (start + size) * gap + 1


def logs(made: ChangelogKernel, given, size, gap) -> Iterator[TupleLog]:
    state = made.init()
    for batch, mark in batches(given, size, gap):
        step = made.step(state, batch, mark)
        state = step.state
        yield step.log
