"""From a bound plan to Spark's own operators, or to the fused operator where `ways` says so."""

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
from slackwater.spark.operator.entry import stream_of
from slackwater.spark.planner.aggregates import aggregated, ordered_aggregate
from slackwater.spark.planner.fused.changes import DEFAULT, Form
from slackwater.spark.planner.fused.fuse import fuse
from slackwater.spark.planner.joins import joined, united, without
from slackwater.spark.planner.narrow import covered, named_in, narrowed
from slackwater.spark.planner.obstacles import even, unsupported
from slackwater.spark.planner.sync import extents_of, with_sync
from slackwater.spark.planner.ways import Host, way_of
from slackwater.spark.planner.windows import completed, distinct, with_extents
from slackwater.spark.relation import ARRIVED, BATCH, PLACE, TIME, Relation, column_name, quoted
from slackwater.spark.shim.driver import row_places
from slackwater.spark.watermark.control import Reads, clocked
from slackwater.spark.watermark.hosts import GAUGE

Inputs = Mapping[str, DataFrame]
"""The DataFrame of each stream, by the name that the plan's scans give."""


def compile_plan(plan: Plan, streams: Inputs, ticks: DataFrame | None = None, form: Form = DEFAULT) -> DataFrame:
    """A streaming DataFrame that yields the plan's rows, to be written in append mode.

    Selections and projections that stand over a stream's disorder control are done below it, in the scan: Spark
    cannot move them there. A plan that went through the rewrites has as many of them there as possible. On batch
    DataFrames the answer is that over the whole input, in which nothing is late. `form` is how changes are written;
    `ticks` tell of time that passes while no row comes.
    """
    reads = Reads(ticks, plan)
    if way_of(plan, placed=reads.host(session_of(streams)) == GAUGE).host is Host.FUSED:
        return fuse(plan, streams, reads, form)
    covers = tuple(covered(plan, is_entry))
    native = Native(streams, named_in(plan, is_entry), covers, reads, ordered_aggregate(plan) is not None)
    relation = completed(native.relation(plan))
    names = dict(zip(relation.names, schema_of(plan).names, strict=True))
    if isinstance(plan, Emit) and plan.sync:
        return with_sync(relation, names, [native.relation(each) for each in extents_of(plan)])
    return relation.df.select(*(F.col(quoted(name)).alias(new) for name, new in names.items()))


@dataclass(frozen=True, slots=True)
class Native:
    """Compiles the operators of one query. A stream that is read twice under one policy is punctuated once.

    Of the `covered` entries only those columns are read that some operator above names. Rows have their position in
    the source if the query is `ordered`: if a result depends on the order of rows.
    """

    streams: Inputs
    names: frozenset[str]
    covered: tuple[Plan, ...]
    reads: Reads
    ordered: bool = False

    def relation(self, plan: Plan) -> Relation:
        """The rows of an operator."""
        if is_entry(plan):
            return self.entry(plan)
        match plan:
            case Emit(child=child):
                return self.relation(child)
            case Subquery(alias=alias, query=query) | View(alias=alias, query=query):
                return self.nested(alias, query)
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
                return aggregated(self.relation(child), group, aggregates)
            case Distinct(child=child):
                return distinct(self.relation(child))
            case Join(left=left, right=right, condition=condition):
                return joined(self.relation(left), self.relation(right), condition)
            case Union(left=left, right=right):
                return united(self.relation(left), self.relation(right))
            case Minus(left=left, right=right):
                return without(self.relation(left), self.relation(right))
            case _:
                raise unsupported(plan, "it has no counterpart among Spark's operators")

    def window(self, plan: Window | Frequency, child: Plan) -> Relation:
        instants = instants_of(plan)
        length = instants.window.amount if instants.window else 0
        by = plan.by or (plan.child.by if isinstance(plan.child, Window) else ())
        return with_extents(self.relation(child), length, instants.every.amount, by)

    def nested(self, alias: str, query: Plan) -> Relation:
        """A subquery's rows, under its alias. At its own boundaries it is read as what it emitted there."""
        inner = completed(self.relation(query))
        schema = schema_of(query).qualified(alias)
        names = zip(inner.columns(), schema, strict=True)
        df = inner.df.select(*inner.own[:1], *(column.alias(column_name(new)) for column, new in names))
        outer = Relation(df, schema, extent=inner.extent, complete=True)
        every = instants_of(query).every
        if not every.is_time:
            return outer
        return outer if even(query) else with_extents(outer, every.amount, every.amount)

    def entry(self, plan: Plan) -> Relation:
        """The controller sees every row of the stream; what the query does not need is left out beside it."""
        scan, df = scan_of(plan), stream_of(scan_of(plan), self.streams)
        columns = {"arrival": scan.arrival, "source": scan.source}
        read = self.reads.rows(df, scan.event_time, control_of(plan).policy, name=scan.stream, **columns)
        rows = _uncontrolled(plan, read, self.ordered)
        if any(each is plan for each in self.covered):
            rows = narrowed(rows, self.names)
        return replace(rows, df=clocked(rows.df, TIME, self.reads.clock(df, scan.stream))) if df.isStreaming else rows


def session_of(streams: Inputs) -> SparkSession:
    return next(iter(streams.values())).sparkSession


def is_entry(plan: Plan) -> bool:
    """Whether this is a controlled stream, with no more than selections and projections around the control."""
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
    schema = Schema(scan.fields).qualified(scan.alias)
    times = {TIME: scan.event_time} | ({ARRIVED: scan.arrival} if scan.arrival else {})
    order = {name: F.col(quoted(column)).cast("timestamp") for name, column in times.items()}
    if ordered:
        order |= zip((BATCH, PLACE), row_places(df.sparkSession), strict=True)
    copies = [column.alias(name) for name, column in order.items()]
    df = df.select(*copies, *(F.col(quoted(field.name)).alias(column_name(field)) for field in schema))
    return Relation(df, schema, tuple(order))


def _selected(plan: Select, relation: Relation) -> Relation:
    return replace(relation, df=relation.df.where(relation.column(plan.condition)))


def _projected(items: tuple[Item, ...], relation: Relation) -> Relation:
    """The select list, beside the columns of our own."""
    df = relation.df.select(*relation.own, *(relation.column(item.expr).alias(item.name) for item in items))
    return replace(relation, df=df, schema=Schema(tuple(Field(item.name, item.expr.type) for item in items)))
