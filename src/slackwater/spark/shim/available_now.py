"""Queries that end when they have read what is there, on every version of Spark."""

from __future__ import annotations

from threading import Thread

from pyspark.errors import PySparkException
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from slackwater.spark.shim.reader import TELLS_AVAILABLE_NOW


def start_available_now(write: DataStreamWriter) -> StreamingQuery:
    """Start a query that reads what is there, in as many batches as its sources cut it into, and ends.

    Up to Spark 4.1 a Python source is not told, and the query would end after one batch of it. There the query runs as
    if for ever, and is stopped once none of its sources has anything new.
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
        """The query failed: whoever waits for it is told why."""
