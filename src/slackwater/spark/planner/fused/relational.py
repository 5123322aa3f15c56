"""Build the operators of a changelog over those of their inputs: filters, lists, groups, joins, windows that count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlglot import exp

from slackwater.algebra import nodes as ops
from slackwater.algebra.expressions import Tree, columns, conjunction, conjuncts, parse_expr, replace_columns, text
from slackwater.algebra.nodes import Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import Expr, Schema
from slackwater.engine import plan as engine
from slackwater.errors import QueryError
from slackwater.spark.planner.fused.chains import (
    ASKED,
    Relational,
    SparkColumns,
    below_window,
    relational_step,
    same_columns,
    unique_names,
    window_step,
)
from slackwater.spark.planner.fused.edges import NO_EDGE, NamedNode, RenamedSchema, with_edge
from slackwater.spark.planner.fused.expressions import is_small, known_schema, tree_of
from slackwater.spark.planner.fused.instants import NUMBER, number_of, number_rows, reads_number, step_with_bounds
from slackwater.spark.planner.fused.order import order_births, place_rows, without_lifetimes

ORDERED = ("first", "last")
"""The calls that depend on the order of rows."""


def build_over(plan: Relational, child: Plan, below: NamedNode) -> NamedNode:
    """Return the operator of a plan over that of its input."""
    asked = SparkColumns(below.known_columns_of(child))
    own = asked.take_from(plan)
    fields = below.columns_of(child).fields
    below = _with_spark_columns(below, asked, plan)
    step, names = relational_step(own, RenamedSchema((*fields, *asked.fields), below.names), below.names)
    number = number_of(below.node)
    numbered = number is NUMBER and reads_number(step)
    node = number_rows(below.node) if numbered else below.node
    if isinstance(step, engine.AggregateStep) and any(each.function in ORDERED for each in step.calls):
        node = order_births(node)
    made = with_edge(plan, engine.Over(NO_EDGE, node, step_with_bounds(step, plan, number)), names)
    if not isinstance(plan, ops.Select) or (not numbered and len(names) == len(schema_of(plan))):
        return made
    return _only(plan, made, names[: len(schema_of(plan))])


def _only(plan: Plan, below: NamedNode, names: tuple[str, ...]) -> NamedNode:
    """Return only the columns of a plan, which have these names."""
    step = same_columns(names, [field.type for field in schema_of(plan)])
    return with_edge(plan, engine.Over(NO_EDGE, below.node, step), names)


def _with_spark_columns(below: NamedNode, asked: SparkColumns, plan: Plan) -> NamedNode:
    """Return an operator with the columns that Spark computes, and before these the attributes of the instant."""
    if not asked.items:
        return below
    node, number = below.node, number_of(below.node)
    if asked.are_numbered and number is NUMBER:
        node = number_rows(node)
    edge = replace(node.edge, subquery=False)
    for step in asked.steps(below.names, plan, number):
        node = engine.Over(edge, node, step)
    return NamedNode(node, (*below.names, *(field.name for field in asked.fields)))


def build_join(plan: Plan, join: ops.Join, one: NamedNode, two: NamedNode) -> NamedNode:
    """Return a join with the condition that may stand above it; equalities between its sides find the pairs."""
    schema = schema_of(join)
    stated = [*ops.expressions_of(join), *(ops.expressions_of(plan) if plan is not join else ())]
    on, others = split_equalities(stated, schema, len(one.names))
    one, left = _join_values(join.left, one, [pair[0] for pair in on])
    two, right = _join_values(join.right, two, [pair[1] for pair in on])
    own = unique_names([schema.reference(field) for field in schema])
    split = len(schema_of(join.left))
    spare = tuple(f"{ASKED}.{place}" for place in range(len(one.names) + len(two.names) - len(own)))
    more = len(one.names) - split
    names = (*own[:split], *spare[:more], *own[split:], *spare[more:])
    known = RenamedSchema((*one.known_columns_of(join.left), *two.known_columns_of(join.right)), own)
    rest = [tree_of(part, known) for part in others if is_small(part, known)]
    condition = None if not rest else rest[0] if len(rest) == 1 else ("and", *rest)
    pairs = tuple(zip(left, right, strict=True))
    made = with_edge(plan, engine.JoinLogs(NO_EDGE, one.node, two.node, names, pairs, condition), names)
    if spare:
        made = _only(plan, made, own)
    of_pairs = tuple(Expr(text(part), "boolean") for part in others if not is_small(part, known))
    return build_over(ops.Select(join, conjunction(of_pairs)), join, made) if of_pairs else made


def _join_values(plan: Plan, below: NamedNode, trees: Sequence[Tree]) -> tuple[NamedNode, list[engine.Tree]]:
    """Return a side of a join with columns that Spark computes, and the values by which its rows are paired."""
    asked = SparkColumns(below.known_columns_of(plan))
    written = [asked.take_from_tree(tree) for tree in trees]
    below = _with_spark_columns(below, asked, plan)
    here = RenamedSchema((*asked.here.fields, *asked.fields), below.names)
    return below, [tree_of(tree, here) for tree in written]


def split_equalities(
    conditions: Iterable[Expr], schema: Schema, split: int
) -> tuple[list[tuple[Tree, Tree]], list[Tree]]:
    """Return the sides of each equality between the inputs of a join, left first, and all other conditions.

    The columns of the left input come before the place `split` of the schema.
    """
    on, rest = [], []
    for part in [parse_expr(part.sql).unnest() for each in conditions for part in conjuncts(each)]:
        of = [_input_of(each, schema, split) for each in part.iter_expressions()] if isinstance(part, exp.EQ) else []
        if sorted(of) == [0, 1]:
            on.append((part.this, part.expression) if of == [0, 1] else (part.expression, part.this))
        else:
            rest.append(part)
    return on, rest


def take_late_conditions(plan: Plan) -> tuple[Plan, tuple[Expr, ...]]:
    """Return joins without the conditions for which Spark computes columns of pairs, and these, over all columns."""
    if not isinstance(plan, ops.Join):
        return plan, ()
    left, some = take_late_conditions(plan.left)
    right, more = take_late_conditions(plan.right)
    here, known = schema_of(plan), known_schema(plan)
    kept: list[Expr] = []
    late = [*_over(some, schema_of(left), here), *_over(more, schema_of(right), here)]
    for part in conjuncts(plan.condition):
        on, _ = split_equalities([part], here, len(schema_of(left)))
        pair = on[0] if on else (parse_expr(part.sql),)
        (kept if all(is_small(tree, known) for tree in pair) else late).append(part)
    return ops.Join(left, right, conjunction(tuple(kept)) if kept else None), tuple(late)


def _over(conditions: Sequence[Expr], below: Schema, here: Schema) -> list[Expr]:
    """Return conditions over the columns of a side of a join as conditions over those of the join."""
    return [replace_columns(each, lambda name: here.reference(below.find(name))) for each in conditions]


def _input_of(tree: Tree, schema: Schema, split: int) -> int:
    """Return 0 for an expression over the left input, 1 for one over the right, 2 for anything else."""
    named = [schema.matching(reference) for reference in columns(tree)]
    if not named or any(len(each) != 1 for each in named):
        return 2
    places = {next(n for n, field in enumerate(schema.fields) if field is each[0]) >= split for each in named}
    return int(places.pop()) if len(places) == 1 else 2


def build_counting_window(plan: ops.Window | ops.Frequency, below: NamedNode, *, one_stream: bool) -> NamedNode:
    """Return a window whose rows leave when others come, over the rows `below` of one stream or of several."""
    if plan.every.is_time or (isinstance(plan, ops.Frequency) and plan.strict):
        raise refusal("only every n-th row of a stream can be an instant of a changelog")
    node = without_lifetimes(below.node if one_stream else place_rows(below.node))
    step = window_step(plan, below.columns_of(below_window(plan)))
    assert isinstance(step, engine.WindowStep)  # noqa: S101
    return with_edge(plan, engine.Over(NO_EDGE, node, step), below.names)


def refusal(what: str) -> QueryError:
    """Return the error for a plan that has no changelog operator."""
    return QueryError(
        "SW-363",
        what,
        expected="windows in time over several streams; windows and frequencies of any kind over one",
        hint="use RANGE in time without SLIDE, write what several streams yield to a sink and read that, or EMIT FINAL",
    )


def uncountable() -> QueryError:
    """Return the error for a window or a frequency that would count rows which may still change."""
    return QueryError(
        "SW-243",
        "rows that may still change cannot be counted",
        expected="the rows of a stream, which stay what they are",
        hint="count them in the query that reads this, or use RANGE in time without SLIDE and FREQUENCY",
    )
