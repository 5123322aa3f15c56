"""From a plan of the algebra over one stream to the chain of operators that computes it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlglot import exp

from slackwater.algebra import lengths
from slackwater.algebra import nodes as ops
from slackwater.algebra.aggregates import FUSED
from slackwater.algebra.expressions import Tree, column_node, name_of, parse_expr, text
from slackwater.algebra.lengths import ONE_TUPLE
from slackwater.algebra.nodes import Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.properties.instants import instants_of, is_jump
from slackwater.algebra.schema import PSEUDO_COLUMNS, UNKNOWN, Expr, Schema
from slackwater.engine.plan import (
    AggregateStep,
    Call,
    Chain,
    Compute,
    DistinctStep,
    FilterStep,
    FrequencyStep,
    Input,
    NamedTree,
    ProjectStep,
    Size,
    Step,
    SubqueryStep,
    WindowStep,
)
from slackwater.errors import QueryError
from slackwater.spark.planner.fused.expressions import is_small, known_schema
from slackwater.spark.planner.fused.instant import step_with_marks
from slackwater.spark.planner.fused.trees import tree_of

ASKED = "#q"
"""The names of columns that Spark computes between two operators begin with this."""
STAND_IN = "double"
"""The type of a column that only Spark can type, to see whether a plan can run."""


def chain_of(plan: Plan) -> Chain:
    """The chain of a plan over one stream."""
    (scan,) = [node for node in ops.walk(plan) if isinstance(node, ops.Scan)]
    return Chain(input_of(scan), tuple(steps(plan)))


def input_of(scan: ops.Scan) -> Input:
    """A stream as the engine reads it."""
    columns = tuple((field.name, field.type) for field in scan.fields)
    return Input(columns, scan.event_time, scan.arrival, scan.change_type, scan.key)


def steps_over(plan: Plan, leaf: ops.Subquery | ops.View) -> tuple[Step, ...]:
    """The steps of a chain from one of its subqueries on."""
    return tuple(steps(_replaced(plan, leaf, ops.Scan("", leaf.alias, schema_of(leaf).fields, ""))))


def _replaced(plan: Plan, leaf: Plan, other: Plan) -> Plan:
    if plan is leaf:
        return other
    return ops.with_inputs(plan, tuple(_replaced(each, leaf, other) for each in ops.inputs(plan)))


def steps(plan: Plan) -> list[Step]:
    """The steps that rows of the stream pass, in order."""
    match plan:
        case ops.Scan():
            return []
        case ops.Disorder(child=child) | ops.Emit(child=child):
            return steps(child)
        case ops.Subquery(query=query) | ops.View(query=query):
            return [*steps(query), SubqueryStep()]
        case ops.Frequency(child=ops.Window(every=every) as window, by=by, strict=strict) if every == ONE_TUPLE:
            return [*steps(window.child), window_step(window, plan.every, window.by or by, by, strict)]
        case ops.Window(every=every, by=by):
            return [*steps(plan.child), window_step(plan, every, by, by)]
        case ops.Frequency(child=child, every=every, by=by, strict=strict):
            return [*steps(child), FrequencyStep(length(every), plain(by, schema_of(child)), strict)]
        case ops.Select(child=child, condition=condition):
            return [*steps(child), *_selected(plan, condition)]
        case ops.Project(child=child, items=items):
            return [*steps(child), *_projected(plan, items)]
        case ops.Aggregate(child=child, group=group, aggregates=aggregates):
            here = schema_of(child)
            made = AggregateStep(named(group, here), tuple(call(item, here) for item in aggregates))
            return [*windowed(child), step_with_marks(made, plan)]
        case ops.Distinct(child=child):
            return [*windowed(child), DistinctStep()]
    raise QueryError("SW-357", f"{type(plan).__name__} cannot be part of a chain", hint="run it elsewhere")


def _selected(plan: ops.Select, condition: Expr) -> list[Step]:
    here = schema_of(plan.child)
    if is_small(parse_expr(condition.sql), known_schema(plan.child)):
        return [step_with_marks(FilterStep(tree_of(condition, here)), plan)]
    item = ops.Item(f"{ASKED}0", condition)
    same = ProjectStep(tuple(NamedTree(name, ("column", name)) for name in here.names))
    return [*_computed(plan, here, [item]), FilterStep(("column", item.name)), same]


def _projected(plan: ops.Project, items: tuple[ops.Item, ...]) -> list[Step]:
    here, known = schema_of(plan.child), known_schema(plan.child)
    asked = {
        item.name: ops.Item(f"{ASKED}{place}", item.expr)
        for place, item in enumerate(items)
        if item.name.startswith(ASKED) or not is_small(parse_expr(item.expr.sql), known)
    }
    own = tuple(
        NamedTree(item.name, ("column", asked[item.name].name))
        if item.name in asked
        else NamedTree(item.name, tree_of(item.expr, here), item.expr.type)
        for item in items
    )
    before = _computed(plan, here, list(asked.values())) if asked else []
    return [*before, step_with_marks(ProjectStep(own), plan)]


def _computed(plan: ops.Select | ops.Project, here: Schema, items: list[ops.Item]) -> list[Step]:
    """The columns that Spark computes before a step, over those of its input; attributes of the instant are columns."""
    marks: dict[str, NamedTree] = {}

    made = [
        NamedTree(each.name, ("spark", text_for_spark(parse_expr(each.expr.sql), here, marks)), each.expr.type)
        for each in items
    ]
    made = [replace(each, type=STAND_IN) if each.type == UNKNOWN else each for each in made]
    same = tuple(NamedTree(name, ("column", name)) for name in here.names)
    marked = [step_with_marks(ProjectStep((*same, *marks.values())), plan)] if marks else []
    return [*marked, Compute(tuple(made))]


def text_for_spark(tree: Tree, here: Schema, marks: dict[str, NamedTree]) -> str:
    """Return an expression over the columns of the engine; attributes of the instant are columns, added to `marks`."""

    def spell(node: Tree) -> Tree:
        if not isinstance(node, exp.Column):
            return node
        name = name_of(node)
        if here.matching(name) or name.lower() not in PSEUDO_COLUMNS:
            return column_node(undotted(here.find(name).name))
        own = f"{ASKED}_{name.lower()}"
        marks[own] = NamedTree(own, ("mark", name.lower()), PSEUDO_COLUMNS[name.lower()])
        return column_node(own)

    return text(tree.transform(spell))


def undotted(name: str) -> str:
    """A column of a join as Spark is told it: to Spark a dot is between a table and its column."""
    return name.replace(".", "#")


def windowed(plan: Plan) -> list[Step]:
    """What an aggregate reads. A subquery with boundaries of its own is read at them: what it emitted there."""
    source = plan
    while isinstance(source, ops.Select | ops.Project):
        source = source.child
    made = steps(plan)
    if (
        isinstance(source, ops.Subquery | ops.View | ops.Frequency)
        and not is_jump(source)
        and instants_of(source).at_boundaries
    ):
        slide = length(instants_of(source).every)
        below = steps(source)
        return [*below, WindowStep(slide, slide), *made[len(below) :]]
    return made


def window_step(
    window: ops.Window, every: lengths.Length, by: tuple[str, ...], count_by: tuple[str, ...], strict: bool = False
) -> WindowStep:
    here = schema_of(window.child)
    return WindowStep(length(window.range), length(every), plain(by, here), plain(count_by, here), strict)


def length(given: lengths.Length) -> Size:
    return Size(given.amount, given.is_time)


def plain(references: tuple[str, ...], schema: Schema) -> tuple[str, ...]:
    return tuple(schema.find(reference).name for reference in references)


def named(items: tuple[ops.Item, ...], schema: Schema) -> tuple[NamedTree, ...]:
    return tuple(NamedTree(item.name, tree_of(item.expr, schema), item.expr.type) for item in items)


def call(item: ops.Item, schema: Schema) -> Call:
    """A call of an aggregate function."""
    tree = parse_expr(item.expr.sql)
    ignore_nulls = isinstance(tree, exp.IgnoreNulls)
    tree = tree.this if ignore_nulls else tree
    if type(tree) not in FUSED:
        raise QueryError("SW-354", f"'{text(tree)}' cannot be computed in the fused operator", hint="use another")
    distinct = isinstance(tree.this, exp.Distinct)
    return Call(item.name, FUSED[type(tree)], arguments(tree, schema), item.expr.type, distinct, ignore_nulls)


def arguments(tree: Tree, schema: Schema) -> tuple[Any, ...]:
    """The arguments; COUNT of several counts the rows in which none is NULL."""
    if isinstance(tree.this, exp.Star):
        return ()
    if isinstance(tree.this, exp.Distinct):
        return tuple(tree_of(each, schema) for each in tree.this.expressions)
    given = tuple(tree_of(each, schema) for each in tree.iter_expressions())
    if len(given) == 1 or not isinstance(tree, exp.Count):
        return given
    known = ("and", *(("not", ("is null", each)) for each in given))
    return (("or", known, ("literal", None, "boolean")),)
