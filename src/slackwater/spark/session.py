"""Start a local Spark session that is quiet, quick to start and bound to loopback."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from slackwater.errors import RunError
from slackwater.spark.shim.spark_log import start_jvm
from slackwater.spark.shim.versions import INSTALLED, warn_unsupported
from slackwater.spark.shim.workers import BRIEF, is_connect

PARTITIONS = "spark.sql.shuffle.partitions"
MOST_PARTITIONS = 200
"""The largest number of shuffle partitions that we set, which is Spark's default."""
PATIENCE = 30.0
"""Seconds to wait for the executors of a cluster."""
STEADY = 2.0
"""Seconds without a new executor after which no more are expected."""
STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
_PACKAGE = "org.apache.spark.sql.execution.streaming"
FILE_MANAGER = f"{_PACKAGE}.{'checkpointing.' if INSTALLED > (4, 0) else ''}FileSystemBasedCheckpointFileManager"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
LOGGING = Path(__file__).parent / "shim" / "log4j2.properties"
"""Only a driver uses this path. On a worker that imports from a zip file it names no file."""
COLLECTOR = "-XX:+UseParallelGC"
"""The throughput collector starts quicker than the default, and its pauses do not matter between batches."""

QUICK_START = "-XX:TieredStopAtLevel=1"
"""Turns off the second compiler, which takes more time than it saves in a JVM that lives for seconds."""
LATE_COMPILER = " ".join(
    f"-XX:Tier4{event}Threshold={10 * usual}"
    for event, usual in {"Invocation": 5_000, "MinInvocation": 600, "Compile": 15_000, "BackEdge": 40_000}.items()
)
"""Raises the threshold of calls at which the second compiler compiles a method tenfold. It still compiles the code that
handles rows, but not the code that plans queries. This saves a quarter of the processor time of one small pipeline, a
twentieth of six, and a fifth of one over six million rows. With a factor of twenty, the long run took more time."""


def local_session(
    name: str = "slackwater",
    *,
    master: str = "local[*]",
    options: Mapping[str, str] | None = None,
    brief: bool = False,
) -> SparkSession:
    """Return a new session, or the running one with these settings; `options` are Spark's own and win.

    A `brief` session runs no query: its JVM is made to start quickly, not to run quickly.
    """
    warn_unsupported()
    active = SparkSession.getActiveSession()
    if active is not None and is_connect(active):
        raise without_driver("a session of its own", "this process has a session of Spark Connect")
    settings = _settings(master, brief) | dict(options or {})
    if SparkContext._active_spark_context is None:
        os.environ["PYSPARK_PYTHON"] = python_of_workers(master, settings)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if SparkContext._gateway is None:
        start_jvm({**settings, "spark.master": master, "spark.app.name": name})
    builder = SparkSession.builder.appName(name).master(master)
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def python_of_workers(master: str, settings: Mapping[str, str]) -> str:
    """Return the interpreter of the Python workers: this very one, which has this package and its dependencies.

    A setting goes before it, and on a cluster PYSPARK_PYTHON, too: there the interpreter may have another path.
    """
    if stated := settings.get("spark.pyspark.python"):
        return stated
    return sys.executable if master.startswith("local") else os.environ.get("PYSPARK_PYTHON", sys.executable)


def without_driver(what: str, why: str) -> RunError:
    """Return the error of a command that needs Spark's driver in its own process."""
    return RunError(
        "SW-505",
        f"{what} needs Spark's driver in its own process: {why}",
        expected="a classic session of Spark, as in a process that has not called SparkSession.builder.remote",
        hint="with Spark Connect use sw.sql or sw.with_disorder_control, and start the query with writeStream",
    )


def require_state_store(session: SparkSession, of: str = "the fused operator") -> None:
    """Check that the session keeps state in RocksDB, which `transformWithState` needs.

    The setting belongs to the whole session, so it is never changed behind the back of its other queries.
    """
    if session.conf.get(STATE_STORE, "") != ROCKSDB:
        raise RunError(
            "SW-501",
            f"the session's state store cannot hold the state of {of}",
            expected=f"{STATE_STORE} = {ROCKSDB}",
            hint=f"set it before the query starts: spark.conf.set('{STATE_STORE}', '{ROCKSDB}')",
        )


def spread_over_cluster(session: SparkSession) -> str:
    """Give a cluster's session one shuffle partition for each core, and return a sentence that says so.

    Each partition of a stateful operator costs a commit in every batch, and Spark's own number is made for large
    batches. A number that the user states stays; so does Spark's on a cluster that grows and shrinks. Only new
    checkpoints get the number: Spark goes on with that of an older one.
    """
    context: Any = session.sparkContext
    stated = context.getConf()
    if context.master.startswith("local") or stated.contains(PARTITIONS):
        return ""
    if stated.get("spark.dynamicAllocation.enabled", "false") == "true":
        return f"the state of a new checkpoint has {session.conf.get(PARTITIONS)} partitions: the cluster may grow"
    _wait_for_executors(lambda: int(context._jsc.sc().getExecutorMemoryStatus().size()) - 1)
    number = min(context.defaultParallelism, MOST_PARTITIONS)
    session.conf.set(PARTITIONS, str(number))
    return f"the state of a new checkpoint has {number} partitions, one for each core of the cluster"


def _wait_for_executors(count: Callable[[], int]) -> None:
    """Wait until executors are there and no more come."""
    end, found, since = monotonic() + PATIENCE, 0, monotonic()
    while monotonic() < end and (not found or monotonic() - since < STEADY):
        sleep(0.1)
        if (now := count()) != found:
            found, since = now, monotonic()


def _settings(master: str, brief: bool) -> dict[str, str]:
    shared = {
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # On a busy machine a new Python process may need longer than the 15 seconds that are Spark's own choice.
        "spark.python.authenticate.socketTimeout": "120s",
        STATE_STORE: ROCKSDB,
        BRIEF: str(brief).lower(),
        # `run` itself checks whose a checkpoint is. Spark's check refuses a query that was killed at its first write.
        "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart": "false",
        # Without it every commit of every state partition uploads a whole snapshot.
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    }
    return shared | (_local(brief) if master.startswith("local") else {})


def _local(brief: bool) -> dict[str, str]:
    return {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        # On a local disk a plain rename is as safe as Spark's own choice, and takes a third of its time for each of the
        # small files of a batch (13 against 40 ms).
        "spark.sql.streaming.checkpointFileManagerClass": FILE_MANAGER,
        # One state partition per core: each costs a state store commit per batch, full or empty.
        PARTITIONS: str(min(8, os.cpu_count() or 2)),
        "spark.driver.extraJavaOptions": " ".join(
            [COLLECTOR, QUICK_START if brief else LATE_COMPILER, f"-Dlog4j2.configurationFile={LOGGING.as_uri()}"]
        ),
        "spark.python.use.daemon": "true",
        "spark.python.daemon.module": "slackwater.spark.run.daemon",
    }
