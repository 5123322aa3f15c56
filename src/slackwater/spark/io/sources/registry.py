"""The table of our own sources, and their registration with Spark.

This is not in the package's `__init__`, because Spark starts a process for each stream, which should import the module
of its own source only.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from slackwater.spark.io.sources.generate import Generate
from slackwater.spark.io.sources.replay import Replay
from slackwater.spark.shim.workers import require_workers

SOURCES: dict[str, type[Generate] | type[Replay]] = {source.name(): source for source in (Generate, Replay)}


def register(session: SparkSession) -> None:
    """Register the sources with a session under their names."""
    require_workers(session)
    for source in SOURCES.values():
        session.dataSource.register(source)
