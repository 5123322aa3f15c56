"""A local Spark session as Slackwater wants it: quiet, quick to start, bound to loopback."""

from __future__ import annotations

import atexit
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark import SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from slackwater.errors import RunError

STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
FILE_MANAGER = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
LOGGING = Path(__file__).parent / "shim" / "log4j2.properties"
JVM_OPTIONS = f"-XX:+UseParallelGC -Dlog4j2.configurationFile={LOGGING.as_uri()}"
"""The throughput collector starts quicker than the default, and its pauses do not matter between batches."""


def local_session(
    name: str = "slackwater",
    *,
    master: str = "local[*]",
    options: Mapping[str, str] | None = None,
) -> SparkSession:
    """A new session, or the running one with these settings; `options` are Spark's own and win."""
    # Python workers must be this very interpreter, or they lack this package and its dependencies.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.appName(name).master(master)
    for key, value in (_settings(master) | dict(options or {})).items():
        builder = builder.config(key, value)
    if SparkContext._gateway is not None:
        return builder.getOrCreate()
    with _quiet_jvm():
        return builder.getOrCreate()


def require_state_store(session: SparkSession) -> None:
    """The fused operator keeps its state with `transformWithState`, which only RocksDB can host.

    The setting belongs to the whole session, so it is never changed behind the back of its other queries.
    """
    if session.conf.get(STATE_STORE, "") != ROCKSDB:
        raise RunError(
            "SW-501",
            "the session's state store cannot hold the state of the fused operator",
            expected=f"{STATE_STORE} = {ROCKSDB}",
            hint=f"set it before the query starts: spark.conf.set('{STATE_STORE}', '{ROCKSDB}')",
        )


def _settings(master: str) -> dict[str, str]:
    shared = {
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        STATE_STORE: ROCKSDB,
        # Without it every commit of every state partition uploads a whole snapshot.
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    }
    return shared | (_local() if master.startswith("local") else {})


def _local() -> dict[str, str]:
    return {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        # On a local disk a plain rename is as safe as Spark's own choice, and takes a third of its time for each of the
        # small files of a batch (13 against 40 ms).
        "spark.sql.streaming.checkpointFileManagerClass": FILE_MANAGER,
        # One state partition per core: each costs a state store commit per batch, full or empty.
        "spark.sql.shuffle.partitions": str(min(8, os.cpu_count() or 2)),
        "spark.driver.extraJavaOptions": JVM_OPTIONS,
        "spark.python.use.daemon": "true",
        "spark.python.daemon.module": "slackwater.spark.run.daemon",
    }


@contextmanager
def _quiet_jvm() -> Iterator[None]:
    """Starts the JVM with a file as its standard error: what matters of it comes to Python as exceptions."""
    file, name = tempfile.mkstemp(".log", "slackwater-spark-")  # a name that nobody can have prepared a link under
    log = Path(name)
    sys.stderr.flush()
    saved = os.dup(2)
    os.dup2(file, 2)
    os.close(file)
    try:
        yield
        atexit.register(log.unlink, missing_ok=True)
    except PySparkRuntimeError as cause:
        raise RunError(
            "SW-500",
            f"Spark did not start: {(log.read_text().strip().splitlines() or [str(cause)])[-1]}",
            expected="Java 17 or newer, as JAVA_HOME or on the path",
            hint=f"install a JDK, or set JAVA_HOME to one; all that was said is in {log}",
        ) from cause
    finally:
        os.dup2(saved, 2)
        os.close(saved)
