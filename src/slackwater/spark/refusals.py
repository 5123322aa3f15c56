"""Spark's errors in one line."""

from __future__ import annotations

import re

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

REFUSALS = (PySparkException, Py4JJavaError)
"""Spark's own errors. An error without a class in PySpark is raised as a Java exception."""


TRACEBACK = "Traceback (most recent call last):"
RAISED = re.compile(r"(?!Caused by|at )[A-Za-z_][\w.]*(Error|Exception|Interrupt|Exit|Warning)\b")
"""The line of a traceback with the exception: it alone is not indented."""
OWN = re.compile(r"SW-\d{3}: .*")
SLOW_START = re.compile("Python worker (failed )?to connect back")
"""Spark's error about a Python process that did not answer in time. No setting changes this time limit."""


def reason(cause: Exception) -> str:
    """Return the message of an error of Spark in one line."""
    java = getattr(cause, "java_exception", None)
    text = str(java.getMessage() or java.getClass().getName()) if java is not None else str(cause)
    return line_of(text) or type(cause).__name__


def is_slow_start(text: str) -> bool:
    """Return whether a query failed because a Python process took too long to start.

    >>> is_slow_start("[STREAM_FAILED] ... SparkException: Python worker failed to connect back.")
    True
    """
    return bool(SLOW_START.search(text))


def line_of(text: str) -> str:
    """Return the first line of a message that is not blank, or the exception if it has a Python worker's traceback.

    For an error of ours, the line includes what was expected.

    >>> line_of("failed: Traceback (most recent call last):\\n  File ...\\nRunError: SW-580: division by zero")
    'SW-580: division by zero'
    >>> line_of("Traceback (most recent call last):\\nInputError: SW-440: no option 'x'\\n  expected: y, z\\n  do: ...")
    "SW-440: no option 'x'; expected: y, z"
    """
    _, traced, after = text.partition(TRACEBACK)
    raised = [line for line in after.splitlines() if RAISED.match(line)]
    if traced and raised:
        known = [found for line in raised if (found := OWN.search(line))]
        return _with_expected(known[-1].group(), after) if known else raised[-1].strip()
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _with_expected(told: str, text: str) -> str:
    expected = re.search(re.escape(told) + r"(?:\n  [^\n]*)*?\n  (expected: [^\n]*)", text)
    return f"{told}; {expected[1]}" if expected else told
