"""A local Spark session as Slackwater wants it: quiet, quick to start, bound to loopback."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from slackwater.errors import RunError

STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
LOGGING = Path(__file__).with_name("log4j2.properties")
JVM_OPTIONS = f"-XX:+UseParallelGC -Dlog4j2.configurationFile={LOGGING.as_uri()}"
"""The throughput collector starts quicker than the default, and its pauses do not matter between batches."""


def local_session(
    name: str = "slackwater",
    *,
    master: str = "local[*]",
    time_zone: str = "UTC",
    options: Mapping[str, str] | None = None,
) -> SparkSession:
    """A new session, or the running one with these settings; `options` are Spark's own and win."""
    # Python workers must be this very interpreter, or they lack this package and its dependencies.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.appName(name).master(master)
    for key, value in (_settings(master, time_zone) | dict(options or {})).items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    _hush_workers(session)
    return session


def require_state_store(session: SparkSession) -> None:
    """Disorder control keeps its state with `transformWithState`, which only RocksDB can host.

    The setting belongs to the whole session, so it is never changed behind the back of its other queries.
    """
    if session.conf.get(STATE_STORE, "") != ROCKSDB:
        raise RunError(
            "SW-501",
            "the session's state store cannot hold the state of disorder control",
            expected=f"{STATE_STORE} = {ROCKSDB}",
            hint=f"set it before the query starts: spark.conf.set('{STATE_STORE}', '{ROCKSDB}')",
        )


def _settings(master: str, time_zone: str) -> dict[str, str]:
    shared = {
        "spark.sql.session.timeZone": time_zone,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        STATE_STORE: ROCKSDB,
        # Without it every commit of every state partition uploads a snapshot: 0.2 s a batch instead of 0.02.
        CHANGELOG: "true",
        "spark.sql.streaming.metricsEnabled": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
    return shared | (_local() if master.startswith("local") else {})


def _local() -> dict[str, str]:
    return {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        # One state partition per core: each costs a state store commit per batch, full or empty.
        "spark.sql.shuffle.partitions": str(min(8, os.cpu_count() or 2)),
        "spark.driver.extraJavaOptions": JVM_OPTIONS,
    }


def _hush_workers(session: SparkSession) -> None:
    """Spark's driver-side Python workers print their steps; their errors come as exceptions all the same."""
    jvm = session.sparkContext._jvm
    if jvm is not None and session.conf.get("spark.log.level", "") == "ERROR":
        silent = jvm.java.io.OutputStream.nullOutputStream()
        jvm.java.lang.System.setErr(jvm.java.io.PrintStream(silent))
