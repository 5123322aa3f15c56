"""Events of a run as the dashboard gets them, without Spark: delays that grow in the middle of the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from slackwater.spark.watermark.statistics import bucket_of

START = 1_794_970_000_000


def records(
    pipeline: str = "fastest", batches: int = 120, *, allowed: float = 0.02, seed: int = 1, start: int = START
) -> Iterator[dict[str, Any]]:
    """Yield the record of a batch of 200 rows for each second, with its late rows counted."""
    rng = np.random.default_rng(seed)
    rows = late = 0
    lag = 1_500.0
    for batch in range(batches):
        delays = rng.exponential(300 if batch < batches // 2 else 700, 200)
        lag = 0.8 * lag + 0.2 * float(np.quantile(delays, 0.995))
        missed = int((delays > lag).sum())
        rows, late = rows + 200, late + missed
        clock = start + 1_000 * batch
        held = np.maximum(lag - delays, 0)
        counted = np.bincount(bucket_of(delays.astype(np.int64)))
        filled = np.flatnonzero(counted)
        yield {
            "kind": "batch", "version": 1, "pipeline": pipeline, "run": "run", "batch": batch, "at": clock + 400,
            "rows_in": 200, "rows_out": 7, "on_time": 200 - missed, "late": missed, "lost": missed // 2, "rejected": 0,
            "suspect": 0, "refused": 0, "rows_read": 0, "held": int(0.2 * lag), "punctuation": int(clock - lag),
            "newest": clock - 20, "clock": clock, "ratio": late / rows, "allowed": allowed,
            "hold": {"p50": float(np.median(held)), "mean": float(held.mean()), "p99": float(np.quantile(held, 0.99))},
            "seconds": 0.4 + 0.1 * float(rng.random()),
            "parts": {"addBatch": 250, "queryPlanning": 70, "walCommit": 30, "commitOffsets": 20, "latestOffset": 5},
            "state_bytes": 2_100_000, "state_rows": 120,
            "streams": [
                {
                    "stream": "Traffic", "allowed": allowed, "rows": rows, "on_time": rows - late, "late": late,
                    "lost": late // 2, "rejected": 0, "suspect": 0, "held": int(0.2 * lag), "held_time": 0,
                    "punctuation": int(clock - lag), "newest": clock - 20, "clock": clock, "silence": 0,
                    "closed": False, "holds": "1% of the last 8,192 rows were later than 3.1 s",
                    "delays": [filled.tolist(), counted[filled].tolist()],
                    "late_rows": [[int(clock - delay), clock] for delay in delays[delays > lag][-5:]],
                    "against": int(clock - lag),
                }
            ],
        }  # fmt: skip
