"""The checks of `slackwater doctor`. Each returns what was found and what to do about it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from uuid import uuid4

import pyspark
from pyspark.sql import SparkSession

from slackwater.errors import SlackwaterError
from slackwater.spark.refusals import REFUSALS, reason
from slackwater.spark.run.checkpoint import reach
from slackwater.spark.session import local_session
from slackwater.spark.shim.internals import missing_java, missing_python
from slackwater.spark.shim.versions import TESTED, version_warning
from slackwater.spark.shim.workers import Worker, ask_workers, require_workers

OLDEST_PYTHON = (3, 11)
OLDEST_JAVA = 17
PACKAGES = ("slackwater", "pyarrow", "numpy", "pandas", "sqlglot")
EXTRAS = {
    "postgres": "psycopg",
    "kafka": "confluent-kafka",
    "dashboard": "bokeh",
    "plot": "matplotlib",
    "shell": "prompt_toolkit",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report: whether it is right, what was found, and what to do if it is not right."""

    right: bool
    what: str
    hint: str = ""


def examine(master: str, settings: Mapping[str, str], checkpoint: str | None) -> Iterator[Finding]:
    """Run the checks and return their findings; if Spark does not start, the checks that need it are left out."""
    yield from find_versions()
    yield find_java()
    yield find_spark()
    try:
        session = local_session("slackwater-doctor", master=master, options=settings)
    except SlackwaterError as error:
        yield Finding(False, f"Spark at {master}: {error.problem.message}", error.problem.hint)
        return
    yield Finding(True, f"Spark {session.version} runs at {master}")
    yield find_internals(session)
    yield from find_workers(session)
    if checkpoint is not None:
        yield find_checkpoint(session, checkpoint)


def find_versions() -> Iterator[Finding]:
    """Check the versions of Python and of the packages."""
    python = ".".join(map(str, sys.version_info[:3]))
    wanted = ".".join(map(str, OLDEST_PYTHON))
    yield Finding(sys.version_info >= OLDEST_PYTHON, f"Python {python}", f"install Python {wanted} or newer")
    found = {name: _version(name) for name in PACKAGES}
    lacking = [name for name, known in found.items() if known is None]
    told = ", ".join(f"{name} {known}" for name, known in found.items() if known is not None)
    yield Finding(not lacking, told + "".join(f"; no {name}" for name in lacking), "pip install slackwater")
    extras = [f"{extra} ({name} {_version(name) or 'is not installed'})" for extra, name in EXTRAS.items()]
    yield Finding(True, "extras: " + ", ".join(extras))


def find_java() -> Finding:
    """Check the version of the Java that Spark would start."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    hint = f"install a JDK of version {OLDEST_JAVA} or newer, and set JAVA_HOME to it"
    if java is None:
        return Finding(False, "no Java on the path", hint)
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    except OSError as cause:
        return Finding(False, f"Java at {java} cannot be run: {cause.strerror}", hint)
    found = re.search(r'version "(\d+)[^"]*"', told.stderr + told.stdout)
    if found is None:
        return Finding(False, f"Java at {java} does not tell its version", hint)
    return Finding(int(found[1]) >= OLDEST_JAVA, f"Java {found[0].split(chr(34))[1]} at {java}", hint)


def find_spark() -> Finding:
    """Check that this version of Spark was tested."""
    hint = f"pip install 'pyspark=={TESTED[-1]}', or another of " + ", ".join(TESTED)
    problem = version_warning(pyspark.__version__)
    return Finding(not problem, problem or f"pyspark {pyspark.__version__}, which is supported", hint)


def find_internals(session: SparkSession) -> Finding:
    """Check that Spark has the internals that disorder control uses."""
    lacking = [*missing_java(session), *missing_python()]
    told = f"Spark lacks {', '.join(lacking)}" if lacking else "Spark has all that disorder control uses of it"
    return Finding(not lacking, told, "install a version of pyspark that was tested")


def find_workers(session: SparkSession) -> Iterator[Finding]:
    """Check that the Python of each worker can import the package."""
    hint = "install it there, or name a Python that has it: PYSPARK_PYTHON, or --conf spark.pyspark.python=..."
    try:
        require_workers(session)
        found = ask_workers(session)
    except SlackwaterError as error:
        yield Finding(False, error.problem.message, error.problem.hint)
        return
    except REFUSALS as cause:
        yield Finding(False, f"workers cannot run Python: {reason(cause)}", hint)
        return
    for each in found:
        yield Finding(not each.lacking, _told(each), hint)


def _told(worker: Worker) -> str:
    who = f"a worker on {worker.host}, Python {'.'.join(map(str, worker.version))} at {worker.python},"
    return f"{who} lacks {', '.join(worker.lacking)}" if worker.lacking else f"{who} can import the package"


def find_checkpoint(session: SparkSession, address: str) -> Finding:
    """Check that files can be written, read, listed and removed in the folder of a checkpoint."""
    hint = "give another --checkpoint, or allow this user to write there"
    try:
        place = reach(address, session)
        if blocking := place.blocking_file():
            return Finding(False, f"'{blocking}' is a file, where a checkpoint must be a folder", hint)
        probe = place / f".doctor-{uuid4().hex}"
        probe.write(b"slackwater")
        whole = probe.read() == b"slackwater" and [each.name for each in place.list(r"\.doctor-.*")] == [probe.name]
        probe.remove()
    except SlackwaterError as error:
        return Finding(False, error.problem.message, error.problem.hint)
    except (*REFUSALS, OSError) as cause:
        return Finding(False, f"'{address}' cannot be written: {reason(cause)}", hint)
    told = f"'{address}' can be written" if whole else f"'{address}' does not give back what was written"
    return Finding(whole, told, hint)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
