"""Find out why a plan cannot be run with Spark's own operators: one reason per kind of operator, without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from slackwater.algebra.expressions import Tree, columns, parse_expr, text
from slackwater.algebra.nodes import (
    Aggregate,
    Disorder,
    Emit,
    Frequency,
    Join,
    Mode,
    Plan,
    Project,
    Select,
    Union,
    Window,
    expressions_of,
    inputs,
)
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.properties.instants import instants_of, is_jump
from slackwater.errors import QueryError
from slackwater.spark.planner.aggregates import counts_distinct, is_distinct, needs_order


class Obstacle(NamedTuple):
    """An operator of a plan, and why Spark has no such operator."""

    node: Plan
    reason: str


def unsupported(node: Plan, reason: str) -> QueryError:
    return QueryError(
        "SW-301",
        f"{type(node).__name__} cannot be run with Spark's own operators: {reason}",
        expected="windows with RANGE and SLIDE in times, and EMIT FINAL",
        hint="add SLIDE to the window, or ask for a changelog with EMIT CHANGES",
    )


def obstacles(plan: Plan) -> Iterator[Obstacle]:
    """Return all parts of a plan for which Spark has no operator, from the root down."""
    if reason := _obstacle(plan):
        yield Obstacle(plan, reason)
    for each in inputs(plan):
        yield from obstacles(each.child if is_jump(plan) and isinstance(each, Window) else each)


def even(query: Plan) -> bool:
    """Return whether all rows of a query are at boundaries of one slide; UNION ALL may combine several slides."""
    slides = {instants_of(each).every for each in sides(query)}
    return len(slides) == 1


def sides(query: Plan) -> list[Plan]:
    """Return the queries that UNION ALL combines, or the query itself."""
    match query:
        case Union(left=left, right=right):
            return sides(left) + sides(right)
        case Select(child=child) | Project(child=child) | Emit(child=child):
            return sides(child)
        case _:
            return [query]


def _obstacle(node: Plan) -> str:
    match node:
        case Emit(mode=Mode.CHANGES):
            return "EMIT CHANGES sends corrections, which need a memory of what was sent"
        case Emit(sync=True, child=child) if not even(child):
            return "its sides have boundaries of several slides, so that no sync row fits all"
        case Frequency(every=every, strict=strict) if not is_jump(node):
            what = "rows at multiples of" if strict else "the last row of every" if every.is_time else "every"
            return f"it picks {what} {every}, which depends on the order of rows"
        case Frequency() | Window():
            return _of_instants(node)
        case Join(left=left) if not instants_of(left).at_boundaries:
            return "at every row it depends on the order of rows"
        case Aggregate(aggregates=aggregates, child=child):
            return next(
                filter(None, (_of_call(parse_expr(item.expr.sql), child) for item in aggregates)), ""
            ) or _of_rows(node)
        case Select() | Project():
            return _of_rows(node)
        case _:
            return ""


def _of_instants(node: Window | Frequency) -> str:
    """Return why Spark cannot evaluate a window, or an empty text. It has extents of time, but no counts of rows."""
    instants = instants_of(node)
    if not instants.at_boundaries:
        return f"it is evaluated every {instants.every}, which depends on the order of rows"
    if isinstance(node, Frequency) and node.strict:
        return "it is evaluated at rows, which depends on their order"
    if instants.window is None or not instants.window.is_time:
        return f"a range of {instants.window} depends on the order of rows"
    return ""


def _of_call(call: Tree, child: Plan) -> str:
    if is_distinct(call) and not counts_distinct(call):
        return f"{text(call)} needs each value once, which Spark has for COUNT alone in a streaming aggregate"
    if needs_order(call) and not _in_order(child):
        return f"{text(call)} depends on the order of rows, which is gone once windows were joined or nested"
    return ""


def _in_order(plan: Plan) -> bool:
    """Return whether the order of a window's rows is known: only selections, projections and windows are below it."""
    while isinstance(plan, (Select, Project, Window, Frequency)):
        plan = plan.child
    return isinstance(plan, Disorder)


def _of_rows(node: Select | Project | Aggregate) -> str:
    """Return why Spark cannot compute `row_number` if an operator reads it, else an empty text."""
    named = {reference.lower() for expr in expressions_of(node) for reference in columns(expr)}
    counted = "row_number" in named and not schema_of(node.child).matching("row_number")
    return "row_number counts rows in their order" if counted else ""
