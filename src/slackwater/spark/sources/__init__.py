"""Our own sources for Spark: `generate` makes the papers' streams, `replay` plays a recorded one."""

from __future__ import annotations

from pyspark.sql import SparkSession

from slackwater.spark.sources.generate import Generate


def register(session: SparkSession) -> None:
    """Makes the sources known to a session under their names."""
    for source in (Generate,):
        session.dataSource.register(source)
