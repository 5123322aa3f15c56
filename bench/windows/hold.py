"""Where a row waits: the engine's segments against the record store of WIN, and what each would write to a checkpoint.

Rows arrive disordered by up to a window of 1,000, 100,000 or 1,000,000 rows, in batches of 10,000 and 100,000, and
leave in the order of (event, arrival, position) once the punctuation has passed them. Both give the same rows out;
that is checked. `pieces` and `MB` are what a batch writes, on average, if what waits is kept in pieces that are written
once: segments as they are, of the record store every piece of a batch that a p-node takes in.
"""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa

from bench.disorder.record_store import GAP, WINDOWS, stream
from slackwater.disorder.papers.record_store import SLOTS, RecordStore
from slackwater.engine.columns.arrays import in_sequence, picked
from slackwater.engine.columns.state import Store

BATCHES = (10_000, 100_000)
ROW_BYTES = 24


class Segments:
    """As `engine.operators.hold.Hold` keeps rows: those that are due go straight on, the others become segments."""

    def __init__(self, window, batch):
        self.store, self.seen, self.pieces, self.rows = Store("time"), 0, 0, 0

    def step(self, event, arrival, punctuation):
        number = np.arange(self.seen, self.seen + len(event))
        self.seen += len(event)
        given = pa.record_batch({"time": event, "arrival": arrival, "row": number})
        ready = event < punctuation
        before = {segment.number for segment in self.store.segments}
        waiting, store = self.store.due(punctuation - 1)
        self.store = store.add(picked(given, ~ready))
        new = [segment for segment in self.store.segments if segment.number not in before]
        self.pieces, self.rows = self.pieces + len(new), self.rows + sum(segment.size for segment in new)
        out = picked(given, ready)
        out = out if waiting is None else pa.concat_batches([waiting, out])
        columns = [out.column(name).to_numpy() for name in ("time", "arrival", "row")]
        order = in_sequence(*columns)
        return columns[2] if order is None else columns[2][order]


class PNodes:
    """WIN's two-level index; a p-node is as wide as the window, or a batch if that is more, in 16 parts."""

    def __init__(self, window, batch):
        self.store, self.pieces, self.rows = RecordStore(max(1, max(window, batch) * GAP // (16 * SLOTS))), 0, 0

    def step(self, event, arrival, punctuation):
        self.store.place(event, arrival)
        out = self.store.release(punctuation).row
        waits = event[event >= punctuation]
        self.pieces += len(np.unique(waits // self.store._span))
        self.rows += len(waits)
        return out


def run(contender, window, batch, event, arrival):
    """Return the rows per second, a digest of the output, and the bytes that a batch writes."""
    store, digest, spent = contender(window, batch), 0, 0.0
    starts = range(0, len(event), batch)
    for start in starts:
        rows, clock = event[start : start + batch], arrival[start : start + batch]
        started = time.process_time()
        out = store.step(rows, clock, int(clock[-1]) - window * GAP)
        spent += time.process_time() - started
        digest = hash((digest, np.asarray(out, np.int64).tobytes()))
    return len(event) / spent / 1e6, digest, store.pieces / len(starts), store.rows * ROW_BYTES / len(starts) / 1e6


def main() -> None:
    print(f"{'window':>10}{'batch':>9}{'segments':>12}{'record store':>14}{'pieces, MB':>16}{'pieces, MB':>16}")
    for window in WINDOWS:
        for batch in BATCHES:
            event, arrival = stream(window, max(1_000_000, window + window // 2))
            found = [max(run(each, window, batch, event, arrival) for _ in range(3)) for each in (Segments, PNodes)]
            assert found[0][1] == found[1][1], "they should give the same rows"
            cells = "".join(f"{pieces:>10.1f}{size:>6.2f}" for _, _, pieces, size in found)
            print(f"{window:>10,}{batch:>9,}{found[0][0]:>8.2f} M/s{found[1][0]:>10.2f} M/s{cells}", flush=True)


if __name__ == "__main__":
    main()
