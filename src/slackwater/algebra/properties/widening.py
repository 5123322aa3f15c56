"""The common type of two columns by Spark's rules for UNION and EXCEPT, and the casts to it."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from slackwater.algebra.expressions import DIALECT, column_node, parse_expr, text
from slackwater.algebra.nodes import Item, Minus, Plan, Project, Union
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import UNKNOWN, Expr

WHOLE = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
"""Whole numbers, the narrowest first, and how many digits a DECIMAL needs to hold each."""
FRACTIONS = ("decimal", "float", "double")
TIMES = ("date", "timestamp_ntz", "timestamp")
"""Each type can be cast to the types after it."""
MOST_DIGITS = 38
"""The most digits of Spark's DECIMAL."""


def common_type(one: str, two: str) -> str | None:
    """Return the type in which UNION ALL or EXCEPT compares two columns, or None if there is none.

    Text has a common type with text only: Spark would cast it to a number, and fail at the first text that is no
    number.

    >>> common_type("int", "double"), common_type("int", "decimal(10,2)"), common_type("date", "timestamp")
    ('double', 'decimal(12,2)', 'timestamp')
    """
    if one == two:
        return one
    for loose in (UNKNOWN, "void"):
        if loose in (one, two):
            return UNKNOWN if loose == UNKNOWN else two if one == loose else one
    kinds = {each.partition("(")[0] for each in (one, two)}
    for ranked in (list(WHOLE), TIMES):
        if kinds <= set(ranked):
            return max(kinds, key=ranked.index)
    if kinds <= {*WHOLE, "decimal"}:
        return _wider(_digits(one), _digits(two))
    return "double" if kinds <= {*WHOLE, *FRACTIONS} else None


def with_common_types(plan: Union | Minus) -> Union | Minus:
    """Return a UNION ALL or EXCEPT whose sides have the same types, cast where they differ."""
    mine, other = schema_of(plan.left), schema_of(plan.right)
    if len(mine) != len(other):
        return plan
    types = [common_type(one.type, two.type) for one, two in zip(mine, other, strict=True)]
    return replace(plan, left=_cast(plan.left, types), right=_cast(plan.right, types))


def _cast(side: Plan, types: list[str | None]) -> Plan:
    """Return a query whose columns have these types. A side that has them already is returned unchanged.

    A cast can make different rows equal, so it stands above DISTINCT and EXCEPT.
    """
    schema = schema_of(side)
    if all(kind in (None, UNKNOWN, field.type) for field, kind in zip(schema, types, strict=True)):
        return side
    match side:
        case Project(items=items):
            return replace(side, items=_items(items, types))
        case Union(left=left, right=right):
            return replace(side, left=_cast(left, types), right=_cast(right, types))
    columns = (Expr(text(column_node(schema.reference(field))), field.type) for field in schema)
    items = tuple(Item(name, column) for name, column in zip(schema.names, columns, strict=True))
    return Project(side, _items(items, types))


def _items(items: tuple[Item, ...], types: list[str | None]) -> tuple[Item, ...]:
    return tuple(Item(item.name, _widened(item.expr, kind)) for item, kind in zip(items, types, strict=True))


def _widened(expr: Expr, kind: str | None) -> Expr:
    if kind in (None, UNKNOWN, expr.type):
        return expr
    return Expr(text(exp.cast(parse_expr(expr.sql).copy(), kind, dialect=DIALECT)), str(kind))


def _digits(kind: str) -> tuple[int, int]:
    """Return how many digits a number has before and after its point."""
    if kind in WHOLE:
        return WHOLE[kind], 0
    precision, scale = (int(part) for part in kind.partition("(")[2].rstrip(")").split(","))
    return precision - scale, scale


def _wider(one: tuple[int, int], two: tuple[int, int]) -> str:
    """Return the DECIMAL that holds both. Beyond 38 digits it loses digits after the point."""
    whole, scale = map(max, zip(one, two, strict=True))
    scale = min(scale, max(0, MOST_DIGITS - whole))
    return f"decimal({min(MOST_DIGITS, whole + scale)},{scale})"
