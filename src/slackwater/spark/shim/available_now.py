"""Queries that read the available rows and end, on every version of Spark."""

from __future__ import annotations

from threading import Thread

from pyspark.errors import PySparkException
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from slackwater.spark.shim.reader import TELLS_AVAILABLE_NOW


def start_available_now(write: DataStreamWriter) -> StreamingQuery:
    """Start a query that reads the available rows, in as many batches as its sources form, and ends.

    Up to Spark 4.1 a Python source does not support this trigger, and the query would end after one batch. There the
    query runs continuously, and is stopped once no source has new rows.
    """
    if TELLS_AVAILABLE_NOW:
        return write.trigger(availableNow=True).start()
    query = write.trigger(processingTime="0 seconds").start()
    Thread(target=_stop_when_read, args=(query,), daemon=True).start()
    return query


def _stop_when_read(query: StreamingQuery) -> None:
    try:
        query.processAllAvailable()
        query.stop()
    except PySparkException:
        """The query failed: `awaitTermination` reports the error."""
