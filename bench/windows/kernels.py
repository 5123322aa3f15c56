"""Every kind of window in kernels: rows a second of one core, with 1, 1,000 and 100,000 keys.

1,000,000 rows, one a millisecond, up to 50 ms out of order, in batches of 200,000, the state's head through bytes at
every batch. `kept` is the rows and panes that are kept at the end, with 1,000 keys. Then a window of 5,000,000 rows,
over 8,000,000: what a batch costs, and how many bytes of state it writes, must not grow with it.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pyarrow as pa

from slackwater.engine.chain import ChainKernel
from slackwater.engine.columns.state import State
from slackwater.engine.plan import (
    AggregateStep,
    Call,
    Chain,
    FrequencyStep,
    Input,
    NamedTree,
    Size,
    SubqueryStep,
    WindowStep,
)

ROWS, BATCH, KEYS = 1_000_000, 200_000, (1, 1_000, 100_000)
MS, SECOND = 1_000, 1_000_000
BEHIND = 60 * MS
INPUT = Input((("k", "int"), ("x", "double"), ("ts", "timestamp")), "ts")
K, X = NamedTree("k", ("column", "k"), "int"), ("column", "x")


def tuples(amount):
    return Size(amount, False)


def ticks(amount):
    return Size(amount, True)


def window(range_, every, *by):
    return WindowStep(range_, every, by, by)


def grouped(function):
    distinct = function == "distinct"
    return AggregateStep(
        (K,), (Call("a", "count" if distinct else function, () if function == "count" else (X,), distinct=distinct),)
    )


EACH, MINUTE = tuples(1), ticks(60 * SECOND)
RATE = AggregateStep((K,), (Call("x", "count", (), "bigint"),))
SAMPLE = FrequencyStep(tuples(10), ("k",))
KINDS = {
    "reorder only": [],
    "sample 10 tuples by key": [SAMPLE],
    "sample 1 second by key": [FrequencyStep(ticks(SECOND), ("k",))],
    "RANGE 1 minute: AVG": [window(MINUTE, EACH), grouped("avg")],
    "RANGE 1 minute: COUNT(*)": [window(MINUTE, EACH), grouped("count")],
    "RANGE 1 minute: MAX": [window(MINUTE, EACH), grouped("max")],
    "RANGE 1 minute: STDDEV": [window(MINUTE, EACH), grouped("stddev_samp")],
    "RANGE 1 minute: FIRST": [window(MINUTE, EACH), grouped("first")],
    "RANGE 1 minute: COUNT DISTINCT": [window(MINUTE, EACH), grouped("distinct")],
    "RANGE 1000 tuples: AVG": [window(tuples(1000), EACH), grouped("avg")],
    "RANGE 10 tuples by key: AVG": [window(tuples(10), EACH, "k"), grouped("avg")],
    "1000 tuples every 10000: AVG": [window(tuples(1000), tuples(10_000)), grouped("avg")],
    "10000 tuples every 1000: AVG": [window(tuples(10_000), tuples(1000)), grouped("avg")],
    "10 seconds every 10000: AVG": [window(ticks(10 * SECOND), tuples(10_000)), grouped("avg")],
    "1000 tuples every 10 s: AVG": [window(tuples(1000), ticks(10 * SECOND)), grouped("avg")],
    "RANGE 10 s SLIDE 10 s: AVG": [window(ticks(10 * SECOND), ticks(10 * SECOND)), grouped("avg")],
    "RANGE 60 s SLIDE 10 s: AVG": [window(MINUTE, ticks(10 * SECOND)), grouped("avg")],
    "RANGE 60 s SLIDE 10 s: MAX": [window(MINUTE, ticks(10 * SECOND)), grouped("max")],
    "nested, CSQL query 4": [
        window(MINUTE, EACH),
        RATE,
        SAMPLE,
        SubqueryStep(),
        window(ticks(3600 * SECOND), EACH),
        grouped("avg"),
        FrequencyStep(MINUTE, ("k",)),
    ],
}


def rows(keys, count=ROWS, first=0, seed=1):
    """Return rows, one per millisecond, each up to 50 ms late."""
    rng = np.random.default_rng(seed)
    times = (np.arange(first, first + count) - rng.integers(0, 50, count)) * MS
    arrays = [pa.array(rng.integers(0, keys, count).astype(np.int32)), pa.array(rng.random(count) * 100)]
    return pa.record_batch([*arrays, pa.array(times).cast(pa.timestamp("us", "UTC"))], names=["k", "x", "ts"])


def kernel(steps):
    return ChainKernel(Chain(INPUT, tuple(steps)))


def run(steps, keys):
    """Return the rows per second on one core, the rows of the output, and the size of the state."""
    fused, given, out = kernel(steps), rows(keys), 0
    state = fused.init()
    started = time.process_time()
    for start in range(0, ROWS, BATCH):
        state, output = fused.step(state, given.slice(start, BATCH), (start + BATCH) * MS - BEHIND)
        state = stored(state)
        out += output.num_rows
    return ROWS / (time.process_time() - started), out, state.rows


def stored(state):
    """Return the state as the next batch reads it: the head through bytes, segments unchanged."""
    head, segments = state.piece("head"), {}
    found = State.read(lambda name: head if name == "head" else segments[name])
    return State(found.head, state.stores)


def flat():
    """Milliseconds and bytes per batch while a window fills, and then slides."""
    fused = kernel([window(ticks(5_000_000 * MS), EACH), grouped("avg")])
    state, known = fused.init(), set()
    print(f"\n{'rows so far':>14}{'rows kept':>12}{'ms a batch':>12}{'MB written':>12}{'MB of state':>13}")
    for number in range(8_000_000 // BATCH):
        given = rows(1_000, BATCH, number * BATCH, number)
        started = time.process_time()
        state = fused.step(state, given, (number + 1) * BATCH * MS - BEHIND).state
        taken = time.process_time() - started
        written = sum(len(state.piece(name)) for name in state.names() if name not in known or name == "head")
        known = set(state.names())
        if number % 5 == 4:
            size = sum(len(state.piece(name)) for name in state.names())
            cells = (f"{(number + 1) * BATCH:,}", f"{state.rows:,}", f"{taken * 1000:.0f}")
            print("{:>14}{:>12}{:>12}{:>12.1f}{:>13.1f}".format(*cells, written / 1e6, size / 1e6), flush=True)


def main():
    print(
        f"{'million rows a second, keys':32}"
        + "".join(f"{keys:>12,}" for keys in KEYS)
        + f"{'rows out':>13}{'kept':>10}"
    )
    for name, steps in KINDS.items():
        found = [run(steps, keys) for keys in KEYS]
        cells = "".join(f"{speed / 1e6:>12.2f}" for speed, _, _ in found)
        print(f"{name:32}{cells}{found[1][1]:>13,}{found[1][2]:>10,}", flush=True)
    flat()


if __name__ == "__main__":
    sys.exit(main())
