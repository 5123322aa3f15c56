"""A table in the session, for notebooks and tests."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import DataFrame

from slackwater.spark.batches import Batch


@dataclass(frozen=True, slots=True)
class Memory:
    """Keeps every row on the driver and shows them as a temporary view of the sink's name."""

    name: str
    batches: dict[int, pa.Table] = field(default_factory=dict)

    def open(self, df: DataFrame) -> None:
        self._show(df, df.sparkSession.createDataFrame([], df.schema))

    def write(self, df: DataFrame, batch: Batch) -> None:
        self.batches[batch.number] = df.toArrow()
        rows = pa.concat_tables(self.batches.values())
        self._show(df, df.sparkSession.createDataFrame(rows, df.schema))

    def _show(self, df: DataFrame, rows: DataFrame) -> None:
        rows.createOrReplaceTempView(self.name)
