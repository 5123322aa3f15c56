"""Whether the answers of a query are final, and whether it answers for the same key repeatedly."""

from __future__ import annotations

from slackwater.algebra.nodes import Aggregate, Distinct, Join, Minus, Plan, Scan, Subquery, View, inputs, walk
from slackwater.algebra.properties.instants import instants_of


def changing(plan: Plan) -> bool:
    """Return whether answers of a query may still change. Only a changelog can show such a query."""
    for node in walk(plan):
        match node:
            case Scan(change_type=str()):
                return True
            case Aggregate(child=child) if instants_of(child).at_rows:
                if instants_of(child).window is None or _joins(child):
                    return True
            case Distinct() | Minus() if instants_of(node).at_rows:
                return True
    return False


def _joins(plan: Plan) -> bool:
    """Return whether a query contains a join, outside its subqueries. Subqueries with final answers are streams."""
    if isinstance(plan, Scan | Subquery | View):
        return False
    return isinstance(plan, Join) or any(map(_joins, inputs(plan)))


def answers_again(query: Plan) -> bool:
    """Return whether a query, read as a stream, yields several rows for one key: at every boundary, or at every row."""
    if changing(query):
        return False
    return instants_of(query).jumping or _gathers(query)


def _gathers(plan: Plan) -> bool:
    """Return whether rows of a query combine several input rows, outside its subqueries."""
    if isinstance(plan, Scan | Subquery | View):
        return False
    return isinstance(plan, Aggregate | Distinct | Minus) or any(map(_gathers, inputs(plan)))
