"""Aggregates of extents with Spark's own functions, and rewrites for calls that depend on order or have DISTINCT."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from sqlglot import exp

from slackwater.algebra.expressions import Tree, parse_expr, replace_columns, text
from slackwater.algebra.nodes import Aggregate, Item, Plan, walk
from slackwater.algebra.schema import Expr, Field, Schema
from slackwater.spark.planner.windows import ROWS
from slackwater.spark.relation import BOUNDARY, Relation, quote

EDGES: dict[type, str] = {exp.First: "min_by", exp.AnyValue: "min_by", exp.Last: "max_by"}
"""Calls that return the value of the first or the last row in sequence order, and Spark's function for each."""

BY: dict[type, str] = {exp.ArgMin: "min_by", exp.ArgMax: "max_by"}
"""Calls that return the value of the row with the least or the greatest other value, and Spark's function for each."""


def aggregate_extents(relation: Relation, group: tuple[Item, ...], aggregates: tuple[Item, ...]) -> Relation:
    """Return one row per extent, part and group, once the extent is closed."""
    keys = [relation.column(item.expr).alias(item.name) for item in group]
    values = [_call(relation, item.expr).alias(item.name) for item in aggregates]
    # Spark needs an aggregate even if the query has none: the count of rows, which is dropped again.
    rows = F.count(F.lit(1)).alias(ROWS)
    df = relation.df.groupBy(BOUNDARY, *relation.parts, *keys).agg(*values, rows).drop(ROWS)
    schema = Schema(tuple(Field(item.name, item.expr.type) for item in group + aggregates))
    return Relation(df, schema, extent=relation.extent, complete=True, parts=relation.parts)


def needs_order(call: Tree) -> bool:
    """Return whether the result of a call depends on the order of the rows."""
    return type(_bare(call)) in (*EDGES, exp.ArrayAgg)


def ordered_aggregate(plan: Plan) -> Aggregate | None:
    """Return the first aggregate of a plan whose result depends on the order of the rows; None if there is none."""
    found = [node for node in walk(plan) if isinstance(node, Aggregate)]
    return next(
        (node for node in found if any(needs_order(parse_expr(item.expr.sql)) for item in node.aggregates)), None
    )


def is_distinct(call: Tree) -> bool:
    return isinstance(_bare(call).this, exp.Distinct)


def counts_distinct(call: Tree) -> bool:
    return isinstance(_bare(call), exp.Count) and is_distinct(call)


def _call(relation: Relation, expr: Expr) -> Column:
    call = parse_expr(expr.sql)
    where = [text(call.expression.this)] if isinstance(call, exp.Filter) else []
    bare = _bare(call)
    if needs_order(call):
        value = text(bare.this)
        if isinstance(call.find(exp.IgnoreNulls), exp.IgnoreNulls) or isinstance(bare, exp.ArrayAgg):
            where.append(f"({value}) IS NOT NULL")
        made = _in_sequence(bare, value, ", ".join(quote(name) for name in relation.order))
    elif isinstance(bare, (exp.ArgMin, exp.ArgMax)) and "map<" not in expr.type:
        # Among equal extremes the value itself decides, so that the answer does not depend on the order of rows.
        value, by = text(bare.this), text(bare.expression)
        where.append(f"({by}) IS NOT NULL")
        made = ("", f"{BY[type(bare)]}({value}, struct({by}, {value}))", "")
    elif counts_distinct(call):
        # Spark has no DISTINCT in streaming aggregates, so collect a set and count its values.
        values = [text(each) for each in bare.this.expressions]
        where += [f"({value}) IS NOT NULL" for value in values]
        made = ("CAST(size(", f"collect_set(struct({', '.join(values)}))", ") AS BIGINT)")
    else:
        return relation.column(expr)
    before, called, after = made
    guard = f" FILTER (WHERE {' AND '.join(where)})" if where else ""
    return F.expr(before + _spelled(relation, called + guard) + after)


def _in_sequence(call: Tree, value: str, order: str) -> tuple[str, str, str]:
    """Return the SQL of a call in sequence order, in three parts: before the aggregate, the aggregate, and after it."""
    if isinstance(call, exp.ArrayAgg):
        return "transform(array_sort(", f"collect_list(struct({order}, {value} AS __value))", "), row -> row.__value)"
    return "", f"{EDGES[type(call)]}({value}, struct({order}))", ""


def _spelled(relation: Relation, sql: str) -> str:
    own = set(relation.own)
    return replace_columns(Expr(sql, ""), lambda name: name if name in own else relation.spell(name)).sql


def _bare(call: Tree) -> Tree:
    """Return the call itself, without FILTER and IGNORE NULLS."""
    while isinstance(call, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)):
        call = call.this
    return call
