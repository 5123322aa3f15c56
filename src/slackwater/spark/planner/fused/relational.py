"""Operators of a changelog over those of their inputs: selections, lists, groups, joins, and windows that count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from slackwater.algebra.columns import schema_of
from slackwater.algebra.nodes import Aggregate, Distinct, Frequency, Item, Join, Plan, Project, Select, Window, stated
from slackwater.algebra.schema import Schema
from slackwater.engine.expressions import marks_of
from slackwater.errors import QueryError
from slackwater.spark.planner.fused.edges import Lowered, Named, Node, edged, unique
from slackwater.spark.planner.fused.finality import one_stream
from slackwater.spark.planner.fused.instant import NO_NUMBER, NUMBER, numbered, numberless, with_marks
from slackwater.spark.planner.fused.lowering import call
from slackwater.spark.planner.fused.pairing import paired
from slackwater.spark.planner.fused.sequence import as_stream, by_birth, in_sequence
from slackwater.spark.planner.fused.trees import tree_of

ORDERED = ("first", "last")
"""The calls that depend on the order of rows."""


def over(plan: Select | Project | Aggregate | Distinct, child: Plan, below: Lowered) -> Lowered:
    """The operator of a plan over that of its input."""
    made = _made(plan, below.over(child), below)
    number = NO_NUMBER if numberless(below.node) else NUMBER
    asked = number is NUMBER and "row_number" in set().union(*map(marks_of, _trees(made.node)))
    if asked:
        below = replace(below, node=numbered(below.node))
    if any(function in ORDERED for _, function, *_ in made.node.get("calls", ())):
        below = replace(below, node=by_birth(below.node))
    node = with_marks(made.node, plan, number)
    made = edged(plan, {**node, "child": below.node}, made.names, [below.node])
    if not (asked and isinstance(plan, Select)):
        return made
    items = _same(made.names, schema_of(plan))
    return edged(plan, {"op": "project", "items": items, "child": made.node}, made.names, [made.node])


def _same(names: Sequence[str], fields: Schema) -> list[list[Any]]:
    """The columns of an operator as they are."""
    return [[name, ["column", name], field.type] for name, field in zip(names, fields, strict=True)]


def _trees(node: Node) -> list[Any]:
    """The expressions of an operator."""
    items = [tree for _, tree, _ in [*node.get("items", ()), *node.get("group", ())]]
    arguments = [tree for _, _, given, *_ in node.get("calls", ()) for tree in given]
    return [*items, *arguments, *([node["condition"]] if "condition" in node else [])]


def _made(plan: Select | Project | Aggregate | Distinct, here: Schema, below: Lowered) -> Lowered:
    """The operator without its input."""
    match plan:
        case Select(condition=condition):
            node, names = {"op": "filter", "condition": tree_of(condition, here)}, below.names
        case Project(items=items):
            names = unique([item.name for item in items])
            node = {"op": "project", "items": _items(items, names, here)}
        case Aggregate(group=group, aggregates=aggregates):
            names = unique([item.name for item in group + aggregates])
            calls = [[name, *call(item, here)[1:]] for name, item in zip(names[len(group) :], aggregates, strict=True)]
            node = {"op": "aggregate", "group": _items(group, names, here), "calls": calls}
        case Distinct():
            node, names = {"op": "distinct"}, below.names
    return Lowered(node, names)


def _items(items: tuple[Item, ...], names: Sequence[str], here: Schema) -> list[list[Any]]:
    return [[name, tree_of(item.expr, here), item.expr.type] for name, item in zip(names, items, strict=False)]


def joined(plan: Plan, join: Join, one: Lowered, two: Lowered) -> Lowered:
    """A join with the condition that may stand above it; what compares one side with the other finds the pairs."""
    schema = schema_of(join)
    names = unique([schema.reference(field) for field in schema])
    here = Named(schema.fields, names)
    sides = Named(schema.fields, one.names + two.names)
    on, others = paired([*stated(join), *(stated(plan) if plan is not join else ())], sides, len(one.names))
    rest = [tree_of(part, here) for part in others]
    condition = None if not rest else rest[0] if len(rest) == 1 else ["and", *rest]
    node = {"op": "join", "columns": list(names), "on": on, "condition": condition}
    return edged(plan, {**node, "left": one.node, "right": two.node}, names, [one.node, two.node])


def counted(plan: Window | Frequency, window: Window, below: Lowered) -> Lowered:
    """A window whose rows leave when others come, over the rows of a stream: `below`."""
    every, count_by = plan.every, plan.by
    by = window.by or count_by
    if every.is_time or (isinstance(plan, Frequency) and plan.strict):
        raise refused("only every n-th row of a stream can be an instant of a changelog")
    below = replace(below, node=as_stream(below.node if one_stream(window.child) else in_sequence(below.node)))
    here = below.over(window.child)
    columns = [[here.find(reference).name for reference in each] for each in (by, count_by)]
    length = {"time" if window.range.is_time else "tuples": window.range.amount}
    node = {"op": "counted", "range": length, "every": every.amount, "by": columns[0], "count_by": columns[1]}
    return edged(plan, {**node, "child": below.node}, below.names, [below.node])


def refused(what: str) -> QueryError:
    return QueryError(
        "SW-363",
        what,
        expected="windows in time over several streams; windows and frequencies of any kind over one",
        hint="use RANGE in time without SLIDE, write what several streams yield to a sink and read that, or EMIT FINAL",
    )


def uncountable() -> QueryError:
    return QueryError(
        "SW-243",
        "rows that may still change cannot be counted",
        expected="the rows of a stream, which stay what they are",
        hint="count them in the query that reads this, or use RANGE in time without SLIDE and FREQUENCY",
    )
