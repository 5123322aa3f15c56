"""From a bound plan to Spark's own operators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.columns import schema_of
from slackwater.algebra.expressions import columns
from slackwater.algebra.instants import instants_of
from slackwater.algebra.nodes import (
    Aggregate,
    Disorder,
    Distinct,
    Emit,
    Frequency,
    Item,
    Mode,
    Plan,
    Project,
    Scan,
    Select,
    Window,
)
from slackwater.algebra.schema import Field, Schema
from slackwater.errors import InputError, QueryError, nearest
from slackwater.spark.control import clocked, punctuations
from slackwater.spark.relation import WINDOW, Relation, column_name, quoted
from slackwater.spark.windows import aggregated, completed, distinct, with_extents

Inputs = Mapping[str, DataFrame]
"""The DataFrame of each stream, by the name that the plan's scans give."""


def compile_plan(plan: Plan, streams: Inputs) -> DataFrame:
    """A streaming DataFrame that yields the plan's rows, to be written in append mode.

    Selections and projections that stand over a stream's disorder control are done below it, in the scan: Spark
    cannot move them there. A plan that went through the rewrites has as many of them there as possible.
    """
    if isinstance(plan, Emit) and (plan.mode is not Mode.FINAL or plan.sync):
        raise unsupported(plan)
    relation = completed(_relation(plan, streams))
    found = [quoted(column_name(field)) for field in relation.schema]
    return relation.df.select(*(F.col(name).alias(new) for name, new in zip(found, schema_of(plan).names, strict=True)))


def unsupported(plan: Plan) -> QueryError:
    return QueryError(
        "SW-301",
        f"{type(plan).__name__} of this kind cannot be run with Spark's own operators",
        expected="windows with RANGE and SLIDE in times, and EMIT FINAL",
        hint="add SLIDE to the window",
    )


def _relation(plan: Plan, streams: Inputs) -> Relation:
    if is_entry(plan):
        return _entry(plan, streams)
    match plan:
        case Emit(child=child):
            return _relation(child, streams)
        case Window(child=child) | Frequency(child=Window(child=child)) if _at_boundaries(plan):
            instants = instants_of(plan)
            length = instants.window.amount if instants.window else 0
            return with_extents(_relation(child, streams), length, instants.every.amount)
        case Select(child=child):
            return _selected(plan, _relation(child, streams))
        case Project(child=child, items=items):
            return _projected(items, completed(_relation(child, streams)))
        case Aggregate(child=child, group=group, aggregates=aggregates) if _at_boundaries(child):
            return aggregated(_relation(child, streams), group, aggregates)
        case Distinct(child=child) if _at_boundaries(child):
            return distinct(_relation(child, streams))
        case _:
            raise unsupported(plan)


def _at_boundaries(plan: Plan) -> bool:
    instants = instants_of(plan)
    return instants.at_boundaries and instants.window is not None and instants.window.is_time


def is_entry(plan: Plan) -> bool:
    """Whether this is a controlled stream, with no more than selections and projections around the control."""
    match plan:
        case Disorder():
            return True
        case Select(child=child) | Project(child=child):
            return is_entry(child)
        case _:
            return False


def _entry(plan: Plan, streams: Inputs) -> Relation:
    """The controller sees every row of the stream; what the query does not need is left out beside it."""
    scan, disorder = scan_of(plan), control_of(plan)
    df = _stream(scan, streams)
    rows = _uncontrolled(plan, df)
    clock = punctuations(
        df, scan.event_time, disorder.policy, arrival=scan.arrival, source=scan.source, name=scan.stream
    )
    return replace(rows, df=clocked(rows.df, rows.order[0], clock))


def control_of(plan: Plan) -> Disorder:
    return plan if isinstance(plan, Disorder) else control_of(plan.child)  # type: ignore[union-attr]


def scan_of(plan: Plan) -> Scan:
    return plan if isinstance(plan, Scan) else scan_of(plan.child)  # type: ignore[union-attr]


def _uncontrolled(plan: Plan, df: DataFrame) -> Relation:
    match plan:
        case Scan():
            return _scanned(plan, df)
        case Disorder(child=child):
            return _uncontrolled(child, df)
        case Select(child=child):
            return _selected(plan, _uncontrolled(child, df))
        case Project(child=child, items=items):
            return _projected(items, _uncontrolled(child, df))
        case _:
            raise unsupported(plan)


def _stream(scan: Scan, streams: Inputs) -> DataFrame:
    names = {name.lower(): name for name in streams}
    if scan.stream.lower() not in names:
        raise InputError(
            "SW-432", f"no DataFrame is given for the stream '{scan.stream}'", hint=nearest(scan.stream, streams)
        )
    return streams[names[scan.stream.lower()]]


def _scanned(scan: Scan, df: DataFrame) -> Relation:
    schema = Schema(scan.fields).qualified(scan.alias)
    df = df.select(*(F.col(quoted(field.name)).alias(column_name(field)) for field in schema))
    order = [column_name(schema.find(name)) for name in (scan.event_time, scan.arrival) if name]
    return Relation(df, schema, tuple(order))


def _selected(plan: Select, relation: Relation) -> Relation:
    return replace(relation, df=relation.df.where(relation.column(plan.condition)))


def _projected(items: tuple[Item, ...], relation: Relation) -> Relation:
    """The select list; the columns that tell the sequence of rows stay findable under their new names."""
    kept = [F.col(WINDOW)] if relation.extent is not None else []
    df = relation.df.select(*kept, *(relation.column(item.expr).alias(item.name) for item in items))
    schema = Schema(tuple(Field(item.name, item.expr.type) for item in items))
    renamed = {_plain(relation, item): item.name for item in items}
    order = tuple(renamed[name] for name in relation.order if name in renamed)
    return replace(relation, df=df, schema=schema, order=order)


def _plain(relation: Relation, item: Item) -> str | None:
    """The column that an item merely names."""
    names = columns(item.expr)
    if len(names) != 1 or names[0] != item.expr.sql.replace("`", "") or names[0] not in relation.schema:
        return None
    return column_name(relation.schema.find(names[0]))
