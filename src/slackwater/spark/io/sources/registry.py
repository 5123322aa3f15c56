"""Our own sources, and how Spark comes to know them.

Spark starts a process for each stream, which imports the module of its source and no other: that is why this is not
the package itself.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from slackwater.spark.io.sources.generate import Generate
from slackwater.spark.io.sources.replay import Replay
from slackwater.spark.shim.workers import require_workers

SOURCES: dict[str, type[Generate] | type[Replay]] = {source.name(): source for source in (Generate, Replay)}


def register(session: SparkSession) -> None:
    """Make the sources known to a session under their names."""
    require_workers(session)
    for source in SOURCES.values():
        session.dataSource.register(source)
