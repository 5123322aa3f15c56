"""A sink that passes rows to a function that shows them, or drops them."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructField, TimestampNTZType, TimestampType

from slackwater.spark.batches import DeliveredBatch
from slackwater.spark.io.sinks.sink import OnRows
from slackwater.spark.options import CHANGELOG, SINK, OptionTable
from slackwater.spark.relation import quote

TABLE = OptionTable("console", (), SINK, prefixes=(CHANGELOG,))
LAST = "9999-12-31 23:59:59.999999"
"""The last moment that Python has a `datetime` for. A window of a row at the end of 9999 ends after it."""


@dataclass(frozen=True, slots=True)
class ShownSink:
    """Calls `on_rows` with the rows of each batch."""

    on_rows: OnRows | None

    def open(self, df: DataFrame) -> None:
        """Check nothing: all columns can be shown."""

    def write(self, df: DataFrame, batch: DeliveredBatch) -> None:
        # Run the whole batch even if nobody shows it: its rows must be counted and its state written.
        rows = _within_9999(df).collect() if self.on_rows is not None else df.foreach(lambda _: None) or []
        if self.on_rows is not None and rows:
            self.on_rows(batch.number, rows)


def _within_9999(df: DataFrame) -> DataFrame:
    """Return rows in which a time after the year 9999 is the last moment of it."""
    return df.select(*map(_limited, df.schema))


def _limited(field: StructField) -> Column:
    column = F.col(quote(field.name))
    if not isinstance(field.dataType, TimestampType | TimestampNTZType):
        return column
    last = F.lit(LAST).cast(field.dataType)
    return F.when(column > last, last).otherwise(column).alias(field.name)
