"""Runs the pipelines of a script to the end of their streams."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from slackwater.app.views import rewritten
from slackwater.lang import parse_script
from slackwater.spark.io.streams import read_streams
from slackwater.spark.run.pipeline import Manner, start
from slackwater.spark.run.progress import Progress
from slackwater.spark.run.sides import arranged


def finished(spark: SparkSession, text: str, checkpoint: Path) -> list[Progress]:
    """The records of all batches of the one query of a script, from wherever its checkpoint stands."""
    script = parse_script(text)
    ((pipeline, sides),) = arranged(rewritten(script))
    running = start(pipeline, read_streams(spark, script), checkpoint, Manner(available_now=True), sides=sides)
    return list(running.progress())
