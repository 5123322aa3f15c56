"""Whether a query has final answers, so that it can be read as a stream, and whether those say the same again."""

from __future__ import annotations

from slackwater.algebra.instants import instants_of
from slackwater.algebra.nodes import Aggregate, Distinct, Join, Minus, Plan, Scan, Subquery, View, inputs, walk


def changing(plan: Plan) -> bool:
    """Whether what a query yields may still change, so that only its changelog says what it means."""
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
    """Whether a join stands in a query, its subqueries apart: those that have final answers are streams."""
    if isinstance(plan, Scan | Subquery | View):
        return False
    return isinstance(plan, Join) or any(map(_joins, inputs(plan)))


def answers_again(query: Plan) -> bool:
    """Whether a query, read as a stream, tells of one key again and again: at every boundary, or with every row."""
    if changing(query):
        return False
    return instants_of(query).jumping or _gathers(query)


def _gathers(plan: Plan) -> bool:
    """Whether rows of a query stand for several, its subqueries apart."""
    if isinstance(plan, Scan | Subquery | View):
        return False
    return isinstance(plan, Aggregate | Distinct | Minus) or any(map(_gathers, inputs(plan)))
