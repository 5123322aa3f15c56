"""Batches as the checkpoint of a query records them: what a sink needs to write each one once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pyspark import TaskContext

from slackwater.spark.store import Location

BATCH_ID = "streaming.sql.batchId"
"""The local property of a task in which Spark leaves the number of its batch."""


@dataclass(frozen=True, slots=True)
class DeliveredBatch:
    """One batch. `run` is Spark's id of the query, which stays the same as long as the checkpoint is kept.

    `punctuation`, in ms, is the one that acted in the batch: rows before it were late, extents up to it were emitted.
    `before` is the one that acted in the batch before. `time`, in ms, is when the batch first began.
    """

    number: int
    run: str
    punctuation: int = 0
    before: int = 0
    time: int = 0


def batch_of(checkpoint: Location, number: int) -> DeliveredBatch:
    """Return a batch from the logs of its query. A batch that is repeated has the same values."""
    run = json.loads((checkpoint / "metadata").text() or "{}")["id"]
    logged = _logged(checkpoint, number)
    before = watermark_of(checkpoint, number - 1)
    return DeliveredBatch(number, run, logged["batchWatermarkMs"], before, logged["batchTimestampMs"])


def watermark_of(checkpoint: Location, number: int) -> int:
    """Return the watermark in a batch, in ms; 0 before the first batch."""
    return int(_logged(checkpoint, number)["batchWatermarkMs"]) if number >= 0 else 0


def partitions_kept(checkpoint: Location) -> int | None:
    """Return the number of shuffle partitions that a checkpoint began with and keeps; None if it is new."""
    last = last_batch(checkpoint, "offsets")
    if last is None:
        return None
    try:
        return int(_logged(checkpoint, last)["conf"]["spark.sql.shuffle.partitions"])
    except (ValueError, KeyError):  # a torn log: Spark reports it when it reads it
        return None


def last_batch(checkpoint: Location, log: str = "commits") -> int | None:
    """Return the number of the last batch in a log of the query, by default of completed batches; None if empty."""
    return max((int(each.name) for each in (checkpoint / log).list(r"\d+")), default=None)


def _logged(checkpoint: Location, number: int) -> dict[str, Any]:
    """Return the metadata that Spark logged before a batch began: the second line of its offset log."""
    _, metadata, *_ = ((checkpoint / "offsets" / str(number)).text() or "").split("\n", 2)
    found: dict[str, Any] = json.loads(metadata)
    return found


def current_batch(context: TaskContext | None) -> int:
    """Return the number of the batch that a task belongs to; 0 outside of a streaming query."""
    told = context.getLocalProperty(BATCH_ID) if context is not None else None
    return int(told or 0)
