"""The protocol of our own sinks: they take whole batches, and writing a batch twice is the same as writing it once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from pyspark.sql import DataFrame, Row

from slackwater.spark.batches import DeliveredBatch

OnRows = Callable[[int, Sequence[Row]], None]
"""Called with the number and the rows of a batch; again with the same number if a batch is repeated after a fault."""


class Sink(Protocol):
    """Takes the rows of a pipeline, batch by batch."""

    def open(self, df: DataFrame) -> None:
        """Raise an error, before the query starts, if rows with these columns cannot be written."""

    def write(self, df: DataFrame, batch: DeliveredBatch) -> None:
        """Write the rows of a batch. A batch that was written before is skipped, or overwritten as a whole."""
