"""Changelog kernels, operator by operator: rows a second of one core, with 1, 1,000 and 100,000 keys.

1,000,000 rows (500,000 on each side, where there are two), one a millisecond, up to 50 ms out of order, in batches of
100,000, the state's head through bytes at every batch; `out` are the changes with 1,000 keys, `kept` the rows kept at
the end. The last lines are 20,000 rows a second of event time in batches of one second, 1,200,000 rows in the window.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pyarrow as pa

from bench.changelog.runs import MS, X, distinct, grouped_sum, inputs_of, joined, kernel, minus, only_k, stream, window
from slackwater.engine.changelog.kernel import ChangelogKernel
from slackwater.engine.columns.state import State
from slackwater.engine.plan import AggregateStep, Call, Edge, EnginePlan, Input, NamedTree, Over, Source

ROWS, BATCH, KEYS = 1_000_000, 100_000, (1, 1_000, 100_000)
S, R = stream("S"), stream("R")
EDITS = Input((("op", "string"), ("k", "int"), ("x", "int"), ("ts", "timestamp")), "ts", None, "op", ("k",))
E = Source(Edge(4, ("k",)), "E")


def grouped(child, function, key="k"):
    return Over(
        Edge(4, ("g",)), child, AggregateStep((NamedTree("g", ("column", key), "int"),), (Call("a", function, (X,)),))
    )


QUERIES = {
    "window": window(S, 60),
    "sum": grouped_sum(window(S, 60)),
    "sum, unbounded": grouped_sum(S),
    "max": grouped(window(S, 60), "max"),
    "distinct": distinct(only_k(window(S, 60))),
    "minus": minus(only_k(window(S, 60)), only_k(window(R, 3))),
    "join of 1 second": joined(window(S, 1), window(R, 1)),
    "changelog in, sum": grouped(E, "sum", "x"),
}


def rows(count, keys, gap=MS, seed=1):
    rng = np.random.default_rng(seed)
    times = (np.arange(count) - rng.integers(0, 50, count)) * gap
    columns = {"k": rng.integers(0, keys, count), "x": rng.integers(1, 100, count)}
    arrays = [pa.array(each, pa.int32()) for each in columns.values()]
    return pa.record_batch([*arrays, pa.array(times).cast(pa.timestamp("us", "UTC"))], names=["k", "x", "ts"])


def edits(count, keys):
    kinds = np.array(["insert", "update_postimage", "delete"])
    op = kinds[np.random.default_rng(3).integers(0, 3, count)]
    plain = rows(count, keys)
    return pa.record_batch([pa.array(op), *plain.columns], names=["op", "k", "x", "ts"])


def run(query, keys, count=ROWS, size=BATCH, gap=MS, **options):
    """Return the rows per second on one core, the number of changes, and the size of the state."""
    if "E" in inputs_of(query):
        made, given = ChangelogKernel(EnginePlan({"E": EDITS}, query), **options), {"E": edits(count, keys)}
    else:
        made = kernel(query, **options)
        sides = list(made.query.inputs)
        count, size = count // len(sides), size // len(sides)
        given = {name: rows(count, keys, gap, seed) for seed, name in enumerate(sides)}
    state, out = made.init(), 0
    started = time.process_time()
    for start in range(0, count, size):
        batch = {name: each.slice(start, size) for name, each in given.items()}
        step = made.step(state, batch, (start + size - 60) * gap)
        state, out = stored(step.state), out + step.changelog.num_rows
    return count * len(given) / (time.process_time() - started), out, state.rows


def stored(state):
    """Return the state as the next batch reads it: the head through bytes, segments unchanged."""
    head = state.piece("head")
    return State(State.read(lambda name: head).head, state.stores)


def main():
    print(f"{'million rows a second, keys':32}" + "".join(f"{keys:>10,}" for keys in KEYS) + f"{'out':>12}{'kept':>10}")
    for name, query in QUERIES.items():
        keys = [each for each in KEYS if not (name.startswith("join") and each == 1)]
        found = {each: run(query, each) for each in keys}
        cells = "".join(f"{found[each][0] / 1e6:>10.2f}" if each in found else f"{'-':>10}" for each in KEYS)
        print(f"{name:32}{cells}{found[1_000][1]:>12,}{found[1_000][2]:>10,}", flush=True)
    for name, net in (("sum", False), ("sum", True), ("max", False), ("distinct", False)):
        speed, out, kept = run(QUERIES[name], 1_000, 1_600_000, 20_000, 50, net=net)
        told = f"{name}, 20,000 a second{', net' * net}"
        print(f"{told:32}{'-':>10}{speed / 1e6:>10.2f}{'-':>10}{out:>12,}{kept:>10,}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
