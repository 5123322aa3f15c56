"""Declared streams as streaming DataFrames: our own sources, and any format that Spark has."""

from __future__ import annotations

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from slackwater.algebra.catalog import StreamDef
from slackwater.errors import InputError
from slackwater.spark.relation import quoted
from slackwater.spark.sources import register


def read_stream(session: SparkSession, stream: StreamDef) -> DataFrame:
    """The rows of a stream as its declaration names them; options go to the format untouched."""
    register(session)
    columns = ", ".join(f"{quoted(field.name)} {field.type}" for field in stream.fields)
    try:
        return session.readStream.format(stream.format).schema(columns).options(**stream.options).load()
    except (AnalysisException, PySparkException) as cause:
        raise InputError(
            "SW-433",
            f"the stream '{stream.name}' cannot be read: {_first_line(cause)}",
            expected="a format that this Spark session knows, with the options that it needs",
            hint="check USING and OPTIONS of CREATE STREAM",
        ) from cause


def _first_line(cause: Exception) -> str:
    return next((line.strip() for line in str(cause).splitlines() if line.strip()), type(cause).__name__)
