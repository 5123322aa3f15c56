"""Batches as a query's checkpoint knows them: what a sink must know to write each one once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from slackwater.spark.store import Location


@dataclass(frozen=True, slots=True)
class DeliveredBatch:
    """One batch. `run` is the same for as long as the checkpoint is; punctuations, in ms, act on all its streams.

    `punctuation` is the one that acted in the batch: rows behind it were late, extents up to it were emitted.
    `before` is the one that acted in the batch before. `time`, in ms, is when the batch was first begun.
    """

    number: int
    run: str
    punctuation: int = 0
    before: int = 0
    time: int = 0


def batch_of(checkpoint: Location, number: int) -> DeliveredBatch:
    """Return the batch that a query is at, as its logs have it: the same however often the batch is repeated."""
    run = json.loads((checkpoint / "metadata").text() or "{}")["id"]
    logged = _logged(checkpoint, number)
    before = watermark_of(checkpoint, number - 1)
    return DeliveredBatch(number, run, logged["batchWatermarkMs"], before, logged["batchTimestampMs"])


def watermark_of(checkpoint: Location, number: int) -> int:
    """Return the watermark in a batch, in ms; 0 before the first batch."""
    return int(_logged(checkpoint, number)["batchWatermarkMs"]) if number >= 0 else 0


def partitions_kept(checkpoint: Location) -> int | None:
    """Return the number of shuffle partitions that a checkpoint began with, and keeps; None of a new one."""
    last = last_batch(checkpoint, "offsets")
    if last is None:
        return None
    try:
        return int(_logged(checkpoint, last)["conf"]["spark.sql.shuffle.partitions"])
    except (ValueError, KeyError):  # a torn log: Spark says so when it reads it
        return None


def last_batch(checkpoint: Location, log: str = "commits") -> int | None:
    """Return the last batch that was done, or that another log of the query knows, if there was any."""
    return max((int(each.name) for each in (checkpoint / log).list(r"\d+")), default=None)


def _logged(checkpoint: Location, number: int) -> dict[str, Any]:
    """What Spark logged of a batch before it began: of the log's lines, the second holds what is not an offset."""
    _, metadata, *_ = ((checkpoint / "offsets" / str(number)).text() or "").split("\n", 2)
    found: dict[str, Any] = json.loads(metadata)
    return found
