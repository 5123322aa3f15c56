"""An adaptive watermark under Spark's own operators: punctuation rows drive `withWatermark`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import NumericType, TimestampType

from slackwater.algebra.nodes import Policy
from slackwater.errors import InputError, nearest
from slackwater.spark import policy as policies
from slackwater.spark.accounts import control_folder, control_name
from slackwater.spark.gauge.gauged import FAR, gauged
from slackwater.spark.gauge.steering import Spec
from slackwater.spark.punctuate import ACCOUNT_SCHEMA, Punctuate, PunctuateInFiles
from slackwater.spark.relation import quoted
from slackwater.spark.session import require_state_store
from slackwater.spark.summary import SCHEMA, own_ticks, summarise, tick_rows

CLOCK = "__slackwater_clock"
METRICS = "slackwater.control"
READ = "slackwater.read"
WATERMARKED = "spark.watermarkDelayMs"
BARRIER = f"{CLOCK} IS NULL AND spark_partition_id() >= 0"
"""Removes the punctuation rows above the watermark. Its second half is always true and not deterministic, so that
Catalyst moves no later predicate below it: one that did get there would remove the punctuations themselves."""

_numbers = count(1)


def with_disorder_control(
    df: DataFrame,
    event_time: str,
    dratio: float | str | None = None,
    *,
    arrival: str | None = None,
    source: str | None = None,
    slack: int | None = None,
    bsize: int | None = None,
    estimator: str | None = None,
    idle: str | None = None,
    skew: str | None = None,
) -> DataFrame:
    """`df` with a watermark on `event_time` that keeps at most a share `dratio` of the rows late.

    Takes the place of `withWatermark`: any streaming query can follow, and on a batch DataFrame it does nothing.
    `arrival` names the column with the arrival time (without it, the time at which Spark took the row in), `source`
    the one that names the sender. The rest is the policy, as in the brackets of the language. The controller's state
    is in the query's checkpoint, wherever that is. What it has counted: `accounts(query)`.
    """
    policy = policies.stated(dratio, slack=slack, bsize=bsize, estimator=estimator, idle=idle, skew=skew)
    return controlled(df, event_time, policy, arrival=arrival, source=source)


@dataclass(frozen=True, slots=True)
class Place:
    """Where control keeps its state, and what wakes it.

    `checkpoint` is that of the query, if it is known; `ticks` (see `Tick`) tell of time that passes while no row comes.
    """

    checkpoint: str | None = None
    ticks: DataFrame | None = None


IN_STORE = Place()
"""The state is in Spark's state store, and only rows wake the controller."""


def controlled(
    df: DataFrame,
    event_time: str,
    policy: Policy,
    *,
    arrival: str | None = None,
    source: str | None = None,
) -> DataFrame:
    """`df` under the control of a policy; see `with_disorder_control`."""
    _check(df, event_time, arrival, source)
    if not df.isStreaming:
        return df
    return steered(read_by_controller(df, event_time, policy, arrival=arrival, source=source), event_time)


def read_by_controller(
    df: DataFrame,
    event_time: str,
    policy: Policy,
    *,
    arrival: str | None = None,
    source: str | None = None,
    name: str = "",
    ticks: DataFrame | None = None,
) -> DataFrame:
    """The rows of `df`, of which a controller takes notice as they pass."""
    control = control_name(name, event_time, policy, arrival, source)
    spec = Spec(control, policy, in_arrival_order=arrival is not None, named=source is not None)
    told = None if ticks is None else own_ticks(ticks, name)
    return gauged(df, spec, event_time, arrival, source, told)


def steered(rows: DataFrame, event_time: str) -> DataFrame:
    """Rows with a watermark on `event_time` that only controllers move."""
    behind = rows.withWatermark(event_time, f"{FAR} days")
    return behind.select(*[_marked(rows, name, event_time) for name in rows.columns])


def clocked(rows: DataFrame, event_time: str, clock: DataFrame) -> DataFrame:
    """Rows with a watermark on `event_time` that follows the punctuations of `clock`."""
    waiting = rows.withColumn(CLOCK, F.lit(None).cast("timestamp"))
    ticking = clock.withColumn(event_time, F.col(CLOCK))
    merged = waiting.unionByName(ticking, allowMissingColumns=True).withWatermark(CLOCK, "0 seconds")
    return merged.where(BARRIER).select(*[_marked(rows, name, event_time) for name in rows.columns])


def rows_of(df: DataFrame, name: str) -> DataFrame:
    """The rows of a stream, without the punctuations that it may bring along in the column CLOCK.

    Those of a stream that does are counted, in Spark's progress: no controller does it.
    """
    if CLOCK not in df.columns:
        return df
    rows = df.where(F.col(CLOCK).isNull()).drop(CLOCK)
    return rows.observe(f"{READ}.{next(_numbers)}.{name}", F.count(F.lit(1)).alias("rows"))


def clock_of(df: DataFrame) -> DataFrame:
    """The punctuations that a stream brings along."""
    return df.where(F.col(CLOCK).isNotNull()).select(CLOCK)


def punctuations(
    df: DataFrame,
    event_time: str,
    policy: Policy,
    *,
    arrival: str | None = None,
    source: str | None = None,
    name: str = "",
    place: Place = IN_STORE,
) -> DataFrame:
    """One row per batch of `df`: in the column CLOCK, the punctuation after it.

    What the controller counts is in Spark's progress as an observed metric whose name ends with that of the control.
    A stream that brings its punctuations along needs no controller.
    """
    if CLOCK in df.columns:
        return clock_of(df)
    control = control_name(name, event_time, policy, arrival, source)
    summaries = df.select(*_times(event_time, arrival, source)).mapInArrow(summarise, SCHEMA)
    if place.ticks is not None:
        summaries = summaries.unionByName(tick_rows(place.ticks, name))
    if place.checkpoint is None:
        accounts = _in_store(summaries, policy, in_arrival_order=arrival is not None)
    else:
        folder = control_folder(place.checkpoint, control)
        step = PunctuateInFiles(policy, folder, in_arrival_order=arrival is not None)
        accounts = summaries.repartition(1).mapInArrow(step, ACCOUNT_SCHEMA)
    observed = accounts.observe(f"{METRICS}.{next(_numbers)}.{control}", *_metrics(accounts))
    return observed.select(F.timestamp_millis("punctuation").alias(CLOCK))


def _in_store(summaries: DataFrame, policy: Policy, *, in_arrival_order: bool) -> DataFrame:
    require_state_store(summaries.sparkSession)
    step = Punctuate(policy, in_arrival_order=in_arrival_order)
    return summaries.groupBy("key").transformWithStateInPandas(step, ACCOUNT_SCHEMA, "Append", "None")


def _times(event_time: str, arrival: str | None, source: str | None) -> list[Column]:
    arrived = F.unix_millis(quoted(arrival)) if arrival else F.unix_millis(F.current_timestamp())
    times = [F.unix_millis(quoted(event_time)).alias("event"), arrived.alias("arrival")]
    return times + ([F.xxhash64(quoted(source)).alias("source")] if source else [])


def _metrics(accounts: DataFrame) -> list[Column]:
    return [F.max(name).alias(name) for name in accounts.columns]


def _marked(df: DataFrame, name: str, event_time: str) -> Column:
    """The event time carries the mark by which Spark's operators know that the watermark is its own."""
    if name != event_time:
        return F.col(quoted(name))
    return F.col(quoted(name)).alias(name, metadata={**df.schema[name].metadata, WATERMARKED: 0})


def _check(df: DataFrame, event_time: str, arrival: str | None, source: str | None) -> None:
    for role, name in (("event time", event_time), ("arrival", arrival), ("source", source)):
        if name is not None and name not in df.columns:
            raise InputError("SW-430", f"there is no column '{name}' for the {role}", hint=nearest(name, df.columns))
    for role, name in (("event time", event_time), ("arrival", arrival)):
        if name is not None and not isinstance(df.schema[name].dataType, TimestampType):
            kind = df.schema[name].dataType
            function = "timestamp_millis" if isinstance(kind, NumericType) else "to_timestamp"
            raise InputError(
                "SW-431",
                f"the {role} '{name}' is of type {kind.simpleString()}",
                expected="a column of type timestamp",
                hint=f"convert it first, for example with {function}({name})",
            )
