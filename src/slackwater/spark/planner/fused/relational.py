"""Operators of a changelog over those of their inputs: selections, lists, groups, joins, and windows that count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from slackwater.algebra import nodes as ops
from slackwater.algebra.aggregates import FUSED
from slackwater.algebra.expressions import Tree, column_node, parse_expr, text, type_of
from slackwater.algebra.nodes import Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import UNKNOWN, Expr, Field, Schema
from slackwater.engine.expressions.evaluate import marks_of
from slackwater.engine.plan import (
    AggregateStep,
    Compute,
    DistinctStep,
    FilterStep,
    JoinLogs,
    NamedTree,
    Node,
    Over,
    ProjectStep,
    Step,
    WindowStep,
    trees_of,
)
from slackwater.errors import QueryError
from slackwater.spark.planner.fused.edges import NO_EDGE, Lowered, Named, edged, unique
from slackwater.spark.planner.fused.expressions import is_small
from slackwater.spark.planner.fused.finality import one_stream
from slackwater.spark.planner.fused.frames import rebuilt
from slackwater.spark.planner.fused.instant import NO_NUMBER, NUMBER, numbered, numberless, step_with_marks
from slackwater.spark.planner.fused.lowering import ASKED, STAND_IN, call, length, text_for_spark
from slackwater.spark.planner.fused.pairing import paired
from slackwater.spark.planner.fused.sequence import as_stream, by_birth, in_sequence
from slackwater.spark.planner.fused.trees import tree_of

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
    """The plan over columns that Spark computes, where it has expressions that the engine does not evaluate."""
    asked = Asked(below.known(plan.child))

    def items(given: tuple[ops.Item, ...]) -> tuple[ops.Item, ...]:
        return tuple(replace(item, expr=asked.expr(item.expr)) for item in given)

    made: Relational = plan
    match plan:
        case ops.Select(condition=condition):
            made = replace(plan, condition=asked.expr(condition))
        case ops.Project():
            made = replace(plan, items=items(plan.items))
        case ops.Aggregate():
            made = replace(plan, group=items(plan.group), aggregates=items(plan.aggregates))
    if not asked.items:
        return plan, here, below
    fields = tuple(Field(item.name, item.type) for item in asked.items.values())
    told = asked.over(below, plan)
    return made, Named((*here.fields, *fields), told.names), told


@dataclass(frozen=True, slots=True)
class Asked:
    """The columns that Spark computes over those of an operator, by their texts."""

    here: Schema
    items: dict[str, NamedTree] = field(default_factory=dict)
    marks: dict[str, NamedTree] = field(default_factory=dict)

    def expr(self, given: Expr) -> Expr:
        """The same over the columns of Spark's, whose types Spark knows."""
        tree = self.tree(parse_expr(given.sql))
        kind = UNKNOWN if isinstance(tree, exp.Column) and tree.name.startswith(ASKED) else given.type
        return Expr(text(tree), kind)

    def tree(self, tree: Tree) -> Tree:
        """An expression that the engine evaluates: a column of Spark's in place of one that it does not."""
        if isinstance(tree, exp.IgnoreNulls | exp.Distinct) or type(tree) in FUSED:
            return rebuilt(tree, self.tree)
        if is_small(tree, self.here):
            return tree.copy()
        kind = type_of(tree, self.here)
        sql = text_for_spark(tree, self.here, self.marks)
        made = NamedTree(f"{ASKED}{len(self.items)}", ("spark", sql), STAND_IN if kind == UNKNOWN else kind)
        return column_node(self.items.setdefault(sql, made).name)

    def over(self, below: Lowered, plan: Plan) -> Lowered:
        """The operator with these columns. Attributes of the instant are columns before."""
        step = Compute(tuple(self.items.values()))
        names = (*below.names, *(item.name for item in step.items))
        if not self.marks:
            return Lowered(_below_windows(below.node, step), names)
        node, number = below.node, NO_NUMBER if numberless(below.node) else NUMBER
        if f"{ASKED}_row_number" in self.marks and number is NUMBER:
            node = numbered(node)
        same = (NamedTree(name, ("column", name)) for name in below.names)
        told = step_with_marks(ProjectStep((*same, *self.marks.values())), plan, number)
        return Lowered(_below_windows(Over(replace(below.node.edge, subquery=False), node, told), step), names)


def _below_windows(node: Node, step: Compute) -> Node:
    """The operator with columns that Spark computes, before windows hold the rows."""
    if isinstance(node, Over) and isinstance(node.step, WindowStep):
        return replace(node, child=_below_windows(node.child, step))
    return Over(replace(node.edge, subquery=False), node, step)


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
    stated = [*ops.expressions_of(join), *(ops.expressions_of(plan) if plan is not join else ())]
    on, others = paired(stated, schema, len(one.names))
    one, left = _side(join.left, one, [pair[0] for pair in on])
    two, right = _side(join.right, two, [pair[1] for pair in on])
    own = unique([schema.reference(field) for field in schema])
    split = len(schema_of(join.left))
    spare = tuple(f"{ASKED}.{place}" for place in range(len(one.names) + len(two.names) - len(own)))
    more = len(one.names) - split
    columns = (*own[:split], *spare[:more], *own[split:], *spare[more:])
    known = Named((*one.known(join.left), *two.known(join.right)), own)
    rest = [tree_of(part, known) for part in others if is_small(part, known)]
    condition = None if not rest else rest[0] if len(rest) == 1 else ("and", *rest)
    pairs = tuple(zip(left, right, strict=True))
    made = edged(plan, JoinLogs(NO_EDGE, one.node, two.node, columns, pairs, condition), columns)
    if spare:
        made = edged(plan, Over(NO_EDGE, made.node, _same(own, schema)), own)
    for part in others:
        if not is_small(part, known):
            made = over(ops.Select(join, Expr(text(part), "boolean")), join, made)
    return made


def _side(plan: Plan, below: Lowered, trees: Sequence[Tree]) -> tuple[Lowered, list[Any]]:
    """One side of a join, and the values by which its rows are paired."""
    asked = Asked(below.known(plan))
    written = [asked.tree(tree) for tree in trees]
    fields = tuple(Field(item.name, item.type) for item in asked.items.values())
    below = asked.over(below, plan) if asked.items else below
    here = Named((*asked.here.fields, *fields), below.names)
    return below, [tree_of(tree, here) for tree in written]


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
