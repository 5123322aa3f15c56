"""What a sink of our own is: it takes whole batches, and taking one twice is taking it once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from pyspark.sql import DataFrame, Row

from slackwater.spark.batches import Batch

OnRows = Callable[[int, Sequence[Row]], None]
"""Called with a batch's number and its rows; again with the same number if a batch is repeated after a fault."""


class Sink(Protocol):
    """Where the rows of a pipeline go, batch by batch."""

    def open(self, df: DataFrame) -> None:
        """Before the query starts: what would keep rows with these columns from being written is an error."""

    def write(self, df: DataFrame, batch: Batch) -> None:
        """Writes the rows of a batch; a batch that was written before is left, or written over as a whole."""
