"""What Spark does with the rows that the engine yields: HAVING, the select list, casts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.expressions import replace_columns
from slackwater.algebra.nodes import Project, Select
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import Expr, Schema
from slackwater.spark.planner.fused.split import After
from slackwater.spark.relation import quote


def finished(df: DataFrame, after: After, result: Sequence[str], beside: Sequence[str] = ()) -> DataFrame:
    """The rows of the plan, under the names of its `result`, from those of its core.

    The columns `beside` stay as they are.
    Where there are such columns, a row without any of the core's is left alone.
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
    """How references over a schema are spelled: by the column at that place, or by an attribute of the instant."""

    def spell(reference: str) -> str:
        if not schema.matching(reference) and reference.lower() in after.marks:
            return after.marks[reference.lower()]
        found = schema.find(reference)
        return names[next(place for place, each in enumerate(schema.fields) if each is found)]

    return spell


def _column(expr: Expr, spell: Callable[[str], str]) -> Column:
    return F.expr(replace_columns(expr, spell).sql)
