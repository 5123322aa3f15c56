"""Add the gauge to a stream, which reads its clocks for a controller in the driver."""

from __future__ import annotations

from functools import lru_cache, reduce
from itertools import count
from operator import add
from typing import Any
from uuid import uuid4

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from slackwater.disorder.clock import EARLIEST
from slackwater.spark.relation import batch_time, quote
from slackwater.spark.shim.compiled import PACKAGE
from slackwater.spark.shim.driver import (
    accept_calls,
    call_long_operator,
    driver_property,
    new_gauge,
    watch_queries,
)
from slackwater.spark.watermark.policy import controller_of
from slackwater.spark.watermark.spec import Spec
from slackwater.spark.watermark.steering import Controls

FAR = 7_300_000
"""Days: a delay of the watermark that is so long that no row moves it. Only controllers do."""
MOST = 1 << 21
"""The largest number of rows of a stream's first batch that a task sends to the controller. Of more rows it sends every
second, every fourth and so on: the first batch may be a whole recorded stream, too much for the driver."""
NONE = EARLIEST
"""The number that means NULL to the gauge."""
TICK = ("silence", "beyond", "newest", "furthest")
"""The columns of a tick, in the order in which the gauge reads them."""
TOLD = f"{PACKAGE}.told."
"""The prefix of the driver's property in which Steering.java stores what the controllers saw."""
BARRIER = "spark_partition_id() >= 0"
"""Always true, but not deterministic, so that Catalyst moves no predicate below it, which would remove ticks."""

_numbers = count(1)


def with_punctuation(
    df: DataFrame, spec: Spec, event_time: str, arrival: str | None, source: str | None, name: str
) -> DataFrame:
    """Return the rows of a stream, with the punctuation of their batch in one more column."""
    session, gauge = df.sparkSession, _gauge(df.sparkSession, spec)
    event = F.unix_millis(quote(event_time))
    rows = df.where(_asked(session, gauge, event, _arrived(session, gauge, event, arrival, source)) >= 0)
    return rows.withColumn(name, F.timestamp_millis(_asked(session, gauge.punctuations(), event, F.lit(0))))


def add_gauge(
    df: DataFrame,
    spec: Spec,
    event_time: str,
    arrival: str | None = None,
    source: str | None = None,
    ticks: DataFrame | None = None,
) -> DataFrame:
    """Return the rows of a stream. The gauge sends their clocks, and the `ticks` of the stream, to the controller."""
    session = df.sparkSession
    gauge = _gauge(session, spec)
    event = F.unix_millis(quote(event_time))
    rows = df.where(_asked(session, gauge, event, _arrived(session, gauge, event, arrival, source)) >= 0)
    if ticks is None:
        return rows
    tick = [_asked(session, gauge.ticks(), F.lit(place), F.col(name)) for place, name in enumerate(ticks.columns)]
    nothing = [F.lit(None).cast(field.dataType).alias(field.name) for field in df.schema]
    return rows.union(ticks.where(reduce(add, tick) >= 0).select(*nothing)).where(BARRIER)


def _arrived(session: SparkSession, gauge: Any, event: Column, arrival: str | None, source: str | None) -> Column:
    arrived = F.unix_millis(quote(arrival)) if arrival else batch_time(event)
    return _asked(session, gauge.senders(), F.xxhash64(quote(source)), arrived) if source else arrived


def own_ticks(ticks: DataFrame | None, stream: str) -> DataFrame | None:
    """Return the ticks for a stream, including those for all streams."""
    if ticks is None:
        return None
    return ticks.where(ticks["stream"].isNull() | (ticks["stream"] == stream)).select(*TICK)


def _gauge(session: SparkSession, spec: Spec) -> Any:
    controls = controls_of(session)
    watch_queries(session, controls, controls.folder, FAR)
    name = f"{next(_numbers):09d}"
    extents = " ".join(str(each) for extent in spec.extents for each in extent)
    return new_gauge(session, name, spec.text, controller_of(spec.policy).skew, MOST, extents)


def controls_of(session: SparkSession) -> Controls:
    """Return the controllers of all queries of a Spark application, and let its driver call them."""
    accept_calls(session)
    return _controls(session.sparkContext.applicationId)


@lru_cache(maxsize=1)
def _controls(_application: str) -> Controls:
    """Return the controllers of an application. One is cached, because a process has one application at a time."""
    return Controls()


def _asked(session: SparkSession, operator: Any, *arguments: Column) -> Column:
    """Return the call of an operator on integers, with `NONE` for NULL."""
    given = [F.coalesce(each.cast("long"), F.lit(NONE)) for each in arguments]
    return call_long_operator(session, operator, given)


def seen_metric(session: SparkSession, rows: Column) -> Column:
    """Return a metric for `observe`: what the controllers of the query saw in each batch, as JSON (see `Seen`).

    Spark evaluates it in the driver when it reports a batch, after the controllers have stored their JSON in a property
    of the driver (see Steering.java). The expression uses no class of ours, because it is sent to the executors with
    the tasks. It depends on `rows`, a count of the batch, because a constant would be evaluated at planning.
    """
    return driver_property(session, F.when(rows >= 0, F.lit(f"{TOLD}{uuid4()}")))
