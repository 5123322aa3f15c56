"""Where a pipeline's rows go."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql import DataFrame, Row
from pyspark.sql.streaming.readwriter import DataStreamWriter

from slackwater.algebra.catalog import SinkDef

OnRows = Callable[[int, Sequence[Row]], None]
"""Called with a batch's number and its rows; again with the same number if a batch is repeated after a fault."""
OWN_FORMATS = ("console",)
"""Formats that are not Spark's own writers."""
SHOWN = 1_000
"""Of a batch that is shown, at most so many rows are fetched."""


def writer(df: DataFrame, name: str, sink: SinkDef | None, on_rows: OnRows | None) -> DataStreamWriter:
    """The writer of a pipeline: rows that are shown go to `on_rows`, other formats are Spark's, options untouched."""
    write = df.writeStream.outputMode("append")
    if sink is None or sink.format.lower() in OWN_FORMATS:
        return write.foreachBatch(_shown(on_rows)).queryName(name)
    return write.format(sink.format).options(**sink.options).queryName(name)


def _shown(on_rows: OnRows | None) -> Callable[[DataFrame, int], None]:
    def show(df: DataFrame, batch: int) -> None:
        # The whole batch must run, shown or not, for its rows to be counted and its state to be written.
        rows = df.collect() if on_rows is not None else df.foreach(lambda _: None) or []
        if on_rows is not None and rows:
            on_rows(batch, rows[:SHOWN])

    return show
