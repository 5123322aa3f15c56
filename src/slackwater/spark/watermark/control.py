"""Give a DataFrame an adaptive watermark, which any operator of Spark can follow."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import NumericType, TimestampType

from slackwater.algebra.nodes import Disorder, Plan, Policy, Scan, walk
from slackwater.errors import InputError, nearest
from slackwater.spark.relation import dataframe_of, quote
from slackwater.spark.watermark import policy as policies
from slackwater.spark.watermark.accounts import control_name
from slackwater.spark.watermark.gauge import FAR, add_gauge, own_ticks
from slackwater.spark.watermark.hosts import GAUGE, ROWS, host_of
from slackwater.spark.watermark.lateness import extents_of
from slackwater.spark.watermark.rows_host import CLOCK, ClockedStream, punctuation_rows
from slackwater.spark.watermark.spec import Spec

CONTROLLED = "_slackwater_control"
"""The attribute of a controlled DataFrame with its input, event time, policy, arrival and source."""
READ = "slackwater.read"
NAME_PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")
"""A part of a name such as a.`t s`, with or without back-quotes."""
WATERMARKED = "spark.watermarkDelayMs"
BARRIER = f"{CLOCK} IS NULL AND spark_partition_id() >= 0"
"""Removes the punctuation rows above the watermark. Its second half is always true but not deterministic, so that
Catalyst moves no later predicate below it: there, the predicate would remove the punctuations."""

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
    within: str | None = None,
) -> DataFrame:
    """Return `df` with a watermark on `event_time` that keeps at most a share `dratio` of the rows late.

    Takes the place of `withWatermark`: any streaming query can follow. On a batch DataFrame it does nothing. The
    controller's state is in the query's checkpoint. `accounts(query)` tells what it has counted.

    Parameters
    ----------
    df
        A streaming DataFrame.
    event_time
        The column with the event time, a timestamp.
    dratio
        The share of rows that may be late: `"1%"` or `0.01`; 0.1% if neither it nor `slack` is given.
    arrival
        The column with the arrival time; without it, the time at which Spark read the row.
    source
        The column that names the sender. A sender that is silent or late is then treated on its own.
    slack
        A fixed buffer of so many rows; with `dratio`, the most rows that may be held.
    bsize
        The most rows that may be held, whatever else is stated.
    estimator
        `"budget"` (default), or an estimator of the papers.
    idle
        After so much silence, such as `"1 minute"`, a source no longer holds windows open; at most 10 minutes.
    skew
        A row stamped more than this after its arrival does not move the watermark; 5 minutes.
    within
        Keeps the watermark at most that far behind the newest row, at the cost of the ratio where both cannot be had.

    Returns
    -------
    DataFrame
        The same rows and columns, under the watermark.

    Examples
    --------
    events = spark.readStream.format("rate").load().selectExpr("value % 10 AS sensor", "timestamp AS ts")
    controlled = sw.with_disorder_control(events, "ts", "1%", source="sensor", within="1 minute")
    counts = controlled.groupBy(F.window("ts", "10 seconds"), "sensor").count()
    """
    policy = policies.policy_of(
        dratio, slack=slack, bsize=bsize, estimator=estimator, idle=idle, skew=skew, within=within
    )
    return control_disorder(df, event_time, policy, arrival=arrival, source=source)


def control_disorder(
    df: DataFrame,
    event_time: str,
    policy: Policy,
    *,
    arrival: str | None = None,
    source: str | None = None,
) -> DataFrame:
    """Return `df` under the control of a policy; see `with_disorder_control`."""
    alias, event_time = _alias(df, event_time), _column(df, "event time", event_time)
    arrival = arrival and _column(df, "arrival", arrival)
    source = source and _column(df, "source", source)
    _check_times(df, event_time, arrival)
    if not df.isStreaming:
        return df
    reads = Reads()
    read = reads.rows(df, event_time, policy, arrival=arrival, source=source)
    rows = with_clock_watermark(read, event_time, reads.clock(df))
    rows = rows.alias(alias) if alias else rows
    setattr(rows, CONTROLLED, reads.stream(df, policy, event_time, arrival, source))
    return rows


@dataclass(frozen=True, slots=True)
class Reads:
    """Reads the streams of one query, so that each control sees its stream once even if the query reads it twice.

    `ticks` (see `Tick`) move time while no row comes. With the `plan` of the query, a controller knows which late rows
    are lost: those that missed a window. Without it, a row is lost if rows after its place were released before.
    """

    ticks: DataFrame | None = None
    plan: Plan | None = None
    streams: Mapping[str, DataFrame] = field(default_factory=dict)
    """The DataFrame of each stream of the plan: controllers in the plan run in one operator, which reads them all."""
    done: dict[str, DataFrame | None] = field(default_factory=dict)
    """The punctuations of each control by name; None if they do not come as rows of the plan."""
    clocks: dict[str, DataFrame | None] = field(default_factory=dict)
    """The punctuations of each stream by name, of the control under which it was read last."""

    def rows(
        self,
        df: DataFrame,
        event_time: str,
        policy: Policy,
        *,
        arrival: str | None = None,
        source: str | None = None,
        name: str = "",
    ) -> DataFrame:
        """Return the rows of a stream, which pass its control.

        A stream that has punctuations as rows needs no controller, nor does a batch DataFrame.
        """
        if CLOCK in df.columns:
            return _counted(df, name)
        if not df.isStreaming:
            return df
        rows, own = df, self.stream(df, policy, event_time, arrival, source, name)
        control = own.spec.control
        if control not in self.done:
            if self.host(df.sparkSession) == ROWS:
                self.done.update(punctuation_rows(self._streams() or [own]))
            else:
                rows = add_gauge(df, own.spec, event_time, arrival, source, own_ticks(self.ticks, name))
                self.done[control] = None
        self.clocks[name] = self.done[control]
        return rows

    def _streams(self) -> list[ClockedStream]:
        """Return the streams of the plan that need a controller, each once per policy."""
        found = {}
        for disorder in walk(self.plan) if self.plan is not None and self.streams else ():
            if isinstance(disorder, Disorder):
                scan = next(each for each in walk(disorder) if isinstance(each, Scan))
                df = dataframe_of(scan, self.streams)
                if df.isStreaming and CLOCK not in df.columns:
                    clocks = scan.event_time, scan.arrival, scan.source
                    own = self.stream(df, disorder.policy, *clocks, scan.stream)
                    found[own.spec.control] = own
        return list(found.values())

    def stream(
        self, df: DataFrame, policy: Policy, event_time: str, arrival: str | None, source: str | None, name: str = ""
    ) -> ClockedStream:
        """Return a stream of the query with the specification of its controller."""
        control = control_name(name, event_time, policy, arrival, source)
        extents = () if self.plan is None else extents_of(self.plan, name)
        in_order, named = arrival is not None, source is not None
        spec = Spec(control, policy, in_arrival_order=in_order, named=named, extents=extents)
        return ClockedStream(df, spec, event_time, arrival, source)

    def host(self, session: SparkSession) -> str:
        """Return who runs the controllers. Ticks come from `run`, which needs the files of the gauge."""
        return GAUGE if self.ticks is not None else host_of(session)

    def clock(self, df: DataFrame, name: str = "") -> DataFrame | None:
        """Return the punctuations of a stream that come as rows: its own, or those of a controller in the plan."""
        if CLOCK in df.columns:
            return df.where(F.col(CLOCK).isNotNull()).select(CLOCK)
        return self.clocks.get(name)


def with_clock_watermark(rows: DataFrame, event_time: str, clock: DataFrame | None) -> DataFrame:
    """Return rows with a watermark on `event_time` that follows the punctuations of `clock` or the gauge."""
    if clock is None:
        merged = rows.withWatermark(quote(event_time), f"{FAR} days")
    else:
        waiting = rows.withColumn(CLOCK, F.lit(None).cast("timestamp"))
        ticking = clock.withColumn(event_time, F.col(CLOCK))
        merged = waiting.unionByName(ticking, allowMissingColumns=True).withWatermark(CLOCK, "0 seconds").where(BARRIER)
    return merged.select(*[_marked(rows, name, event_time) for name in rows.columns])


def _counted(df: DataFrame, name: str) -> DataFrame:
    """Return rows without the punctuations. Spark's progress counts them, because no controller does."""
    rows = df.where(F.col(CLOCK).isNull()).drop(CLOCK)
    return rows.observe(f"{READ}.{next(_numbers)}.{name}", F.count(F.lit(1)).alias("rows"))


def _marked(df: DataFrame, name: str, event_time: str) -> Column:
    """Return a column; the event time has the metadata by which Spark knows the column of the watermark."""
    if name != event_time:
        return F.col(quote(name))
    return F.col(quote(name)).alias(name, metadata={**df.schema[name].metadata, WATERMARKED: 0})


def _column(df: DataFrame, role: str, name: str) -> str:
    """Return the column of `df` that Spark takes a name for: after an alias, in back-quotes or in another case.

    A field of a struct is no column; `withWatermark` refuses it as well.
    """
    if name in df.columns:
        return name
    last = ([""] + [a.replace("``", "`") or b for a, b in NAME_PART.findall(name)])[-1]
    alike = [each for each in df.columns if each.lower() == last.lower()]
    try:  # Spark logs every name that it does not find, so ask it only for a name that can be right
        meant = df.select(name) if alike else df
        matching = [each for each in alike if df.select(quote(each)).sameSemantics(meant)]
    except AnalysisException:
        matching = []
    if not matching:
        raise InputError("SW-430", f"there is no column '{name}' for the {role}", hint=nearest(name, df.columns))
    return matching[0]


def _alias(df: DataFrame, name: str) -> str | None:
    """Return the alias of `df` in a name such as `a.ts`, so that the controlled DataFrame can have it as well."""
    before, dot, _ = name.partition(".")
    if name in df.columns or not dot or before.startswith("`"):
        return None
    try:
        return before if df.select(f"{before}.*").columns == df.columns else None
    except AnalysisException:
        return None


def _check_times(df: DataFrame, event_time: str, arrival: str | None) -> None:
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
