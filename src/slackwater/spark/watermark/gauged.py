"""A stream whose rows pass a gauge, and whose watermark follows the controllers that read it."""

from __future__ import annotations

from functools import lru_cache
from itertools import count
from typing import Any
from uuid import uuid4

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from slackwater.spark.relation import quoted
from slackwater.spark.shim.calls import call
from slackwater.spark.shim.compiled import PACKAGE, instance
from slackwater.spark.watermark.policy import controller_of
from slackwater.spark.watermark.steering import Controls, Spec

FAR = 7_300_000
"""Days: the delay of a watermark that no row is to move. Controllers do."""
MOST = 1 << 21
"""Rows of a stream's first batch that a task gives to the controller; if it has more, every second, every fourth and so
on. That batch may be all that was ever recorded, and all of it would have to pass the driver."""
WATCH = f"{PACKAGE}.Watch"
TOLD = f"{PACKAGE}.told."
"""Begins the name of the property in which Steering.java leaves what the controllers say."""
BARRIER = "spark_partition_id() >= 0"
"""Always true, and not deterministic: Catalyst moves no later predicate below it, where it would remove the ticks."""

_numbers = count(1)


def gauged(
    df: DataFrame,
    spec: Spec,
    event_time: str,
    arrival: str | None = None,
    source: str | None = None,
    ticks: DataFrame | None = None,
) -> DataFrame:
    """The rows of a stream; what they and the `ticks` for it tell of time goes to its controller."""
    session = df.sparkSession
    gauge = _gauge(session, spec)
    event = F.unix_millis(quoted(event_time))
    arrived = F.unix_millis(quoted(arrival)) if arrival else _now(event)
    if source:
        arrived = call(session, gauge.senders(), F.xxhash64(quoted(source)), arrived)
    rows = df.where(call(session, gauge, event, arrived) >= 0)
    if ticks is None:
        return rows
    tick = [call(session, gauge.ticks(), F.lit(place), F.col(name)) for place, name in enumerate(ticks.columns)]
    nothing = [F.lit(None).cast(field.dataType).alias(field.name) for field in df.schema]
    return rows.union(ticks.where(tick[0] + tick[1] + tick[2] >= 0).select(*nothing)).where(BARRIER)


def own_ticks(ticks: DataFrame | None, stream: str) -> DataFrame | None:
    """What the ticks say that concern a stream."""
    if ticks is None:
        return None
    return ticks.where(ticks["stream"].isNull() | (ticks["stream"] == stream)).select("silence", "beyond", "newest")


def _gauge(session: SparkSession, spec: Spec) -> Any:
    context: Any = session.sparkContext
    controls = controls_of(session)
    _watch(session, controls)
    name = f"{next(_numbers):09d}"
    skew = controller_of(spec.policy).skew
    return instance(session, "Gauge", name, spec.text, skew, MOST, context._jsc.sc().collectionAccumulator())


def _watch(session: SparkSession, controls: Controls) -> None:
    """Has the session look at queries that begin, unless it does."""
    jvm: Any = session._jvm
    planning = session._jsparkSession.experimental()
    found = planning.extraStrategies()
    strategies = [found.apply(place) for place in range(found.size())]
    if not any(each.getClass().getName() == WATCH for each in strategies):
        watch = instance(session, "Watch", session._jsparkSession, controls.folder, FAR).asking(controls)
        getattr(planning, "extraStrategies_$eq")(jvm.PythonUtils.toSeq([*strategies, watch]))


def controls_of(session: SparkSession) -> Controls:
    """The controllers of all queries of a Spark application, which its driver can call."""
    ensure_callback_server_started(session.sparkContext._gateway)  # type: ignore[no-untyped-call]
    return _controls(session.sparkContext.applicationId)


@lru_cache(maxsize=1)
def _controls(_application: str) -> Controls:
    """A process has one application at a time."""
    return Controls()


def told(session: SparkSession, rows: Column) -> Column:
    """A metric for `observe`: what the controllers of the query say of each batch, as JSON (see `Seen`).

    Spark evaluates it in the driver when it reports a batch, after the controllers have seen it; they leave their words
    in a property of the driver (see Steering.java). The expression has no class of ours, since it goes to the executors
    with the tasks, and depends on `rows`, a count of the batch: one of constants would be evaluated at planning.
    """
    jvm: Any = session._jvm
    types, objects = jvm.org.apache.spark.sql.types, jvm.org.apache.spark.sql.catalyst.expressions.objects
    convert = getattr(getattr(jvm.org.apache.spark.sql.classic, "ExpressionUtils$"), "MODULE$")
    named = F.when(rows >= 0, F.lit(f"{TOLD}{uuid4()}"))
    text, string = types.ObjectType(_class(jvm, "java.lang.String")), types.DataTypes.StringType
    none = jvm.PythonUtils.toSeq([])
    name = objects.Invoke(convert.expression(named._jc), "toString", text, none, none, True, True, True)
    options = jvm.PythonUtils.toSeq([]), True, True, True, jvm.scala.Option.empty()
    found = objects.StaticInvoke(_class(jvm, "java.lang.System"), text, "getProperty", _seq(jvm, name), *options)
    utf8 = _class(jvm, "org.apache.spark.unsafe.types.UTF8String")
    return Column(convert.column(objects.StaticInvoke(utf8, string, "fromString", _seq(jvm, found), *options)))


def _seq(jvm: Any, *each: Any) -> Any:
    return jvm.PythonUtils.toSeq(list(each))


def _class(jvm: Any, name: str) -> Any:
    return jvm.java.lang.Class.forName(name)


def _now(event: Column) -> Column:
    """The time of the batch. As an element of an array that depends on the row it is no constant of the generated code,
    which would have to be compiled anew for every batch."""
    return F.get(F.array(F.unix_millis(F.current_timestamp())), event.bitwiseAND(F.lit(0)).cast("int"))
