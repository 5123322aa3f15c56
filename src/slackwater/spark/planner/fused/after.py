"""Evaluate what stands above the last operator of the engine with Spark: HAVING, the select list, casts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.expressions import replace_columns
from slackwater.algebra.nodes import Project, Select
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import PSEUDO_COLUMNS, Expr, Schema
from slackwater.spark.planner.narrow import references_of
from slackwater.spark.relation import quote


@dataclass(frozen=True, slots=True)
class After:
    """The filters and lists that Spark applies to the core's rows, from the innermost on, over a schema.

    `columns` has the names, in the core's rows, of the columns of the schema that are used; `marks` those of the
    attributes of the instant.
    """

    steps: tuple[Select | Project, ...]
    columns: Mapping[int, str]
    marks: Mapping[str, str]
    schema: Schema


def after_of(steps: Sequence[Select | Project], schema: Schema) -> After:
    """Return these steps over a schema, with the columns and the attributes of the instant that they read."""
    places: list[int] = []
    marks: list[str] = []
    here: Schema | None = schema
    for step in steps:
        for reference in references_of(step):
            if here is not None and here.matching(reference):
                places.append(here.fields.index(here.find(reference)))
            elif reference.lower() in PSEUDO_COLUMNS and not schema_of(step.child).matching(reference):
                marks.append(reference.lower())
        here = None if isinstance(step, Project) else here
    used = range(len(schema)) if here is not None else sorted(set(places))
    columns = {place: f"c{place}" for place in used}
    return After(tuple(steps), columns, {mark: f"m_{mark}" for mark in sorted(set(marks))}, schema)


def finish(df: DataFrame, after: After, result: Sequence[str], beside: Sequence[str] = ()) -> DataFrame:
    """Return the rows of the plan, with columns named as in `result`, from the rows of its core.

    The columns `beside` stay as they are. A row in which the first of these is NULL is no row of the core's: it passes
    every filter.
    """
    names = [after.columns.get(place, "") for place in range(len(after.schema))]
    kept = [quote(name) for name in (*after.marks.values(), *beside)]
    for number, step in enumerate(after.steps):
        spell = _speller(schema_of(step.child), names, after)
        match step:
            case Select(condition=condition):
                met = _column(condition, spell)
                df = df.where(met | F.col(quote(beside[0])).isNull() if beside else met)
            case Project(items=items):
                names = [f"s{number}_{place}" for place in range(len(items))]
                columns = [_column(item.expr, spell).alias(name) for item, name in zip(items, names, strict=True)]
                df = df.select(*kept, *columns)
    own = (F.col(quote(old)).alias(name) for old, name in zip(names, result, strict=True))
    return df.select(*map(quote, beside), *own)


def _speller(schema: Schema, names: Sequence[str], after: After) -> Callable[[str], str]:
    """Return a function from references over a schema to names: of the column there, or of an attribute's column."""

    def spell(reference: str) -> str:
        if not schema.matching(reference) and reference.lower() in after.marks:
            return after.marks[reference.lower()]
        return names[schema.fields.index(schema.find(reference))]

    return spell


def _column(expr: Expr, spell: Callable[[str], str]) -> Column:
    return F.expr(replace_columns(expr, spell).sql)
