"""The primary key of an operator's rows. A negative tuple names the row that it ends by this key."""

from __future__ import annotations

from functools import lru_cache

from sqlglot import exp

from slackwater.algebra.expressions import conjuncts, identifier, name_of, parse_expr
from slackwater.algebra.nodes import (
    Aggregate,
    Distinct,
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
    inputs,
)
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.properties.finality import answers_again
from slackwater.algebra.properties.instants import instants_of
from slackwater.algebra.schema import Expr

Key = tuple[str, ...]
"""References (or expressions, for a declared key of a view). An empty key means at most one row."""


@lru_cache(maxsize=4096)
def key_of(plan: Plan) -> Key | None:
    """Return the declared or inferred key, or None if the rows have no key."""
    match plan:
        case Scan(key=key):
            return key or None
        case View(declared_key=declared) if declared:
            return tuple(expr.sql for expr in declared)
        case View(query=query) | Subquery(query=query):
            at_once = instants_of(query).jumping or not answers_again(query)
            return key_of(query) if at_once else None
        case Window(child=child) if _comes_again(child):
            return None  # several rows of one key are alive at once
        case Aggregate(group=group):
            return tuple(item.name for item in group)
        case Project():
            return _projected(plan)
        case Join(left=left, right=right, condition=condition):
            return _distinguishing(plan, _joined(plan, key_of(left), key_of(right)), condition)
        case Select(child=child, condition=condition):
            return _distinguishing(child, key_of(child), condition)
        case Distinct(child=child) | Minus(left=child):
            own = key_of(child)
            return schema_of(child).names if own is None else own
        case Union():
            return None
        case _:
            return key_of(inputs(plan)[0])


def _comes_again(plan: Plan) -> bool:
    """Return whether a query without a declared key, read as a stream, yields several rows for one key."""
    match plan:
        case Select(child=child) | Project(child=child):
            return _comes_again(child)
        case View(declared_key=(), query=query) | Subquery(query=query):
            return answers_again(query)
    return False


def _projected(plan: Project) -> Key | None:
    """Return the child's key under its new names, or None if the select list drops a column of it."""
    key = key_of(plan.child)
    if key is None:
        return None
    names = {item.expr.sql.lower(): item.name for item in reversed(plan.items)}
    kept = [names.get(_spelled(column)) for column in key]
    return tuple(name for name in kept if name is not None) if None not in kept else None


def _joined(plan: Join, left: Key | None, right: Key | None) -> Key | None:
    """Return both keys, with each column named as in the join's schema."""
    if left is None or right is None:
        return None
    both = schema_of(plan)
    sides = [(schema_of(plan.left), left), (schema_of(plan.right), right)]
    return tuple(
        (both.reference(side.find(column)) if column in side else column) for side, key in sides for column in key
    )


def _distinguishing(plan: Plan, key: Key | None, condition: Expr | None) -> Key | None:
    """Return the key without columns that a condition equates with another column of the key."""
    if key is None or condition is None:
        return key
    schema = schema_of(plan)
    kept = list(key)
    for part in map(parse_expr, (each.sql for each in conjuncts(condition))):
        pair = [part.this, part.expression] if isinstance(part, exp.EQ) else []
        if not pair or not all(isinstance(side, exp.Column) and name_of(side) in schema for side in pair):
            continue
        one, two = (schema.reference(schema.find(name_of(side))) for side in pair)
        if one != two and one in kept and two in kept:
            kept.remove(max(one, two, key=kept.index))
    return tuple(kept)


def _spelled(reference: str) -> str:
    table, _, name = reference.rpartition(".")
    return ".".join(identifier(part).sql("spark") for part in ((table, name) if table else (name,))).lower()
