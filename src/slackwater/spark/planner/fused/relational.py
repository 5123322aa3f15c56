"""Operators of a changelog over those of their inputs: selections, lists, groups, joins, and windows that count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from slackwater.algebra import nodes as ops
from slackwater.algebra.expressions import Tree, column_node, columns, parse_expr, text, type_of
from slackwater.algebra.nodes import Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import UNKNOWN, Field, Schema
from slackwater.engine.compile import not_in_one
from slackwater.engine.expressions.evaluate import marks_of
from slackwater.engine.plan import (
    AggregateStep,
    Compute,
    DistinctStep,
    FilterStep,
    JoinLogs,
    NamedTree,
    Over,
    ProjectStep,
    Step,
    WindowStep,
    trees_of,
)
from slackwater.errors import QueryError
from slackwater.spark.planner.fused.edges import NO_EDGE, Lowered, Named, edged, unique
from slackwater.spark.planner.fused.finality import one_stream
from slackwater.spark.planner.fused.frames import rebuilt
from slackwater.spark.planner.fused.instant import NO_NUMBER, NUMBER, numbered, numberless, step_with_marks
from slackwater.spark.planner.fused.lowering import ASKED, FUNCTIONS, STAND_IN, call, length, text_for_spark
from slackwater.spark.planner.fused.pairing import paired
from slackwater.spark.planner.fused.sequence import as_stream, by_birth, in_sequence
from slackwater.spark.planner.fused.trees import is_evaluable, tree_of

ORDERED = ("first", "last")
"""The calls that depend on the order of rows."""
Relational = ops.Select | ops.Project | ops.Aggregate | ops.Distinct


def over(plan: Relational, child: Plan, below: Lowered) -> Lowered:
    """The operator of a plan over that of its input."""
    own, here, below = _asking(plan, below.over(child), below)
    step, names = _step(own, here, below.names)
    number = NO_NUMBER if numberless(below.node) else NUMBER
    asked = number is NUMBER and any("row_number" in marks_of(tree) for tree in trees_of(step))
    node = numbered(below.node) if asked else below.node
    if isinstance(step, AggregateStep) and any(each.function in ORDERED for each in step.calls):
        node = by_birth(node)
    made = edged(plan, Over(NO_EDGE, node, step_with_marks(step, plan, number)), names)
    if not isinstance(plan, ops.Select) or (not asked and len(made.names) == len(schema_of(plan))):
        return made
    kept = made.names[: len(schema_of(plan))]
    return edged(plan, Over(NO_EDGE, made.node, _same(kept, schema_of(plan))), kept)


def _asking(plan: Relational, here: Named, below: Lowered) -> tuple[Relational, Named, Lowered]:
    """The plan over columns that Spark computes, where it has expressions that the engine cannot evaluate."""
    items: dict[str, NamedTree] = {}
    marks: dict[str, NamedTree] = {}

    def ask(tree: Tree) -> Tree:
        if isinstance(tree, exp.IgnoreNulls | exp.Distinct) or type(tree) in FUNCTIONS:
            return rebuilt(tree, ask)
        unknown = any(each.type == UNKNOWN for name in columns(tree) for each in here.matching(name))
        if isinstance(tree, exp.Column) or (not unknown and is_evaluable(tree, here)):
            return tree.copy()
        kind = type_of(tree, here)
        made = NamedTree("", ("spark", text_for_spark(tree, here, marks)), STAND_IN if kind == UNKNOWN else kind)
        name = f"{ASKED}{len(items)}"
        return column_node(items.setdefault(made.tree[1], replace(made, name=name)).name)

    def asked(items: tuple[ops.Item, ...]) -> tuple[ops.Item, ...]:
        return tuple(replace(item, expr=replace(item.expr, sql=text(ask(parse_expr(item.expr.sql))))) for item in items)

    made: Relational = plan
    match plan:
        case ops.Select(condition=condition):
            made = replace(plan, condition=replace(condition, sql=text(ask(parse_expr(condition.sql)))))
        case ops.Project():
            made = replace(plan, items=asked(plan.items))
        case ops.Aggregate():
            made = replace(plan, group=asked(plan.group), aggregates=asked(plan.aggregates))
    if not items:
        return plan, here, below
    edge, node, step = replace(below.node.edge, subquery=False), below.node, Compute(tuple(items.values()))
    if f"{ASKED}_row_number" in marks:
        raise not_in_one([step])
    if marks:
        told = step_with_marks(ProjectStep((*_same(below.names, here).items, *marks.values())), plan)
        node = Over(edge, node, told)
    node = Over(edge, node, step)
    fields = tuple(Field(item.name, item.type) for item in items.values())
    names = (*below.names, *(item.name for item in items.values()))
    return made, Named((*here.fields, *fields), names), Lowered(node, names)


def _same(names: Sequence[str], fields: Schema) -> ProjectStep:
    """The columns of an operator as they are."""
    pairs = zip(names, fields, strict=True)
    return ProjectStep(tuple(NamedTree(name, ("column", name), field.type) for name, field in pairs))


def _step(plan: Relational, here: Schema, below: tuple[str, ...]) -> tuple[Step, tuple[str, ...]]:
    """What an operator does, and the names of its columns."""
    match plan:
        case ops.Select(condition=condition):
            return FilterStep(tree_of(condition, here)), below
        case ops.Project(items=items):
            names = unique([item.name for item in items])
            return ProjectStep(_items(items, names, here)), names
        case ops.Aggregate(group=group, aggregates=aggregates):
            names = unique([item.name for item in group + aggregates])
            own = zip(names[len(group) :], aggregates, strict=True)
            calls = tuple(replace(call(item, here), name=name) for name, item in own)
            return AggregateStep(_items(group, names, here), calls), names
        case ops.Distinct():
            return DistinctStep(), below


def _items(items: tuple[ops.Item, ...], names: Sequence[str], here: Schema) -> tuple[NamedTree, ...]:
    pairs = zip(names, items, strict=False)
    return tuple(NamedTree(name, tree_of(item.expr, here), item.expr.type) for name, item in pairs)


def joined(plan: Plan, join: ops.Join, one: Lowered, two: Lowered) -> Lowered:
    """A join with the condition that may stand above it; what compares one side with the other finds the pairs."""
    schema = schema_of(join)
    names = unique([schema.reference(field) for field in schema])
    here = Named(schema.fields, names)
    sides = Named(schema.fields, one.names + two.names)
    stated = [*ops.expressions_of(join), *(ops.expressions_of(plan) if plan is not join else ())]
    on, others = paired(stated, sides, len(one.names))
    rest = tuple(tree_of(part, here) for part in others)
    condition = None if not rest else rest[0] if len(rest) == 1 else ("and", *rest)
    return edged(plan, JoinLogs(NO_EDGE, one.node, two.node, names, tuple(on), condition), names)


def counted(plan: ops.Window | ops.Frequency, window: ops.Window, below: Lowered) -> Lowered:
    """A window whose rows leave when others come, over the rows of a stream: `below`."""
    every, count_by = plan.every, plan.by
    if every.is_time or (isinstance(plan, ops.Frequency) and plan.strict):
        raise refused("only every n-th row of a stream can be an instant of a changelog")
    below = replace(below, node=as_stream(below.node if one_stream(window.child) else in_sequence(below.node)))
    here = below.over(window.child)
    by, counts = (tuple(here.find(name).name for name in each) for each in (window.by or count_by, count_by))
    step = WindowStep(length(window.range), length(every), by, counts)
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
