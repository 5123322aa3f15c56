"""Which queries have a final answer at every instant. The others need EMIT CHANGES."""

from __future__ import annotations

from slackwater.algebra.nodes import Aggregate, Distinct, Emit, Join, Minus, Mode, Plan, Scan, Subquery, View, inputs
from slackwater.algebra.properties.instants import instants_of
from slackwater.errors import QueryError


def no_final_answer(plan: Plan) -> str:
    """Return why an operator of this query, outside its subqueries, has no final answer; empty if all have one."""
    match plan:
        case Aggregate(child=child) if instants_of(child).at_rows and joins(child):
            return "an aggregate over a join of row-level windows"
        case Aggregate(child=child) if instants_of(child).at_rows and instants_of(child).window is None:
            return "an aggregate over an unbounded window"
        case Distinct() if instants_of(plan).at_rows:
            return "DISTINCT over row-level windows"
        case Minus() if instants_of(plan).at_rows:
            return "EXCEPT over row-level windows"
        case Scan() | Subquery() | View():
            return ""
        case _:
            return next((why for each in inputs(plan) if (why := no_final_answer(each))), "")


def joins(plan: Plan) -> bool:
    match plan:
        case Join():
            return True
        case Scan() | Subquery() | View():
            return False
        case _:
            return any(joins(each) for each in inputs(plan))


def check_final(plan: Plan) -> None:
    """Raise if a query, or a subquery of it, would have to correct rows that it emitted."""
    match plan:
        case Emit(mode=Mode.CHANGES):
            return
        case Emit(child=child) | Subquery(query=child) | View(query=child):
            why = no_final_answer(child)
            if why:
                raise QueryError("SW-230", f"{why} has no final answer", hint="use EMIT CHANGES, or add SLIDE")
    for each in inputs(plan):
        check_final(each)
