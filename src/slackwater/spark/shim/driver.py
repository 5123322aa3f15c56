"""Calls to Spark's driver for which pyspark has no public API."""

from __future__ import annotations

from typing import Any

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from slackwater.spark.shim.compiled import PACKAGE, instance

WATCH = f"{PACKAGE}.Watch"


def active_queries(session: SparkSession) -> set[str]:
    """Return the ids of the running queries of all sessions; `session.streams.active` has only those of one."""
    found = session._jsparkSession.sharedState().activeStreamingQueries()
    return {str(query) for query in found.keySet()}


def explain(df: DataFrame) -> str:
    """Return Spark's formatted plan of a DataFrame: the tree, then each operator."""
    jvm = df.sparkSession._jvm
    text: str = jvm.PythonSQLUtils.explainString(df._jdf.queryExecution(), "formatted") if jvm is not None else ""
    return text.strip()


def look_up_format(session: SparkSession, name: str) -> None:
    """Raise Spark's own error if the session has no data source of this name."""
    jvm = session.sparkContext._jvm
    if jvm is None:
        return
    state = session._jsparkSession.sessionState()
    if not state.dataSourceManager().dataSourceExists(name):  # a data source in Python
        jvm.org.apache.spark.sql.execution.datasources.DataSource.lookupDataSource(name, state.conf())


def call_long_operator(session: SparkSession, operator: Any, given: list[Column]) -> Column:
    """Return a column that calls a `LongBinaryOperator` in Spark's generated code, without boxing."""
    jvm: Any = session._jvm
    types, expressions = jvm.org.apache.spark.sql.types, jvm.org.apache.spark.sql.catalyst.expressions
    convert = getattr(getattr(jvm.org.apache.spark.sql.classic, "ExpressionUtils$"), "MODULE$")
    kind = types.ObjectType(jvm.java.lang.Class.forName("java.util.function.LongBinaryOperator"))
    call = expressions.objects.Invoke(
        expressions.Literal(operator, kind),
        "applyAsLong",
        types.DataTypes.LongType,
        jvm.PythonUtils.toSeq([convert.expression(each._jc) for each in given]),
        jvm.PythonUtils.toSeq([]),
        False,  # arguments are never NULL
        False,  # the result is never NULL
        False,  # not deterministic: it counts, so it must be called once for each row
    )
    return Column(convert.column(call))


def row_places(session: SparkSession) -> tuple[Column, Column]:
    """Return columns with the batch of a row and its place in the batch: by partition, then in the order of reading.

    Spark does not allow its own `monotonically_increasing_id` on streams.
    """
    operator = instance(session, "Places")
    batch, place = (call_long_operator(session, operator, [F.lit(which).cast("long")] * 2) for which in (0, 1))
    return batch, place


def driver_property(session: SparkSession, name: Column) -> Column:
    """Return a column with the system property that `name` names. Executors need none of our classes for it."""
    jvm: Any = session._jvm
    types, objects = jvm.org.apache.spark.sql.types, jvm.org.apache.spark.sql.catalyst.expressions.objects
    convert = getattr(getattr(jvm.org.apache.spark.sql.classic, "ExpressionUtils$"), "MODULE$")
    text, string = types.ObjectType(_class(jvm, "java.lang.String")), types.DataTypes.StringType
    none = jvm.PythonUtils.toSeq([])
    named = objects.Invoke(convert.expression(name._jc), "toString", text, none, none, True, True, True)
    options = jvm.PythonUtils.toSeq([]), True, True, True, jvm.scala.Option.empty()
    found = objects.StaticInvoke(_class(jvm, "java.lang.System"), text, "getProperty", _seq(jvm, named), *options)
    utf8 = _class(jvm, "org.apache.spark.unsafe.types.UTF8String")
    return Column(convert.column(objects.StaticInvoke(utf8, string, "fromString", _seq(jvm, found), *options)))


def _seq(jvm: Any, *each: Any) -> Any:
    return jvm.PythonUtils.toSeq(list(each))


def _class(jvm: Any, name: str) -> Any:
    return jvm.java.lang.Class.forName(name)


def new_gauge(session: SparkSession, *given: object) -> Any:
    """Return a gauge with an accumulator of its own, which collects its readings."""
    context: Any = session.sparkContext
    return instance(session, "Gauge", *given, context._jsc.sc().collectionAccumulator())


def watch_queries(session: SparkSession, asked: Any, folder: str, delay_days: int) -> None:
    """Let `asked` set the watermark of every query of a session that has gauges. Does nothing the second time."""
    jvm: Any = session._jvm
    planning = session._jsparkSession.experimental()
    found = planning.extraOptimizations()
    rules = [found.apply(place) for place in range(found.size())]
    if not any(each.getClass().getName() == WATCH for each in rules):
        watch = instance(session, "Watch", session._jsparkSession, folder, delay_days).asking(asked)
        getattr(planning, "extraOptimizations_$eq")(jvm.PythonUtils.toSeq([*rules, watch]))


def accept_calls(session: SparkSession) -> None:
    """Start the server through which Spark's driver calls objects of this process."""
    ensure_callback_server_started(session.sparkContext._gateway)  # type: ignore[no-untyped-call]


def is_stopped(session: SparkSession) -> bool:
    """Return whether a session was stopped."""
    context = session.sparkContext._jsc
    return context is None or bool(context.sc().isStopped())
