"""Rows that are shown, or not even that."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from slackwater.spark.batches import Batch
from slackwater.spark.io.sinks.sink import OnRows
from slackwater.spark.options import CHANGELOG, SINK, Table

TABLE = Table("console", (), SINK, prefixes=(CHANGELOG,))


@dataclass(frozen=True, slots=True)
class Shown:
    """Gives rows to whoever shows them."""

    on_rows: OnRows | None

    def open(self, df: DataFrame) -> None:
        """Everything can be shown."""

    def write(self, df: DataFrame, batch: Batch) -> None:
        # The whole batch must run, shown or not, for its rows to be counted and its state to be written.
        rows = df.collect() if self.on_rows is not None else df.foreach(lambda _: None) or []
        if self.on_rows is not None and rows:
            self.on_rows(batch.number, rows)
