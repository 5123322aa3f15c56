"""Operators of a changelog over those of their inputs: selections, lists, groups, joins, and windows that count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from slackwater.algebra import nodes as ops
from slackwater.algebra.nodes import Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import Schema
from slackwater.engine.expressions.evaluate import marks_of
from slackwater.engine.plan import Aggregate, Distinct, Filter, Item, Join, Over, Project, Step, Window, trees_of
from slackwater.errors import QueryError
from slackwater.spark.planner.fused.edges import NO_EDGE, Lowered, Named, edged, unique
from slackwater.spark.planner.fused.finality import one_stream
from slackwater.spark.planner.fused.instant import NO_NUMBER, NUMBER, numbered, numberless, step_with_marks
from slackwater.spark.planner.fused.lowering import call, length
from slackwater.spark.planner.fused.pairing import paired
from slackwater.spark.planner.fused.sequence import as_stream, by_birth, in_sequence
from slackwater.spark.planner.fused.trees import tree_of

ORDERED = ("first", "last")
"""The calls that depend on the order of rows."""
Relational = ops.Select | ops.Project | ops.Aggregate | ops.Distinct


def over(plan: Relational, child: Plan, below: Lowered) -> Lowered:
    """The operator of a plan over that of its input."""
    step, names = _step(plan, below.over(child), below.names)
    number = NO_NUMBER if numberless(below.node) else NUMBER
    asked = number is NUMBER and any("row_number" in marks_of(tree) for tree in trees_of(step))
    node = numbered(below.node) if asked else below.node
    if isinstance(step, Aggregate) and any(each.function in ORDERED for each in step.calls):
        node = by_birth(node)
    made = edged(plan, Over(NO_EDGE, node, step_with_marks(step, plan, number)), names)
    if not (asked and isinstance(plan, ops.Select)):
        return made
    return edged(plan, Over(NO_EDGE, made.node, _same(made.names, schema_of(plan))), made.names)


def _same(names: Sequence[str], fields: Schema) -> Project:
    """The columns of an operator as they are."""
    pairs = zip(names, fields, strict=True)
    return Project(tuple(Item(name, ("column", name), field.type) for name, field in pairs))


def _step(plan: Relational, here: Schema, below: tuple[str, ...]) -> tuple[Step, tuple[str, ...]]:
    """What an operator does, and the names of its columns."""
    match plan:
        case ops.Select(condition=condition):
            return Filter(tree_of(condition, here)), below
        case ops.Project(items=items):
            names = unique([item.name for item in items])
            return Project(_items(items, names, here)), names
        case ops.Aggregate(group=group, aggregates=aggregates):
            names = unique([item.name for item in group + aggregates])
            own = zip(names[len(group) :], aggregates, strict=True)
            calls = tuple(replace(call(item, here), name=name) for name, item in own)
            return Aggregate(_items(group, names, here), calls), names
        case ops.Distinct():
            return Distinct(), below


def _items(items: tuple[ops.Item, ...], names: Sequence[str], here: Schema) -> tuple[Item, ...]:
    pairs = zip(names, items, strict=False)
    return tuple(Item(name, tree_of(item.expr, here), item.expr.type) for name, item in pairs)


def joined(plan: Plan, join: ops.Join, one: Lowered, two: Lowered) -> Lowered:
    """A join with the condition that may stand above it; what compares one side with the other finds the pairs."""
    schema = schema_of(join)
    names = unique([schema.reference(field) for field in schema])
    here = Named(schema.fields, names)
    sides = Named(schema.fields, one.names + two.names)
    stated = [*ops.stated(join), *(ops.stated(plan) if plan is not join else ())]
    on, others = paired(stated, sides, len(one.names))
    rest = tuple(tree_of(part, here) for part in others)
    condition = None if not rest else rest[0] if len(rest) == 1 else ("and", *rest)
    return edged(plan, Join(NO_EDGE, one.node, two.node, names, tuple(on), condition), names)


def counted(plan: ops.Window | ops.Frequency, window: ops.Window, below: Lowered) -> Lowered:
    """A window whose rows leave when others come, over the rows of a stream: `below`."""
    every, count_by = plan.every, plan.by
    if every.is_time or (isinstance(plan, ops.Frequency) and plan.strict):
        raise refused("only every n-th row of a stream can be an instant of a changelog")
    below = replace(below, node=as_stream(below.node if one_stream(window.child) else in_sequence(below.node)))
    here = below.over(window.child)
    by, counts = (tuple(here.find(name).name for name in each) for each in (window.by or count_by, count_by))
    step = Window(length(window.range), length(every), by, counts)
    return edged(plan, Over(NO_EDGE, below.node, step), below.names)


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
