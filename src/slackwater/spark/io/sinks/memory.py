"""A table in the session, for notebooks and tests."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from slackwater.spark.batches import DeliveredBatch


@dataclass(slots=True)
class MemorySink:
    """Keeps every row on the driver and shows them as a temporary view of the sink's name."""

    name: str
    batches: dict[int, pa.Table] = field(default_factory=dict)
    session: SparkSession | None = None

    def open(self, df: DataFrame) -> None:
        # Batches come in the query's own session, whose views are not visible elsewhere.
        self.session = df.sparkSession
        self.session.createDataFrame([], df.schema).createOrReplaceTempView(self.name)

    def write(self, df: DataFrame, batch: DeliveredBatch) -> None:
        self.batches[batch.number] = df.toArrow()
        # Spark stops reading at an empty chunk.
        rows = pa.concat_tables(self.batches.values()).combine_chunks()
        assert self.session is not None  # noqa: S101
        self.session.createDataFrame(rows, df.schema).createOrReplaceTempView(self.name)
