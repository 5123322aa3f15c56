"""Spark's log: one file for the output of the JVM, the Python workers and PySpark, instead of the terminal."""

from __future__ import annotations

import atexit
import logging
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.logger import PySparkLogger

from slackwater.errors import RunError

QUERY_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""The loggers to which PySpark writes every failed query as JSON, by default on standard error."""

_logs: list[Path] = []
"""The log of the JVM, if this process started it."""
_named: set[Path] = set()
"""The logs that an error has named. They are kept when the process ends."""


def start_jvm(settings: Mapping[str, str]) -> None:
    """Start Spark's JVM with a new file as its output."""
    conf = SparkConf(loadDefaults=False)
    for name, value in settings.items():
        conf.set(name, value)
    with new_log() as log:
        gateway = launch_gateway(conf, {"stdout": log, "stderr": log})  # type: ignore[no-untyped-call]
        SparkContext._ensure_initialized(gateway=gateway)


@contextmanager
def new_log() -> Iterator[BinaryIO]:
    """Yield a file for the output of the JVM and PySpark. Raise its last line as an error if the JVM does not start."""
    number, name = tempfile.mkstemp(".log", "slackwater-spark-")  # unpredictable, so nobody can place a link there
    os.close(number)
    path = Path(name)
    try:
        with path.open("ab") as log:
            yield log
    except PySparkRuntimeError as cause:
        raise RunError(
            "SW-500",
            f"Spark did not start: {(path.read_text().strip().splitlines() or [str(cause)])[-1]}",
            expected="Java 17 or newer, as JAVA_HOME or on the path",
            hint=f"install a JDK, or set JAVA_HOME to one; all that was said is in {path}",
        ) from cause
    _logs.append(path)
    atexit.register(_remove, path)
    _redirect_loggers(path)


def with_log(hint: str) -> str:
    """Return a hint that also names Spark's log, and keep the log. In a session of the user, return the hint alone."""
    if not _logs:
        return hint
    _named.add(_logs[-1])
    return f"{hint}; Spark's log is {_logs[-1]}"


def _redirect_loggers(path: Path) -> None:
    """Let the loggers of PySpark and py4j write to the file. Without a handler, Python prints their warnings."""
    handler = logging.FileHandler(path, delay=True)
    for name in QUERY_LOGGERS:
        logger = PySparkLogger.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
    logging.getLogger("py4j").addHandler(logging.FileHandler(path, delay=True))


def _remove(path: Path) -> None:
    if path not in _named:
        path.unlink(missing_ok=True)
