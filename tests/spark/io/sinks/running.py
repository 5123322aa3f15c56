"""Runs the pipelines of a script to the end of their streams."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from slackwater.app.views import optimise_pipelines
from slackwater.lang import parse_script
from slackwater.spark.io.streams import read_streams
from slackwater.spark.run.pipeline import Manner, start
from slackwater.spark.run.progress import Progress
from slackwater.spark.run.sides import group_by_query


def finished(spark: SparkSession, text: str, checkpoint: Path) -> list[Progress]:
    """Run the only query of a script from its checkpoint until all rows are read, and return the record of each batch.

    There is no flush, unlike in `run --available-now`: rows that the punctuation has not released stay held.
    """
    script = parse_script(text)
    ((pipeline, sides),) = group_by_query(optimise_pipelines(script))
    running = start(pipeline, read_streams(spark, script), checkpoint, Manner(available_now=True), sides=sides)
    return list(running.progress())
