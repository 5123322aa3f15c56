"""The process from which Spark forks its Python workers. It imports the modules that workers need, before the fork."""

from __future__ import annotations

import gc

import pandas  # noqa: F401
import pyarrow.compute  # noqa: F401
import pyspark.sql.pandas.serializers
import pyspark.sql.streaming.proto.StateMessage_pb2
import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import slackwater.spark.io.sources.registry
import slackwater.spark.operator.operator  # noqa: F401

if __name__ == "__main__":
    # After each task a worker collects garbage, which takes 33 ms for the modules imported here: exclude them from it.
    gc.freeze()
    manager()
