"""Queries over late, rejected and refused rows: what can be said of each row by itself."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.nodes import Disorder, Emit, Mode, Plan, Project, Scan, Select
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import Field, Schema
from slackwater.errors import QueryError
from slackwater.spark.relation import Relation, column_name, quoted


def stateless(plan: Plan, df: DataFrame) -> DataFrame:
    """The rows of a plan of selections and projections over `df`."""
    relation = _over(plan, df)
    found = [F.col(quoted(column_name(field))) for field in relation.schema]
    return relation.df.select(*(column.alias(new) for column, new in zip(found, schema_of(plan).names, strict=True)))


def _over(plan: Plan, df: DataFrame) -> Relation:
    match plan:
        case Scan(alias=alias, fields=fields):
            schema = Schema(fields).qualified(alias)
            return Relation(df.select(*(F.col(quoted(each.name)).alias(column_name(each)) for each in schema)), schema)
        case Emit(child=child, mode=Mode.FINAL, sync=False) | Disorder(child=child):
            return _over(child, df)
        case Select(child=child, condition=condition):
            relation = _over(child, df)
            return replace(relation, df=relation.df.where(relation.column(condition)))
        case Project(child=child, items=items):
            relation = _over(child, df)
            chosen = relation.df.select(*(relation.column(item.expr).alias(item.name) for item in items))
            return Relation(chosen, Schema(tuple(Field(item.name, item.expr.type) for item in items)))
        case _:
            raise QueryError(
                "SW-304",
                f"{type(plan).__name__} cannot stand over late, rejected or refused rows",
                expected="SELECT and WHERE",
                hint="write the rows to a table or to files first, and query these",
            )
