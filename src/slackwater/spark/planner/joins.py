"""Combine the extents of two inputs at their common boundaries: join, union, except.

One watermark closes both sides of a boundary in one batch. So a join is an aggregate as well: both sides are collected
by boundary and key, and paired. Unlike Spark's join of two streams, this keeps nothing for longer than the batch, and
no row of a boundary comes before both sides have passed it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from sqlglot import exp

from slackwater.algebra.expressions import conjuncts, name_of, parse_expr
from slackwater.algebra.schema import Expr, Schema
from slackwater.spark.planner.windows import closed_extents, mark_watermark
from slackwater.spark.relation import BOUNDARY, Relation, column_name, quote

LEFT, RIGHT = "__left", "__right"


def join_extents(left: Relation, right: Relation, condition: Expr | None) -> Relation:
    """Return the pairs of rows at the same boundary for which the condition is true."""
    left, right = closed_extents(left), closed_extents(right)
    keys = list(_equalities(left.schema, right.schema, condition))
    one = _keyed(left, [mine for mine, _ in keys], LEFT)
    two = _keyed(right, [other for _, other in keys], RIGHT)
    names = [_key(number) for number in range(len(keys))]
    met = _marked(one.unionByName(two, allowMissingColumns=True))
    sides = met.groupBy(BOUNDARY, *names).agg(*(F.collect_list(side).alias(side) for side in (LEFT, RIGHT)))
    pairs = sides.withColumn(LEFT, F.explode(LEFT)).withColumn(RIGHT, F.explode(RIGHT))
    df = pairs.select(BOUNDARY, f"{LEFT}.*", f"{RIGHT}.*")
    both = Relation(df, Schema(left.schema.fields + right.schema.fields), extent=left.extent, complete=True)
    return replace(both, df=df.where(both.column(condition))) if condition else both


def unite_extents(left: Relation, right: Relation) -> Relation:
    """Return the rows of both inputs, columns by position, with the names of the left."""
    left, right = closed_extents(left), closed_extents(right)
    df = left.df.select(BOUNDARY, *left.columns()).union(right.df.select(BOUNDARY, *right.columns()))
    return Relation(_marked(df), left.schema, extent=left.extent, complete=True)


def subtract_extents(left: Relation, right: Relation) -> Relation:
    """Return the rows of the left that have no equal row at the same boundary of the right, each once."""
    one = left.df.select(BOUNDARY, *left.columns(), F.lit(False).alias(RIGHT))
    two = right.df.select(BOUNDARY, *right.columns(), F.lit(True).alias(RIGHT))
    met = _marked(one.union(two)).groupBy(BOUNDARY, *left.columns()).agg(F.bool_or(RIGHT).alias(RIGHT))
    return Relation(met.where(~F.col(RIGHT)).drop(RIGHT), left.schema, extent=left.extent, complete=True)


def _marked(df: DataFrame) -> DataFrame:
    """Mark BOUNDARY as the column of the watermark again: a union loses the mark."""
    return df.select(*(mark_watermark(F.col(name)) if name == BOUNDARY else F.col(quote(name)) for name in df.columns))


def _keyed(relation: Relation, keys: list[str], side: str) -> DataFrame:
    """Return boundary, keys, and the row as one column. Rows with a NULL key are left out: they have no partner."""
    known = relation.df
    for key in keys:
        known = known.where(F.col(quote(key)).isNotNull())
    columns = [F.col(quote(key)).alias(_key(number)) for number, key in enumerate(keys)]
    return known.select(BOUNDARY, *columns, F.struct(*relation.columns()).alias(side))


def _key(number: int) -> str:
    return f"__key_{number}"


def _equalities(left: Schema, right: Schema, condition: Expr | None) -> Iterator[tuple[str, str]]:
    """Return the pairs of columns that the condition requires to be equal: one of each side, of the same type."""
    for each in conjuncts(condition):
        tree = parse_expr(each.sql)
        if not (
            isinstance(tree, exp.EQ) and isinstance(tree.this, exp.Column) and isinstance(tree.expression, exp.Column)
        ):
            continue
        names = name_of(tree.this), name_of(tree.expression)
        for mine, other in (names, names[::-1]):
            if mine in left and mine not in right and other in right and other not in left:
                one, two = left.find(mine), right.find(other)
                if one.type == two.type:
                    yield column_name(one), column_name(two)
