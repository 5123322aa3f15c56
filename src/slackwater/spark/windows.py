"""Boundary windows with Spark's own operators: extents, their aggregates, their rows."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from sqlglot import exp

from slackwater.algebra.expressions import parsed, text
from slackwater.algebra.nodes import Item
from slackwater.algebra.schema import Expr, Field, Schema
from slackwater.spark.relation import WINDOW, Relation, column_name, earlier, quoted

ROWS = "__rows"


def with_extents(relation: Relation, length: int, slide: int) -> Relation:
    """Each row once for every extent [b - length, b) that it falls in; boundaries b are the multiples of `slide`."""
    event = F.col(quoted(relation.order[0]))
    if slide <= length:
        # Spark starts windows at multiples of the slide; here the *ends* must be such.
        window = F.window(event, _ticks(length), _ticks(slide), _ticks(-length % slide))
        df = relation.df.withColumn(WINDOW, window)
    else:
        # Extents with gaps between them, which Spark refuses: slots of one slide, of which only the end counts.
        df = relation.df.withColumn(WINDOW, F.window(event, _ticks(slide))).where(event >= F.expr(earlier(length)))
    return replace(relation, df=df, extent=length)


def aggregated(relation: Relation, group: tuple[Item, ...], aggregates: tuple[Item, ...]) -> Relation:
    """One row per extent and group, once the extent is closed."""
    keys = [relation.column(item.expr).alias(item.name) for item in group]
    values = [_aggregate(relation, item.expr).alias(item.name) for item in aggregates]
    # An extent with rows is never empty, so a group without aggregates needs a column to hold its place.
    df = relation.df.groupBy(F.col(WINDOW), *keys).agg(*(values or [F.count(F.lit(1)).alias(ROWS)]))
    schema = Schema(tuple(Field(item.name, item.expr.type) for item in group + aggregates))
    return Relation(df, schema, extent=relation.extent, complete=True)


def completed(relation: Relation) -> Relation:
    """The rows of every extent as they are, once the extent is closed."""
    if relation.complete:
        return relation
    gathered = relation.df.groupBy(WINDOW).agg(F.collect_list(F.struct(*relation.columns())).alias(ROWS))
    return replace(relation, df=gathered.select(WINDOW, F.inline(ROWS)), order=(), complete=True)


def distinct(relation: Relation) -> Relation:
    """Each row of an extent once."""
    names = [column_name(field) for field in relation.schema]
    if relation.complete:
        return replace(relation, df=relation.df.dropDuplicates([WINDOW, *names]))
    df = relation.df.groupBy(WINDOW, *map(quoted, names)).agg(F.count(F.lit(1)).alias(ROWS))
    return replace(relation, df=df, order=(), complete=True)


def _aggregate(relation: Relation, expr: Expr) -> Column:
    """An aggregate call; LAST takes the group's latest row in sequence order, not in order of processing."""
    call = parsed(expr.sql)
    if isinstance(call, exp.Last):
        latest = F.struct(*(F.col(quoted(name)) for name in relation.order))
        return F.max_by(relation.column(Expr(text(call.this), expr.type)), latest)
    return relation.column(expr)


def _ticks(amount: int) -> str:
    return f"{amount} microseconds"
