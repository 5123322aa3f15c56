"""Translate a plan over one stream to the chain of steps that computes it.

A step with expressions that the engine does not evaluate comes after a step in which Spark computes them (`Compute`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, TypeVar

from sqlglot import exp

from slackwater.algebra import nodes as ops
from slackwater.algebra.aggregates import FUSED
from slackwater.algebra.expressions import Tree, column_node, name_of, parse_expr, text, type_of
from slackwater.algebra.lengths import Length
from slackwater.algebra.nodes import Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.properties.instants import instants_of, is_jump
from slackwater.algebra.schema import PSEUDO_COLUMNS, UNKNOWN, Expr, Field, Schema
from slackwater.engine import plan as engine
from slackwater.engine.columns.rows import INSTANT
from slackwater.errors import QueryError
from slackwater.spark.planner.fused.expressions import is_small, known_schema, replace_operands, tree_of
from slackwater.spark.planner.fused.instants import ROW_NUMBER, step_with_bounds

ASKED = "#q"
"""The names of columns that Spark computes between two operators begin with this."""
STAND_IN = "bigint"
"""The type of a column that only Spark can type, to see whether a plan can run."""


Relational = ops.Select | ops.Project | ops.Aggregate | ops.Distinct
AnyRelational = TypeVar("AnyRelational", bound=Relational)


def chain_of(plan: Plan) -> engine.Chain:
    """Return the chain of a plan over one stream."""
    (scan,) = [node for node in ops.walk(plan) if isinstance(node, ops.Scan)]
    return engine.Chain(input_of(scan), tuple(steps_of(plan)))


def input_of(scan: ops.Scan) -> engine.Input:
    """Return a stream as the engine reads it."""
    columns = tuple((field.name, field.type) for field in scan.fields)
    return engine.Input(columns, scan.event_time, scan.arrival, scan.change_type, scan.key)


def steps_over(plan: Plan, leaf: ops.Subquery | ops.View) -> tuple[engine.Step, ...]:
    """Return the steps of a plan that come after one of its subqueries."""
    rows = ops.Scan("", leaf.alias, known_schema(leaf).fields, "")

    def put_rows(node: Plan) -> Plan:
        return rows if node is leaf else ops.with_inputs(node, tuple(map(put_rows, ops.inputs(node))))

    return tuple(steps_of(put_rows(plan)))


def steps_of(plan: Plan) -> list[engine.Step]:
    """Return the steps that rows of the stream pass, in order."""
    match plan:
        case ops.Scan():
            return []
        case ops.Disorder(child=child) | ops.Emit(child=child):
            return steps_of(child)
        case ops.Subquery(query=query) | ops.View(query=query):
            return [*steps_of(query), engine.SubqueryStep()]
        case ops.Window() | ops.Frequency():
            below = below_window(plan)
            return [*steps_of(below), window_step(plan, schema_of(below))]
        case ops.Select(child=child) | ops.Project(child=child):
            return [*steps_of(child), *_row_wise_steps(plan)]
        case ops.Aggregate(child=child) | ops.Distinct(child=child):
            step, _ = relational_step(plan, schema_of(child), ())
            return [*_steps_at_boundaries(child), step_with_bounds(step, plan)]
    raise QueryError("SW-357", f"{type(plan).__name__} cannot be part of a chain", hint="run it elsewhere")


def _row_wise_steps(plan: ops.Select | ops.Project) -> list[engine.Step]:
    """Return the steps of a filter or a select list, and before them the columns that Spark computes for them."""
    here = schema_of(plan.child)
    columns = SparkColumns(known_schema(plan.child))
    plan = columns.take_from(plan)
    step, _ = relational_step(plan, Schema(here.fields + columns.fields), ())
    after = [same_columns(here.names)] if columns.items and isinstance(plan, ops.Select) else []
    return [*columns.steps(here.names, plan), step_with_bounds(step, plan), *after]


def _steps_at_boundaries(plan: Plan) -> list[engine.Step]:
    """Return the steps of what an aggregate reads: a subquery with boundaries of its own is read at these."""
    source = plan
    while isinstance(source, ops.Select | ops.Project):
        source = source.child
    made = steps_of(plan)
    if not isinstance(source, ops.Subquery | ops.View | ops.Frequency) or is_jump(source):
        return made
    if not instants_of(source).at_boundaries:
        return made
    slide = size_of(instants_of(source).every)
    below = steps_of(source)
    return [*below, engine.WindowStep(slide, slide), *made[len(below) :]]


# steps of single operators


def below_window(plan: ops.Window | ops.Frequency) -> Plan:
    """Return the plan whose rows a window holds, or a frequency picks."""
    return plan.child.child if is_jump(plan) and isinstance(plan.child, ops.Window) else plan.child


def window_step(plan: ops.Window | ops.Frequency, here: Schema) -> engine.WindowStep | engine.FrequencyStep:
    """Return the step of a window, with the frequency that may stand above it, or of a frequency of rows."""

    def names(references: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(here.find(reference).name for reference in references)

    every = size_of(plan.every)
    match plan:
        case ops.Frequency(child=ops.Window() as window, by=by, strict=strict) if is_jump(plan):
            return engine.WindowStep(size_of(window.range), every, names(window.by or by), names(by), strict)
        case ops.Window(by=by):
            return engine.WindowStep(size_of(plan.range), every, names(by), names(by))
        case ops.Frequency(by=by, strict=strict):
            return engine.FrequencyStep(every, names(by), strict)


def relational_step(plan: Relational, here: Schema, below: tuple[str, ...]) -> tuple[engine.Step, tuple[str, ...]]:
    """Return the step of an operator over the columns `here`, which have the names `below`, and the names after it."""
    match plan:
        case ops.Select(condition=condition):
            return engine.FilterStep(tree_of(condition, here)), below
        case ops.Project(items=items):
            names = unique_names([item.name for item in items])
            return engine.ProjectStep(_named_trees(items, names, here)), names
        case ops.Aggregate(group=group, aggregates=aggregates):
            names = unique_names([item.name for item in group + aggregates])
            keys = _named_trees(group, names, here)
            own = zip(names[len(group) :], aggregates, strict=True)
            return engine.AggregateStep(
                keys, tuple(replace(call_of(item, here), name=name) for name, item in own)
            ), names
        case ops.Distinct():
            return engine.DistinctStep(), below


def same_columns(names: Sequence[str], types: Sequence[str] = ()) -> engine.ProjectStep:
    """Return a step that keeps these columns as they are."""
    kinds = types or (UNKNOWN,) * len(names)
    return engine.ProjectStep(
        tuple(engine.NamedTree(name, ("column", name), kind) for name, kind in zip(names, kinds, strict=True))
    )


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names; one that was there before has a number behind it."""
    made: list[str] = []
    for name in names:
        count = sum(each.partition("#")[0] == name for each in made)
        made.append(f"{name}#{count + 1}" if count else name)
    return tuple(made)


def size_of(length: Length) -> engine.Size:
    """Return a length as the engine has it."""
    return engine.Size(length.amount, length.is_time)


def _named_trees(items: tuple[ops.Item, ...], names: Sequence[str], here: Schema) -> tuple[engine.NamedTree, ...]:
    pairs = zip(names, items, strict=False)
    return tuple(engine.NamedTree(name, tree_of(item.expr, here), item.expr.type) for name, item in pairs)


def call_of(item: ops.Item, here: Schema) -> engine.Call:
    """Return the call of an aggregate function."""
    written, tree = parse_expr(item.expr.sql), bare_call(item)
    if type(tree) not in FUSED:
        raise QueryError("SW-354", f"'{text(tree)}' cannot be computed in the fused operator", hint="use another")
    distinct = isinstance(tree.this, exp.Distinct)
    ignore_nulls = isinstance(written, exp.IgnoreNulls)
    return engine.Call(item.name, FUSED[type(tree)], _arguments(tree, here), item.expr.type, distinct, ignore_nulls)


def bare_call(item: ops.Item) -> Tree:
    """Return a call of an aggregate function without IGNORE NULLS."""
    tree = parse_expr(item.expr.sql)
    return tree.this if isinstance(tree, exp.IgnoreNulls) else tree


def _arguments(tree: Tree, here: Schema) -> tuple[Any, ...]:
    """Return the arguments of a call. COUNT of several expressions counts the rows in which none is NULL."""
    if isinstance(tree.this, exp.Star):
        return ()
    if isinstance(tree.this, exp.Distinct):
        return tuple(tree_of(each, here) for each in tree.this.expressions)
    given = tuple(tree_of(each, here) for each in tree.iter_expressions())
    if len(given) == 1 or not isinstance(tree, exp.Count):
        return given
    known = ("and", *(("not", ("is null", each)) for each in given))
    return (("or", known, ("literal", None, "boolean")),)


# columns that Spark computes between two operators


@dataclass(frozen=True, slots=True)
class SparkColumns:
    """Collects the expressions over the columns of an operator that the engine does not evaluate.

    `items` has the columns that Spark computes, by their text; `marks` the attributes of the instant that these read,
    which are columns of an operator before them.
    """

    here: Schema
    items: dict[str, engine.NamedTree] = field(default_factory=dict)
    marks: dict[str, engine.NamedTree] = field(default_factory=dict)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Return the columns that Spark computes."""
        return tuple(Field(item.name, item.type) for item in self.items.values())

    def take_from(self, plan: AnyRelational) -> AnyRelational:
        """Return an operator with columns of Spark's in place of the expressions that the engine does not evaluate."""
        match plan:
            case ops.Select(condition=condition):
                return replace(plan, condition=self._take_from_expr(condition))
            case ops.Project(items=items):
                return replace(plan, items=tuple(map(self._take_from_item, items)))
            case ops.Aggregate(group=group, aggregates=aggregates):
                calls = (self._take_from_item(item) if type(bare_call(item)) in FUSED else item for item in aggregates)
                return replace(plan, group=tuple(map(self._take_from_item, group)), aggregates=tuple(calls))
        return plan

    def _take_from_item(self, item: ops.Item) -> ops.Item:
        return replace(item, expr=self._take_from_expr(item.expr))

    def _take_from_expr(self, given: Expr) -> Expr:
        tree = self.take_from_tree(parse_expr(given.sql))
        kind = UNKNOWN if isinstance(tree, exp.Column) and tree.name.startswith(ASKED) else given.type
        return Expr(text(tree), kind)

    def take_from_tree(self, tree: Tree) -> Tree:
        """Return the expression, or a column of Spark's in its place if the engine does not evaluate it."""
        if isinstance(tree, exp.IgnoreNulls | exp.Distinct) or type(tree) in FUSED:
            return replace_operands(tree, self.take_from_tree)
        if is_small(tree, self.here):
            return tree.copy()
        kind = type_of(tree, self.here)
        sql = self._text_for_spark(tree)
        if sql not in self.items:
            taken = {*self.here.names, *(item.name for item in self.items.values())}
            name = next(name for number in count() if (name := f"{ASKED}{number}") not in taken)
            self.items[sql] = engine.NamedTree(name, ("spark", sql), STAND_IN if kind == UNKNOWN else kind)
        return column_node(self.items[sql].name)

    def _text_for_spark(self, tree: Tree) -> str:
        """Return an expression as Spark evaluates it; attributes of the instant are columns, added to `marks`."""

        def spell(node: Tree) -> Tree:
            if not isinstance(node, exp.Column):
                return node
            name = name_of(node)
            if self.here.matching(name) or name.lower() not in PSEUDO_COLUMNS:
                return column_node(undotted(self.here.find(name).name))
            own = f"{ASKED}_{name.lower()}"
            self.marks[own] = engine.NamedTree(own, ("mark", name.lower()), PSEUDO_COLUMNS[name.lower()])
            return column_node(own)

        return text(tree.transform(spell))

    @property
    def are_numbered(self) -> bool:
        """Return whether an expression reads the numbers of rows."""
        return f"{ASKED}_row_number" in self.marks

    def steps(
        self, below: Sequence[str], plan: Plan, number: engine.Tree = ROW_NUMBER
    ) -> list[engine.ProjectStep | engine.Compute]:
        """Return the steps that add columns to those `below`: attributes of the instant, then the columns of Spark."""
        if not self.items:
            return []
        marked = engine.ProjectStep((*same_columns(below).items, *self.marks.values()))
        before = [step_with_bounds(marked, plan, number)] if self.marks else []
        return [*before, engine.Compute(tuple(self.items.values()))]


def undotted(name: str) -> str:
    """Return the name of a column for Spark, to which a dot is between a table and its column."""
    return name.replace(".", "#")


INSTANT_COLUMN = engine.NamedTree("#instant", ("mark", INSTANT), "bigint")
"""The additional column with the numbers of instants, if DISTINCT reads it."""


def find_instants(steps: tuple[engine.Step, ...], names: Sequence[str]) -> tuple[engine.Step, ...]:
    """Return steps over columns of these names, in which DISTINCT needs no marks to know the rows of an instant.

    In a tree, rows to which Spark adds columns lose their marks, so DISTINCT reads the number of the instant from a
    column.
    """
    for place, step in enumerate(steps):
        begin = next((each for each in reversed(range(place)) if not isinstance(steps[each], engine.ROW_WISE)), -1) + 1
        between = steps[begin:place]
        if step != engine.DistinctStep() or not any(isinstance(each, engine.Compute) for each in between):
            continue
        marked = engine.ProjectStep(
            (*same_columns(engine.columns_after(list(names), steps[:begin])).items, INSTANT_COLUMN)
        )
        own = same_columns(engine.columns_after(list(names), steps[:place]))
        found = (marked, *map(_with_instant, between), engine.DistinctStep(INSTANT_COLUMN.name), own)
        return find_instants((*steps[:begin], *found, *steps[place + 1 :]), names)
    return steps


def _with_instant(step: engine.Step) -> engine.Step:
    """Return a step that passes the column of instants on."""
    if not isinstance(step, engine.ProjectStep):
        return step
    return engine.ProjectStep((*step.items, *same_columns([INSTANT_COLUMN.name], [INSTANT_COLUMN.type]).items))
