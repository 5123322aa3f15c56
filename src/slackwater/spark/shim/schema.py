"""Conversion of Spark's schemas to Arrow's."""

from __future__ import annotations

from inspect import signature

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

ZONE = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
"""The time zone argument, which Spark 4.3 needs. Older versions always use UTC."""


def arrow_schema(schema: StructType) -> pa.Schema:
    """Return the Arrow schema of rows, with timestamps in UTC."""
    return to_arrow_schema(schema, **ZONE)  # type: ignore[arg-type]
