"""A sink that passes rows to a function that shows them, or drops them."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from slackwater.spark.batches import DeliveredBatch
from slackwater.spark.io.sinks.sink import OnRows
from slackwater.spark.options import CHANGELOG, SINK, OptionTable

TABLE = OptionTable("console", (), SINK, prefixes=(CHANGELOG,))


@dataclass(frozen=True, slots=True)
class ShownSink:
    """Calls `on_rows` with the rows of each batch."""

    on_rows: OnRows | None

    def open(self, df: DataFrame) -> None:
        """Check nothing: all columns can be shown."""

    def write(self, df: DataFrame, batch: DeliveredBatch) -> None:
        # Run the whole batch even if nobody shows it: its rows must be counted and its state written.
        rows = df.collect() if self.on_rows is not None else df.foreach(lambda _: None) or []
        if self.on_rows is not None and rows:
            self.on_rows(batch.number, rows)
