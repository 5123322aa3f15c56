"""The log of a kept view: a folder with a file for every batch, which has its rows and its punctuation.

Both are in one file, so that a reader gets both or neither: the rows of a batch are those that its punctuation passed.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from slackwater.algebra.lengths import TICKS_PER_MS
from slackwater.algebra.nodes import Frequency, Plan, inputs
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.properties.instants import is_jump
from slackwater.spark.batches import DeliveredBatch
from slackwater.spark.relation import quote
from slackwater.spark.store import Location
from slackwater.spark.watermark.rows_host import CLOCK

TIMESTAMP = pa.timestamp("us", "UTC")


def read_log(session: SparkSession, folder: Location, plan: Plan) -> DataFrame:
    """Return the log of a view with this plan as a stream: rows, and rows with only a punctuation."""
    columns = [f"{quote(field.name)} {field.type}" for field in schema_of(plan)]
    folder.make()
    schema = ", ".join([*columns, f"{CLOCK} timestamp"])
    # Compare only file names: a log that was moved together with its readers' checkpoints is not read again.
    return session.readStream.schema(schema).option("fileNameOnly", "true").parquet(str(folder))


@dataclass(frozen=True, slots=True)
class LogSink:
    """Writes a view's batches. A batch that exists is not written again: it is the same, and readers may have it."""

    folder: Location
    plan: Plan

    def open(self, df: DataFrame) -> None:
        self.folder.make()

    def write(self, df: DataFrame, batch: DeliveredBatch) -> None:
        # Run the whole batch even if its file exists: its rows must be counted and its state written.
        rows = df.toArrow()
        clock, before = (punctuation_of(self.plan, mark * TICKS_PER_MS) for mark in (batch.punctuation, batch.before))
        file = self.folder / f"{batch.number:09d}.parquet"
        if file.exists() or (clock == before and not rows.num_rows):
            return
        content = BytesIO()
        # One row group, so that one task reads the rows in their order.
        pq.write_table(_with_clock(rows, clock), content, row_group_size=rows.num_rows + 1)
        file.write(content.getvalue())


def punctuation_of(plan: Plan, mark: int) -> int:
    """Return the punctuation of a plan's result, where `mark` is the punctuation of its streams.

    They differ for samples by time: the last row of a slot is known only when the slot has passed.

    >>> from slackwater.algebra.lengths import Kind, Length
    >>> from slackwater.algebra.nodes import Scan
    >>> punctuation_of(Frequency(Scan("S", "S", (), "ts"), Length(10, Kind.TIME)), 29)
    20
    """
    below = min((punctuation_of(each, mark) for each in inputs(plan)), default=mark)
    match plan:
        case Frequency(every=every, strict=False) if every.is_time and not is_jump(plan):
            return below - below % every.amount
    return below


def _with_clock(rows: pa.Table, clock: int) -> pa.Table:
    schema = pa.schema([field.with_nullable(True) for field in rows.schema])
    marked = rows.cast(schema).append_column(CLOCK, pa.nulls(rows.num_rows, TIMESTAMP))
    mark = {field.name: pa.nulls(1, field.type) for field in schema} | {CLOCK: pa.array([clock], TIMESTAMP)}
    return pa.concat_tables([marked, pa.table(mark, marked.schema)])
