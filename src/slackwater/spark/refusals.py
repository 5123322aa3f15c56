"""What Spark says when it refuses something, in one line."""

from __future__ import annotations

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

REFUSALS = (PySparkException, Py4JJavaError)
"""Spark's own errors; one that PySpark has no class for comes as the Java exception that it is."""


def reason(cause: Exception) -> str:
    """The first line of what Spark says."""
    java = getattr(cause, "java_exception", None)
    text = str(java.getMessage() or java.getClass().getName()) if java is not None else str(cause)
    return next((line.strip() for line in text.splitlines() if line.strip()), type(cause).__name__)
