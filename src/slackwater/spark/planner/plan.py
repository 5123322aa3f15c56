"""Compile a bound plan to Spark's own operators, or to the fused operator if `ways` chooses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.expressions import conjunction
from slackwater.algebra.nodes import (
    Aggregate,
    Disorder,
    Distinct,
    Emit,
    Frequency,
    Item,
    Join,
    Minus,
    Plan,
    Project,
    Scan,
    Select,
    Subquery,
    Union,
    View,
    Window,
)
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.properties.instants import instants_of
from slackwater.algebra.schema import Field, Schema
from slackwater.spark.operator.writing import DEFAULT, Form
from slackwater.spark.planner.aggregates import aggregate_extents, ordered_aggregate
from slackwater.spark.planner.fused.fuse import fuse
from slackwater.spark.planner.joins import join_extents, subtract_extents, unite_extents
from slackwater.spark.planner.narrow import columns_named_in, covered_entries, keep_columns
from slackwater.spark.planner.obstacles import even, unsupported
from slackwater.spark.planner.sync import extents_of, with_sync
from slackwater.spark.planner.ways import Host, way_of
from slackwater.spark.planner.windows import closed_extents, distinct, with_extents
from slackwater.spark.relation import ARRIVED, BATCH, PLACE, TIME, Relation, column_name, dataframe_of, quote
from slackwater.spark.shim.driver import row_places
from slackwater.spark.watermark.control import Reads, with_clock_watermark
from slackwater.spark.watermark.hosts import GAUGE

Inputs = Mapping[str, DataFrame]
"""The DataFrame of each stream, by the name in the plan's scans."""


def compile_plan(plan: Plan, streams: Inputs, ticks: DataFrame | None = None, form: Form = DEFAULT) -> DataFrame:
    """Return a DataFrame with the plan's rows, to be written in append mode.

    Selections and projections directly above a stream's disorder control are computed below it, in the scan: Spark
    cannot move them there. The rewrites put as many of them there as possible. Over batch DataFrames the result is that
    of the whole input, in which no row is late. `form` is how changes are written; `ticks` move time if no row comes.
    """
    reads = Reads(ticks, plan, streams)
    if way_of(plan, placed=reads.host(session_of(streams)) == GAUGE).host is Host.FUSED:
        return fuse(plan, streams, reads, form)
    covers = tuple(covered_entries(plan, is_entry))
    native = Native(streams, columns_named_in(plan, is_entry), covers, reads, ordered_aggregate(plan) is not None)
    relation = closed_extents(native.relation(plan))
    names = dict(zip(relation.names, schema_of(plan).names, strict=True))
    if isinstance(plan, Emit) and plan.sync:
        return with_sync(relation, names, [native.relation(each) for each in extents_of(plan)])
    return relation.df.select(*(F.col(quote(name)).alias(new) for name, new in names.items()))


@dataclass(frozen=True, slots=True)
class Native:
    """Compiles the operators of one query. A stream that is read twice under one policy has one control.

    Of the `covered` entries, only the columns in `names` are read. If the query is `ordered`, its result depends on the
    order of rows, and rows have their position in the source.
    """

    streams: Inputs
    names: frozenset[str]
    covered: tuple[Plan, ...]
    reads: Reads
    ordered: bool = False

    def relation(self, plan: Plan) -> Relation:
        """Return the rows of an operator."""
        if is_entry(plan):
            return self.entry(plan)
        match plan:
            case Emit(child=child):
                return self.relation(child)
            case Subquery(alias=alias, query=query) | View(alias=alias, query=query):
                return self.compile_subquery(alias, query)
            case Window(child=child) | Frequency(child=Window(child=child)):
                return self.window(plan, child)
            case Select(child=Join(condition=joint) as join, condition=condition):
                both = conjunction((joint, condition)) if joint else condition
                return self.relation(replace(join, condition=both))
            case Select(child=child):
                return _selected(plan, self.relation(child))
            case Project(child=child, items=items):
                return _projected(items, self.relation(child))
            case Aggregate(child=child, group=group, aggregates=aggregates):
                return aggregate_extents(self.relation(child), group, aggregates)
            case Distinct(child=child):
                return distinct(self.relation(child))
            case Join(left=left, right=right, condition=condition):
                return join_extents(self.relation(left), self.relation(right), condition)
            case Union(left=left, right=right):
                return unite_extents(self.relation(left), self.relation(right))
            case Minus(left=left, right=right):
                return subtract_extents(self.relation(left), self.relation(right))
            case _:
                raise unsupported(plan, "it has no counterpart among Spark's operators")

    def window(self, plan: Window | Frequency, child: Plan) -> Relation:
        instants = instants_of(plan)
        length = instants.window.amount if instants.window else 0
        by = plan.by or (plan.child.by if isinstance(plan.child, Window) else ())
        return with_extents(self.relation(child), length, instants.every.amount, by)

    def compile_subquery(self, alias: str, query: Plan) -> Relation:
        """Return the rows of a subquery under its alias, each at the boundary at which the subquery emitted it."""
        inner = closed_extents(self.relation(query))
        schema = schema_of(query).qualify(alias)
        names = zip(inner.columns(), schema, strict=True)
        df = inner.df.select(*inner.own[:1], *(column.alias(column_name(new)) for column, new in names))
        outer = Relation(df, schema, extent=inner.extent, complete=True)
        every = instants_of(query).every
        if not every.is_time:
            return outer
        return outer if even(query) else with_extents(outer, every.amount, every.amount)

    def entry(self, plan: Plan) -> Relation:
        """Return the rows and columns of a controlled stream that the query needs. The controller sees every row."""
        scan, df = scan_of(plan), dataframe_of(scan_of(plan), self.streams)
        columns = {"arrival": scan.arrival, "source": scan.source}
        read = self.reads.rows(df, scan.event_time, control_of(plan).policy, name=scan.stream, **columns)
        rows = _uncontrolled(plan, read, self.ordered)
        if any(each is plan for each in self.covered):
            rows = keep_columns(rows, self.names)
        return (
            replace(rows, df=with_clock_watermark(rows.df, TIME, self.reads.clock(df, scan.stream)))
            if df.isStreaming
            else rows
        )


def session_of(streams: Inputs) -> SparkSession:
    return next(iter(streams.values())).sparkSession


def is_entry(plan: Plan) -> bool:
    """Return whether a plan is a disorder control, or has only selections and projections above one."""
    match plan:
        case Disorder():
            return True
        case Select(child=child) | Project(child=child):
            return is_entry(child)
        case _:
            return False


def control_of(plan: Plan) -> Disorder:
    return plan if isinstance(plan, Disorder) else control_of(plan.child)  # type: ignore[union-attr]


def scan_of(plan: Plan) -> Scan:
    return plan if isinstance(plan, Scan) else scan_of(plan.child)  # type: ignore[union-attr]


def _uncontrolled(plan: Plan, df: DataFrame, ordered: bool) -> Relation:
    match plan:
        case Scan():
            return _scanned(plan, df, ordered)
        case Disorder(child=child):
            return _uncontrolled(child, df, ordered)
        case Select(child=child):
            return _selected(plan, _uncontrolled(child, df, ordered))
        case Project(child=child, items=items):
            return _projected(items, _uncontrolled(child, df, ordered))
        case _:
            raise unsupported(plan, "it cannot stand below disorder control")


def _scanned(scan: Scan, df: DataFrame, ordered: bool) -> Relation:
    """Return the rows of a stream, in the order of the language: event time, arrival, position in the source."""
    schema = Schema(scan.fields).qualify(scan.alias)
    times = {TIME: scan.event_time} | ({ARRIVED: scan.arrival} if scan.arrival else {})
    order = {name: F.col(quote(column)).cast("timestamp") for name, column in times.items()}
    if ordered:
        order |= zip((BATCH, PLACE), row_places(df.sparkSession), strict=True)
    copies = [column.alias(name) for name, column in order.items()]
    df = df.select(*copies, *(F.col(quote(field.name)).alias(column_name(field)) for field in schema))
    return Relation(df, schema, tuple(order))


def _selected(plan: Select, relation: Relation) -> Relation:
    return replace(relation, df=relation.df.where(relation.column(plan.condition)))


def _projected(items: tuple[Item, ...], relation: Relation) -> Relation:
    """Return the columns of a select list and the internal ones."""
    df = relation.df.select(*relation.own, *(relation.column(item.expr).alias(item.name) for item in items))
    return replace(relation, df=df, schema=Schema(tuple(Field(item.name, item.expr.type) for item in items)))
