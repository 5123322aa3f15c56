"""Batches as a query's checkpoint knows them: what a sink must know to write each one once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch. `run` is the same for as long as the checkpoint is; punctuations, in ms, act on all its streams.

    `punctuation` is the one that acted in the batch: rows behind it were late, extents up to it were emitted.
    `before` is the one that acted in the batch before. `time`, in ms, is when the batch was first begun.
    """

    number: int
    run: str
    punctuation: int = 0
    before: int = 0
    time: int = 0


def batch_of(checkpoint: Path, number: int) -> Batch:
    """The batch that a query is at, as its logs have it: the same however often the batch is repeated."""
    run = json.loads((checkpoint / "metadata").read_text())["id"]
    logged = _logged(checkpoint, number)
    before = _logged(checkpoint, number - 1)["batchWatermarkMs"] if number else 0
    return Batch(number, run, logged["batchWatermarkMs"], before, logged["batchTimestampMs"])


def partitions_kept(checkpoint: Path) -> int | None:
    """Return the number of shuffle partitions that a checkpoint began with, and keeps; None of a new one."""
    last = last_batch(checkpoint, "offsets")
    if last is None:
        return None
    try:
        return int(_logged(checkpoint, last)["conf"]["spark.sql.shuffle.partitions"])
    except (ValueError, KeyError):  # a torn log: Spark says so when it reads it
        return None


def last_batch(checkpoint: Path, log: str = "commits") -> int | None:
    """The last batch that was done, or that another log of the query knows, if there was any."""
    return max((int(each.name) for each in checkpoint.glob(f"{log}/[0-9]*")), default=None)


def _logged(checkpoint: Path, number: int) -> dict[str, Any]:
    """What Spark logged of a batch before it began: of the log's lines, the second holds what is not an offset."""
    _, metadata, *_ = (checkpoint / "offsets" / str(number)).read_text().split("\n", 2)
    found: dict[str, Any] = json.loads(metadata)
    return found
