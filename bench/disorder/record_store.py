"""The record store against sorting each batch, a heap and a sorted list: rows a second.

Rows arrive disordered by up to a window of 1,000, 100,000 or 1,000,000 rows, in batches of 10,000, and leave in
order of (event, arrival, position) once the punctuation has passed them. Every contender gives the same rows
out; that is checked. The best of three runs counts, except at the largest window.
"""

from __future__ import annotations

import heapq
import time

import numpy as np
from sortedcontainers import SortedList

from slackwater.disorder.papers.record_store import SLOTS, RecordStore

BATCH = 10_000
GAP = 100  # microseconds between rows
WINDOWS = (1_000, 100_000, 1_000_000)


class Store:
    """WIN's two-level index; a p-node is as wide as the window, or a batch if that is more, in 16 parts."""

    def __init__(self, window):
        self.store = RecordStore(max(1, max(window, BATCH) * GAP // (16 * SLOTS)))

    def step(self, event, arrival, punctuation):
        self.store.place(event, arrival)
        return self.store.release(punctuation).row


class SortEachBatch:
    """The rows that wait and the new ones are sorted together, batch by batch."""

    def __init__(self, window):
        self.rows, self.seen = np.empty((3, 0), np.int64), 0

    def step(self, event, arrival, punctuation):
        number = np.arange(self.seen, self.seen + len(event))
        self.seen += len(event)
        rows = np.concatenate((self.rows, np.stack((event, arrival, number))), axis=1)
        rows = rows[:, np.argsort(rows[0], kind="stable")]  # arrivals are in order: a stable sort keeps them so
        cut = np.searchsorted(rows[0], punctuation)
        self.rows = rows[:, cut:]
        return rows[2, :cut]


class Heap:
    """`heapq` of tuples."""

    def __init__(self, window):
        self.heap, self.seen = [], 0

    def step(self, event, arrival, punctuation):
        rows = zip(event.tolist(), arrival.tolist(), range(self.seen, self.seen + len(event)), strict=True)
        self.seen += len(event)
        heap, out = self.heap, []
        for row in rows:
            heapq.heappush(heap, row)
        while heap and heap[0][0] < punctuation:
            out.append(heapq.heappop(heap)[2])
        return out


class Sorted:
    """`sortedcontainers.SortedList` of tuples."""

    def __init__(self, window):
        self.list, self.seen = SortedList(), 0

    def step(self, event, arrival, punctuation):
        rows = zip(event.tolist(), arrival.tolist(), range(self.seen, self.seen + len(event)), strict=True)
        self.seen += len(event)
        self.list.update(rows)
        cut = self.list.bisect_left((punctuation,))
        out = [row[2] for row in self.list[:cut]]
        del self.list[:cut]
        return out


CONTENDERS = {"record store": Store, "sort each batch": SortEachBatch, "heapq": Heap, "sortedcontainers": Sorted}


def stream(window, rows):
    rng = np.random.default_rng(window)
    event = np.arange(rows) * GAP
    arrival = event + rng.integers(0, window * GAP, rows)
    order = np.argsort(arrival, kind="stable")
    return event[order], arrival[order]


def rows_per_second(contender, window, event, arrival):
    """And a digest of what came out, in its order."""
    store, digest, spent = contender(window), 0, 0.0
    for start in range(0, len(event), BATCH):
        batch, clock = event[start : start + BATCH], arrival[start : start + BATCH]
        started = time.perf_counter()
        out = store.step(batch, clock, int(clock[-1]) - window * GAP)
        spent += time.perf_counter() - started
        digest = hash((digest, np.asarray(out, np.int64).tobytes()))
    return len(event) / spent, digest


def main() -> None:
    print(f"{'window':>10} " + "".join(f"{name:>28}" for name in CONTENDERS))
    for window in WINDOWS:
        event, arrival = stream(window, max(300_000, window + window // 2))
        tries = 3 if window < WINDOWS[-1] else 1
        found = {
            name: max(rows_per_second(each, window, event, arrival) for _ in range(tries))
            for name, each in CONTENDERS.items()
        }
        assert len({digest for _, digest in found.values()}) == 1, "they should give the same rows"
        ours = found["record store"][0]
        cells = (f"{rate / 1e6:>10.2f} M/s (1 / {ours / rate:5.1f})" for rate, _ in found.values())
        print(f"{window:>10,} " + "".join(f"{cell:>28}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
