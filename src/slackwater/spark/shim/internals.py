"""Every internal part of Spark that Slackwater uses, and its name in each version.

Nothing outside this folder names one of them. `check_internals` reports the parts that a version lacks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

import pyspark
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from slackwater.errors import RunError

STREAMING = "org.apache.spark.sql.execution.streaming"


@dataclass(frozen=True, slots=True)
class JavaClass:
    """A class of Spark with the members that we use. `before` is its name in older versions."""

    name: str
    members: tuple[str, ...] = ()
    before: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, self.before) if self.before else (self.name,)


def _streaming(place: str, name: str, *members: str) -> JavaClass:
    """Return a class that was directly in the package `streaming` up to Spark 4.0."""
    return JavaClass(f"{STREAMING}.{place}.{name}", members, f"{STREAMING}.{name}")


JAVA = (
    _streaming(
        "runtime",
        "MicroBatchExecution",
        *("id", "lastExecution", "logicalPlan", "resolvedCheckpointRoot", "runId", "sparkSession"),
        *("watermarkTracker", "watermarkTracker_$eq"),
    ),
    _streaming("runtime", "MultipleWatermarkPolicy", "chooseGlobalWatermark"),
    _streaming("runtime", "StreamingQueryWrapper", "streamingQuery"),
    _streaming("runtime", "WatermarkTracker", "currentWatermark", "setWatermark"),
    _streaming("operators.stateful", "EventTimeWatermarkExec", "delay", "execute"),
    _streaming("checkpointing", "CheckpointFileManager", "createAtomic", "delete", "exists", "list", "mkdirs", "open"),
    _streaming("checkpointing", "FileSystemBasedCheckpointFileManager"),
    JavaClass(f"{STREAMING}.state.RocksDBStateStoreProvider"),
    JavaClass("org.apache.spark.sql.catalyst.rules.Rule", ("apply",)),
    JavaClass("org.apache.spark.sql.catalyst.trees.TreeNode", ("children", "transformUp", "withNewChildren")),
    JavaClass("org.apache.spark.sql.execution.datasources.DataSource", ("lookupDataSource",)),
    JavaClass("org.apache.spark.sql.catalyst.expressions.Alias"),
    JavaClass("org.apache.spark.sql.catalyst.expressions.Attribute", ("exprId", "metadata", "name", "qualifier")),
    JavaClass("org.apache.spark.sql.catalyst.expressions.Expression", ("foreach",)),
    JavaClass("org.apache.spark.sql.catalyst.expressions.Literal", ("value",)),
    JavaClass("org.apache.spark.sql.catalyst.expressions.NamedExpression"),
    JavaClass("org.apache.spark.sql.catalyst.expressions.objects.Invoke"),
    JavaClass("org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke"),
    JavaClass("org.apache.spark.unsafe.types.UTF8String", ("fromString",)),
    JavaClass("org.apache.spark.sql.catalyst.plans.logical.DeduplicateWithinWatermark"),
    JavaClass("org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark", ("delay",)),
    JavaClass("org.apache.spark.sql.catalyst.plans.logical.LogicalPlan", ("expressions", "foreach", "isStreaming")),
    JavaClass("org.apache.spark.sql.catalyst.plans.logical.Project"),
    JavaClass("org.apache.spark.sql.types.MetadataBuilder", ("build", "putLong", "withMetadata")),
    JavaClass("org.apache.spark.sql.classic.ExpressionUtils$", ("column", "expression")),
    JavaClass("org.apache.spark.sql.classic.SparkSession", ("experimental", "sessionState", "sharedState")),
    JavaClass("org.apache.spark.sql.api.python.PythonSQLUtils", ("explainString",)),
    JavaClass("org.apache.spark.util.CollectionAccumulator", ("add", "reset", "value")),
    JavaClass("org.codehaus.janino.Compiler", ("compile", "setClassFileCreator", "setIClassLoader")),
    JavaClass("org.codehaus.commons.compiler.util.reflect.ByteArrayClassLoader"),
)

PYTHON = (
    "pyspark.daemon.manager",
    "pyspark.java_gateway.ensure_callback_server_started",
    "pyspark.java_gateway.launch_gateway",
    "pyspark.logger.PySparkLogger",
    "pyspark.sql.datasource.CaseInsensitiveDict",
    "pyspark.sql.pandas.types.from_arrow_schema",
    "pyspark.sql.pandas.types.to_arrow_schema",
    "pyspark.sql.streaming.proto.StateMessage_pb2.StateRequest",
    "pyspark.sql.streaming.stateful_processor.StatefulProcessor",
    "pyspark.worker.main",
)


def missing_java(session: SparkSession, classes: tuple[JavaClass, ...] = JAVA) -> list[str]:
    """Return the classes and members that this Spark lacks."""
    lacking = []
    for each in classes:
        found = next((loaded for name in each.names if (loaded := _loaded(session, name)) is not None), None)
        if found is None:
            lacking.append(each.name)
            continue
        known = _methods_of(session, found)
        lacking += [f"{each.name}.{member}" for member in each.members if member not in known]
    return lacking


def _methods_of(session: SparkSession, found: Any) -> set[str]:
    """Return the names of a class's methods, read from one text: a call to the JVM for each takes a second in all."""
    jvm: Any = session._jvm
    return set(re.findall(r"([\w$]+)\(", jvm.scala.runtime.ScalaRunTime.stringOf(found.getMethods())))


def missing_python(names: tuple[str, ...] = PYTHON) -> list[str]:
    """Return the names in pyspark's modules that this version lacks or that cannot be imported."""
    return [name for name in names if not _importable(*name.rsplit(".", 1))]


def check_internals(session: SparkSession) -> None:
    """Raise an error that names every missing part, if there is one."""
    if lacking := [*missing_java(session), *missing_python()]:
        raise RunError(
            "SW-503",
            f"Spark {pyspark.__version__} lacks {', '.join(lacking)}",
            expected="pyspark 4.0 to 4.3",
            hint="install a version of pyspark that was tested, or a newer version of Slackwater",
        )


def class_name(session: SparkSession, name: str) -> str:
    """Return the name of a class in this version of Spark."""
    return _names(session.sparkContext.applicationId).get(name, name)


def adapt_source(session: SparkSession, source: str) -> str:
    """Return a Java source with the class names of this version of Spark."""
    known = _names(session.sparkContext.applicationId)
    return re.sub(r"org\.apache\.spark\.[\w.$]+", lambda found: known.get(found[0], found[0]), source)


@lru_cache(maxsize=1)
def _names(_application: str) -> dict[str, str]:
    """Return the older names of the classes that this version does not have under the new name."""
    session = SparkSession.active()
    moved = [each for each in JAVA if each.before and _loaded(session, each.name) is None]
    return {each.name: each.before for each in moved}


def _loaded(session: SparkSession, name: str) -> Any:
    jvm: Any = session._jvm
    try:
        return jvm.org.apache.spark.util.Utils.classForName(name, False, True)
    except Py4JJavaError:  # this version of Spark has no such class
        return None


def _importable(module: str, name: str) -> bool:
    try:
        return hasattr(import_module(module), name)
    except Exception:  # noqa: BLE001, RUF100 (protobuf has its own error for code generated by another version)
        return False
