"""The columns of every operator. Instants, key, order, locality and class are derived in modules of their own."""

from __future__ import annotations

from slackwater.algebra.nodes import (
    Aggregate,
    Disorder,
    Distinct,
    Emit,
    Frequency,
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
)
from slackwater.algebra.plan_cache import cache_by_plan
from slackwater.algebra.schema import Field, Schema


@cache_by_plan
def schema_of(plan: Plan) -> Schema:
    """Return the columns of an operator's rows, in order."""
    match plan:
        case Scan(alias=alias, fields=fields):
            return Schema(fields).qualify(alias)
        case View(alias=alias, query=query) | Subquery(alias=alias, query=query):
            return schema_of(query).qualify(alias)
        case Project(items=items):
            return Schema(tuple(Field(item.name, item.expr.type) for item in items))
        case Aggregate(group=group, aggregates=aggregates):
            return Schema(tuple(Field(item.name, item.expr.type) for item in group + aggregates))
        case Join(left=left, right=right):
            return Schema(schema_of(left).fields + schema_of(right).fields)
        case Union(left=left) | Minus(left=left):
            return schema_of(left)
        case (
            Disorder(child=child)
            | Window(child=child)
            | Frequency(child=child)
            | Select(child=child)
            | Distinct(child=child)
            | Emit(child=child)
        ):
            return schema_of(child)
