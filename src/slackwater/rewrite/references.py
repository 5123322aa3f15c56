"""Expressions that move between operators: the columns that they read, and how these are spelled elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from sqlglot import exp

from slackwater.algebra.expressions import columns, parse_expr, replace_columns, resolve_columns, text
from slackwater.algebra.nodes import Aggregate, Frequency, Item, Join, Plan, Project, Select, Subquery, Window
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import PSEUDO_COLUMNS, Expr, Field, Schema

P = TypeVar("P", bound=Plan)
RANDOM = (exp.Rand, exp.Randn, exp.Uuid, exp.CurrentTimestamp, exp.CurrentDate, exp.CurrentTime)
RANDOM_NAMES = frozenset({"now", "monotonically_increasing_id", "spark_partition_id", "input_file_name", "shuffle"})
"""Functions whose value depends on when or how often they are called. An expression with one of them is not moved."""


def is_deterministic(expr: Expr) -> bool:
    """Return whether an expression has the same value wherever in the plan it is evaluated.

    >>> is_deterministic(Expr("speed > 3", "boolean")), is_deterministic(Expr("rand() < 0.5", "boolean"))
    (True, False)
    """
    return not any(
        isinstance(node, RANDOM) or (isinstance(node, exp.Anonymous) and node.name.lower() in RANDOM_NAMES)
        for node in parse_expr(expr.sql).walk()
    )


def reads(expr: Expr, schema: Schema) -> frozenset[Field]:
    """Return the columns of a schema that an expression reads."""
    return frozenset(schema.find(name) for name in columns(expr) if name in schema)


def is_pure(expr: Expr, schema: Schema) -> bool:
    """Return whether an expression depends on the columns of its row alone: no pseudo-column, nothing random."""
    return all(name in schema for name in columns(expr)) and is_deterministic(expr)


def respell(expr: Expr, schema: Schema) -> Expr:
    """Return the expression in canonical text over another schema that has its columns."""
    return Expr(text(resolve_columns(parse_expr(expr.sql), schema)), expr.type)


def substitute(expr: Expr, items: Iterable[Item]) -> Expr:
    """Return the expression with each name of a select list replaced by its expression.

    >>> substitute(Expr("rate > 3", "boolean"), [Item("rate", Expr("a + b", "int"))]).sql
    '(a + b) > 3'
    """
    meaning = {item.name.lower(): parse_expr(item.expr.sql) for item in items}

    def meant(name: str) -> str | exp.Expr:
        return name if name.lower() in PSEUDO_COLUMNS and name.lower() not in meaning else meaning[bare(name)]

    return replace_columns(expr, meant)


def bare(reference: str) -> str:
    """Return a reference without its alias, in lower case."""
    return reference.rpartition(".")[2].lower()


def plain(expr: Expr) -> str | None:
    """Return the reference if an expression is a single column, else None."""
    tree = parse_expr(expr.sql)
    return columns(expr)[0] if isinstance(tree, exp.Column) else None


def trace(reference: str, plan: Plan) -> tuple[str, Plan] | None:
    """Follow a column down through subqueries, select lists and selections; return its name there and that plan."""
    match plan:
        case Select(child=child):
            return trace(reference, child)
        case Subquery(query=query) if reference in schema_of(plan):
            return trace(schema_of(plan).find(reference).name, query)
        case Project(child=child, items=items):
            found = [plain(item.expr) for item in items if item.name.lower() == reference.lower()]
            return trace(found[0], child) if len(found) == 1 and found[0] is not None else None
        case _ if reference in schema_of(plan):
            own = schema_of(plan)
            return own.reference(own.find(reference)), plan
        case _:
            return None


def with_references(operator: P, spell: Callable[[str], str]) -> P:
    """Return the operator with every column that it names itself replaced by `spell(column)`."""

    def items(named: tuple[Item, ...]) -> tuple[Item, ...]:
        return tuple(Item(item.name, replace_columns(item.expr, spell)) for item in named)

    match operator:
        case Select(condition=condition):
            return replace(operator, condition=replace_columns(condition, spell))
        case Join(condition=Expr() as condition):
            return replace(operator, condition=replace_columns(condition, spell))
        case Project():
            return replace(operator, items=items(operator.items))
        case Aggregate():
            return replace(operator, group=items(operator.group), aggregates=items(operator.aggregates))
        case Window(by=by) | Frequency(by=by):
            return replace(operator, by=tuple(spell(column) for column in by))
        case _:
            return operator
