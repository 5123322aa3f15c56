"""CSQL figures 3 and 4: a frequency that is pushed into its window, against the window-id approach of Li et al.

`RANGE W TUPLES, FREQUENCY F TUPLES`, AVG, over rows in order, as in the paper. The window-id approach numbers the rows,
gives each a copy for every window that it is in, and groups the copies by window id: the same check of the order and
the same aggregate, so that only the sampling differs. The answers are compared. Processor time, in turns, best of five.
The process keeps the memory that it frees: without that, page faults of newly allocated arrays decide the ratio.
Then the same over rows that are up to 50 ms out of order, which both have to hold back and put in order.

Figure 5: mixed jumping windows, RANGE in seconds and FREQUENCY in tuples, which window ids cannot express: milliseconds
per answer. `python -m bench.windows.frequency --pages` writes docs/experiments/csql-figures-3-to-5.md.
"""

from __future__ import annotations

import ctypes
import sys
import time

import numpy as np
import pyarrow as pa

from bench.windows.kernels import MS, SECOND, K, X, kernel, ticks, tuples, window
from slackwater.engine.plan import AggregateStep, Call

ROWS, BATCH, KEYS = 600_000, 200_000, 100
FREQUENCIES = (100, 1_000, 10_000, 100_000)
SHARES = (0.1, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0)
SPANS = (1, 10, 60)
TURNS = 5
LATEST = 50
"""Milliseconds that a row of the disordered stream can be late."""


def keep_freed_memory():
    """Tell glibc to reuse the memory of large arrays instead of returning it to the system."""
    trim_threshold, mmap_threshold = -1, -3  # names of mallopt(3)
    for threshold in (trim_threshold, mmap_threshold):
        ctypes.CDLL(None).mallopt(threshold, 2**30)


def ordered_rows():
    """Return rows in order, one per millisecond."""
    rng = np.random.default_rng(1)
    times = pa.array(np.arange(ROWS) * MS).cast(pa.timestamp("us", "UTC"))
    keys = pa.array(rng.integers(0, KEYS, ROWS).astype(np.int32))
    return pa.record_batch([keys, pa.array(rng.random(ROWS) * 100), times], names=["k", "x", "ts"])


def disordered_rows():
    """Return the same rows as they arrive if each is up to `LATEST` late."""
    given = ordered_rows()
    late = np.random.default_rng(2).integers(0, LATEST, ROWS)
    return given.take(pa.array(np.argsort(np.arange(ROWS) + late, kind="stable")))


def punctuations(given):
    """Batches, and the punctuation up to which all rows have come."""
    times = np.maximum.accumulate(given.column("ts").cast(pa.int64()).to_numpy())
    behind = 0 if (np.diff(given.column("ts").cast(pa.int64()).to_numpy()) > 0).all() else LATEST
    for start in range(0, ROWS, BATCH):
        last = start + BATCH >= ROWS
        yield given.slice(start, BATCH), int(times[min(start + BATCH, ROWS) - 1]) + MS - (0 if last else behind * MS)


def average(grouped):
    return AggregateStep((K,) if grouped else (), (Call("a", "avg", (X,), "double"),))


def pushed(length, every, grouped):
    """Return one kernel whose window is evaluated at every n-th row, and which keeps only the rows that it needs."""
    fused = kernel([window(tuples(length), tuples(every)), average(grouped)])
    return lambda given: drive(fused, given)


def mixed(span, every, grouped):
    fused = kernel([window(ticks(span * SECOND), tuples(every)), average(grouped)])
    return lambda given: drive(fused, given)


def drive(fused, given):
    """Run every batch of a stream through one kernel and return its answers."""
    state, found = fused.init(), []
    for batch, punctuation in given:
        state, output = fused.step(state, batch, punctuation)
        found.append(output)
    return pa.Table.from_batches(found)


def by_window_id(length, every, grouped):
    """Return kernels that tag each row with the ids of its windows and aggregate per id until the window ends."""
    ordered, tallied = kernel([]), kernel([window(ticks(1), ticks(1)), average(grouped)])

    def run(given):
        waiting, open_, found, number = ordered.init(), tallied.init(), [], 0
        for batch, punctuation in given:
            waiting, output = ordered.step(waiting, batch, punctuation)
            copies = tagged(output, number, length, every)
            number += output.num_rows
            open_, made = tallied.step(open_, copies, number // every + 1)
            found.append(made)
        return pa.Table.from_batches(found)

    return run


def tagged(ordered, before, length, every):
    """Return a copy of each row for each of its windows, with their ids as times. Window i ends at row i * every."""
    number = np.arange(before + 1, before + 1 + ordered.num_rows)
    first, after = -(-number // every), -(-(number + length) // every)
    copies = np.maximum(after - first, 0)
    row = np.repeat(np.arange(ordered.num_rows), copies)
    ids = first[row] + np.arange(len(row)) - np.repeat(np.cumsum(copies) - copies, copies)
    taken = ordered.select(["k", "x"]).take(pa.array(row))
    return pa.record_batch([*taken.columns, pa.array(ids).cast(pa.timestamp("us", "UTC"))], names=["k", "x", "ts"])


def compared(one, two, given):
    """Processor seconds of both, in turns: the best of each; and how many answers there were."""
    best = [np.inf, np.inf]
    for _ in range(TURNS):
        for which, run in enumerate((one, two)):
            started = time.process_time()
            found = run(given)
            best[which] = min(best[which], time.process_time() - started)
            if which == 0:
                wanted = found
    assert same(wanted, found)
    return best[0], best[1], wanted.num_rows


def same(one, two):
    return one.column("a").to_pylist() == two.column("a").to_pylist()


def ratios(grouped, rows=None):
    given = list(punctuations(ordered_rows() if rows is None else rows))
    found = {}
    for every in FREQUENCIES:
        for share in SHARES:
            length = int(every * share)
            ours, theirs, _ = compared(pushed(length, every, grouped), by_window_id(length, every, grouped), given)
            found[every, share] = ours / theirs
    return found


def shown(found, title):
    print(f"\n{title}\n{'W/F':>6}" + "".join(f"{f'F = {every:,}':>14}" for every in FREQUENCIES))
    for share in SHARES:
        print(f"{share:>6.0%}" + "".join(f"{found[every, share]:>14.2f}" for every in FREQUENCIES), flush=True)


def costs():
    """Milliseconds per answer row of mixed jumping windows, by seconds and frequency."""
    given, found = list(punctuations(ordered_rows())), {}
    for span in SPANS:
        for every in FREQUENCIES:
            started = time.process_time()
            answers = mixed(span, every, False)(given).num_rows
            found[span, every] = (time.process_time() - started) * 1000 / answers
    print(f"\nfigure 5, ms per answer\n{'RANGE':>10}" + "".join(f"{f'F = {every:,}':>14}" for every in FREQUENCIES))
    for span in SPANS:
        print(f"{span:>8} s" + "".join(f"{found[span, every]:>14.3f}" for every in FREQUENCIES), flush=True)
    return found


def main():
    keep_freed_memory()
    plain, grouped = ratios(False), ratios(True)
    shown(plain, "figure 3, pushed down / window id")
    shown(grouped, f"figure 4, the same with GROUP BY, {KEYS} keys")
    late = [ratios(grouped, disordered_rows()) for grouped in (False, True)]
    shown(late[0], f"up to {LATEST} ms out of order")
    shown(late[1], f"up to {LATEST} ms out of order, with GROUP BY")
    return plain, grouped, late, costs()


if __name__ == "__main__":
    figures = main()
    if "--pages" in sys.argv:
        from bench.windows.page import write

        write(*figures)
