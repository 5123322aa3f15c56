"""Check that the Python of Spark's workers has the needed packages, and start workers before the first query.

This package itself is sent to a cluster.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from ast import literal_eval
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Thread
from typing import Any, TypeAlias

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from slackwater.errors import RunError
from slackwater.spark.shim.shipping import ship_package

NEEDED = ("slackwater", "pyarrow", "pandas", "numpy", "google.protobuf")
ASKED = 8
"""The most tasks that report their packages. Larger: covers more machines, but each task may start a process."""
PATIENCE = 30
"""Seconds to wait for a local interpreter to report its packages. Larger: a hanging one is reported later."""
BRIEF = "spark.slackwater.brief"
"""The setting of an application that runs no query, and so needs no workers."""
MISMATCH = "PYTHON_VERSION_MISMATCH"
LOOK = """
import importlib.util, json, sys
def absent(name):
    parent = name.rpartition(".")[0]
    return bool(parent) and absent(parent) or importlib.util.find_spec(name) is None
print(json.dumps([sys.version_info[:2], [name for name in sys.argv[1:] if absent(name)]]))
"""

Found: TypeAlias = tuple[list[int], list[str]]
"""The version of an interpreter, and the needed packages that it lacks."""


def require_workers(session: SparkSession) -> None:
    """Raise an error if the Python workers cannot run this package. Checks each application or Connect session once.

    On a local master, start workers in the background.
    """
    if is_connect(session):
        _require_of_server(session)
    else:
        context: Any = session.sparkContext
        _require(context.applicationId, context.master, context.pythonExec)
        if context.master.startswith("local") and context.getConf().get(BRIEF, "false") != "true":
            _start_early(context.applicationId)


def is_connect(session: SparkSession) -> bool:
    """Return whether this is a session of Spark Connect, which has no driver in this process."""
    return type(session).__module__.startswith("pyspark.sql.connect")


@lru_cache(maxsize=1)
def _require(_application: str, master: str, python: str) -> None:
    found = shutil.which(python)
    if not master.startswith("local"):
        ship_package(_application)
        _judge(python, lambda: _seen_by_worker(SparkSession.active()))
    elif found is None or Path(found).absolute() != Path(sys.executable).absolute():
        _judge(python, lambda: _seen_here(python))


@lru_cache(maxsize=1)
def _start_early(_application: str) -> None:
    """Start Python workers while the caller goes on planning: the first batch then takes 0.8 s less on two cores."""
    Thread(target=_start_workers, args=[SparkSession.active()], name="slackwater-workers", daemon=True).start()


def _start_workers(session: SparkSession) -> None:
    with suppress(Exception):  # such as a session that stops at once; a query reports what is wrong with its workers
        session.range(0, 2, 1, 2).mapInArrow(lambda rows: rows, "id long").collect()


@lru_cache(maxsize=8)
def _require_of_server(session: SparkSession) -> None:
    """Raise an error if a Connect server's workers cannot run this package, which must be installed there.

    Spark 4.3 gives the files that a session sends to the workers of batch queries, but not to those of streams.
    """
    _judge("the Python of the Spark Connect server", lambda: _seen_by_worker(session))


def _judge(python: str, look: Callable[[], Found]) -> None:
    """Raise an error if the workers' Python does not start, has another version, or lacks packages."""
    try:
        version, lacking = look()
    except (OSError, subprocess.SubprocessError, ValueError) as cause:
        raise _unfit(python, f"does not start: {cause}") from cause
    except PySparkException as cause:
        raise _unfit(python, "is another version" if MISMATCH in str(cause) else "does not run") from cause
    if list(version) != list(sys.version_info[:2]):
        raise _unfit(python, f"is version {'.'.join(map(str, version))}")
    if lacking:
        raise _unfit(python, f"lacks {', '.join(lacking)}")


def _seen_here(python: str) -> Found:
    told = subprocess.run(  # noqa: S603 (what Spark itself starts)
        [python, "-c", LOOK, *NEEDED], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    version, lacking = json.loads(told.stdout)
    return version, lacking


def _seen_by_worker(session: SparkSession) -> Found:
    """Return the version and missing packages of the worker that lacks most."""
    worst = max(ask_workers(session), key=lambda each: len(each.lacking))
    return list(worst.version), list(worst.lacking)


@dataclass(frozen=True, slots=True)
class Worker:
    """The Python of a worker, and the packages that it lacks."""

    host: str
    python: str
    version: tuple[int, int]
    lacking: tuple[str, ...]


def ask_workers(session: SparkSession, needed: tuple[str, ...] = NEEDED) -> list[Worker]:
    """Return the distinct answers of the workers."""

    def look(_: int) -> tuple[object, ...]:  # nested, so that it is sent by value: a worker may not have this module
        import importlib  # noqa: PLC0415
        import socket  # noqa: PLC0415
        import sys  # noqa: PLC0415

        lacking = []
        for name in needed:
            try:
                importlib.import_module(name)
            except ImportError:
                lacking.append(name)
        return socket.gethostname(), sys.executable, tuple(sys.version_info[:2]), tuple(lacking)

    if is_connect(session):
        asked = session.range(0, 2, 1, 2).select(F.udf(lambda each: repr(look(each)), "string", useArrow=False)("id"))
        found = [literal_eval(each[0]) for each in asked.collect()]
    else:
        count = min(ASKED, max(2, session.sparkContext.defaultParallelism))
        found = session.sparkContext.parallelize(range(count), count).map(look).collect()
    return [Worker(*each) for each in sorted(set(found))]


def _unfit(python: str, why: str) -> RunError:
    return RunError(
        "SW-502",
        f"Spark's workers run '{python}', which {why}",
        expected=f"Python {sys.version_info[0]}.{sys.version_info[1]} with {', '.join(NEEDED)}, as in {sys.executable}",
        hint=f"set PYSPARK_PYTHON={sys.executable} before the session or server starts; on a cluster, the path there",
    )
