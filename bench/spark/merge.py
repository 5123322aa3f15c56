"""How much processor time the driver takes to merge what the tasks of a batch tell, by the number of tasks."""

from __future__ import annotations

import time
import tracemalloc

import numpy as np

from slackwater.spark.watermark.policy import policy_of
from slackwater.spark.watermark.punctuate import Controlled
from slackwater.spark.watermark.readings import ADDED_UP, Batch, Reading, read_parts

TASKS = (10, 100, 1_000, 2_000)
ROWS = 1_000
"""Rows of a task. What a task sends grows with its distinct event times and stops at 131,072 of them."""
LAST = 1_024
REPEATS = 3
HALF = 1 << 16
"""Half of the numbers that a gauge counts by their place."""


def main() -> None:
    print(f"{'tasks':>6} {'rows':>10} {'sent':>9} {'merge':>8} {'and step':>9} {'memory':>9}")
    for tasks in TASKS:
        parts = [reading(task, batch=1) for task in range(tasks)]
        sent = sum(map(len, parts))
        merged, stepped = min(timed(parts) for _ in range(REPEATS))
        print(
            f"{tasks:>6} {tasks * ROWS:>10,} {sent / 2**20:>6.1f} MB {merged:>6.2f} s {stepped:>7.2f} s "
            f"{peak(parts) / 2**20:>6.0f} MB"
        )


def timed(parts: list[bytes]) -> tuple[float, float]:
    """Return the seconds of processor time that it takes to merge the readings, and to step the controller too."""
    controlled = Controlled(policy_of("1%"), in_arrival_order=True, kept=None)
    event, arrival = rows(0, batch=0)
    controlled.enter(Reading(Batch(ROWS, event, arrival)))
    began = time.process_time()
    merged = read_parts(parts, in_arrival_order=True)
    between = time.process_time()
    controlled.enter(merged)
    return between - began, time.process_time() - began


def peak(parts: list[bytes]) -> int:
    """Return the bytes that merging takes beyond what was sent."""
    tracemalloc.start()
    read_parts(parts, in_arrival_order=True)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def reading(task: int, batch: int) -> bytes:
    """Return what a gauge writes of a task's rows."""
    event, arrival = rows(task, batch)
    late = int(np.count_nonzero(event < 0))
    head = [batch, task, ROWS, 0, *[np.iinfo(np.int64).min] * 3, ADDED_UP]
    sums = [
        late,
        0,
        0,
        ROWS - late,
        int(arrival.sum()),
        arrival.max(),
        event.max(),
        event.min(),
        arrival.min(),
        event.max(),
    ]
    values = [*head, *sums, *counted(event), *counted(arrival - event), *listed(event), *listed(arrival)]
    return np.array(values, "<i8").tobytes()


def rows(task: int, batch: int) -> tuple[np.ndarray, np.ndarray]:
    """Return event times and arrivals; the rows of all tasks of a batch are of the same minute."""
    rng = np.random.default_rng(task)
    arrival = 1_700_000_000_000 + batch * 60_000 + np.sort(rng.integers(0, 60_000, ROWS))
    return arrival - rng.exponential(2_000, ROWS).astype(np.int64), arrival


def counted(values: np.ndarray) -> list[int]:
    base = int(values[0]) - HALF
    found, count = np.unique(values, return_counts=True)
    return [base, len(found), *(((found - base) << 32) | count).tolist(), 0]


def listed(values: np.ndarray) -> list[int]:
    last = values[-LAST:]
    return [len(last), *last.tolist()]


if __name__ == "__main__":
    main()
