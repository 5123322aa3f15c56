"""From a plan of the algebra over one stream to the chain of operators that computes it."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from slackwater.algebra.columns import schema_of
from slackwater.algebra.expressions import Tree, parsed, text
from slackwater.algebra.instants import instants_of, is_jump
from slackwater.algebra.lengths import ONE_TUPLE, Length
from slackwater.algebra.nodes import (
    Aggregate,
    Disorder,
    Distinct,
    Emit,
    Frequency,
    Item,
    Plan,
    Project,
    Scan,
    Select,
    Subquery,
    View,
    Window,
    inputs,
    walk,
    with_inputs,
)
from slackwater.algebra.schema import Schema
from slackwater.errors import QueryError
from slackwater.spark.planner.fused.instant import with_marks
from slackwater.spark.planner.fused.trees import tree_of

FUNCTIONS: dict[type, str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.First: "first",
    exp.AnyValue: "first",
    exp.Last: "last",
    exp.Stddev: "stddev_samp",
    exp.StddevSamp: "stddev_samp",
    exp.StddevPop: "stddev_pop",
    exp.Variance: "var_samp",
    exp.VariancePop: "var_pop",
    exp.LogicalAnd: "bool_and",
    exp.LogicalOr: "bool_or",
}


def chain_of(plan: Plan) -> dict[str, Any]:
    """The description of the chain."""
    (scan,) = [node for node in walk(plan) if isinstance(node, Scan)]
    return {
        "columns": [[field.name, field.type] for field in scan.fields],
        "time": scan.event_time,
        "arrival": scan.arrival,
        "steps": steps(plan),
    }


def steps_over(plan: Plan, leaf: Subquery | View) -> list[dict[str, Any]]:
    """The steps of a chain from one of its subqueries on."""
    return steps(_replaced(plan, leaf, Scan("", leaf.alias, schema_of(leaf).fields, "")))


def _replaced(plan: Plan, leaf: Plan, other: Plan) -> Plan:
    return other if plan is leaf else with_inputs(plan, tuple(_replaced(each, leaf, other) for each in inputs(plan)))


def steps(plan: Plan) -> list[dict[str, Any]]:
    match plan:
        case Scan():
            return []
        case Disorder(child=child) | Emit(child=child):
            return steps(child)
        case Subquery(query=query) | View(query=query):
            return [*steps(query), {"op": "subquery"}]
        case Frequency(child=Window(every=every) as window, by=by, strict=strict) if every == ONE_TUPLE:
            return [*steps(window.child), window_step(window, plan.every, window.by or by, by, strict)]
        case Window(every=every, by=by):
            return [*steps(plan.child), window_step(plan, every, by, by)]
        case Frequency(child=child, every=every, by=by, strict=strict):
            names = plain(by, schema_of(child))
            return [*steps(child), {"op": "frequency", "every": length(every), "by": names, "strict": strict}]
        case Select(child=child, condition=condition):
            made = {"op": "filter", "condition": tree_of(condition, schema_of(child))}
            return [*steps(child), with_marks(made, plan)]
        case Project(child=child, items=items):
            made = {"op": "project", "items": named(items, schema_of(child))}
            return [*steps(child), with_marks(made, plan)]
        case Aggregate(child=child, group=group, aggregates=aggregates):
            here = schema_of(child)
            calls = [call(item, here) for item in aggregates]
            made = {"op": "aggregate", "group": named(group, here), "calls": calls}
            return [*windowed(child), with_marks(made, plan)]
        case Distinct(child=child):
            return [*windowed(child), {"op": "distinct"}]
    raise QueryError("SW-357", f"{type(plan).__name__} cannot be part of a chain", hint="run it elsewhere")


def windowed(plan: Plan) -> list[dict[str, Any]]:
    """What an aggregate reads. A subquery with boundaries of its own is read at them: what it emitted there."""
    source = plan
    while isinstance(source, Select | Project):
        source = inputs(source)[0]
    made = steps(plan)
    if isinstance(source, Subquery | View | Frequency) and not is_jump(source) and instants_of(source).at_boundaries:
        slide = length(instants_of(source).every)
        below = steps(source)
        return [*below, {"op": "window", "range": slide, "every": slide}, *made[len(below) :]]
    return made


def window_step(
    window: Window, every: Length, by: tuple[str, ...], count_by: tuple[str, ...], strict: bool = False
) -> dict[str, Any]:
    here = schema_of(window.child)
    return {
        "op": "window",
        "range": length(window.range),
        "every": length(every),
        "by": plain(by, here),
        "count_by": plain(count_by, here),
        "strict": strict,
    }


def length(given: Length) -> dict[str, int]:
    return {"time" if given.is_time else "tuples": given.amount}


def plain(references: tuple[str, ...], schema: Schema) -> list[str]:
    return [schema.find(reference).name for reference in references]


def named(items: tuple[Item, ...], schema: Schema) -> list[list[Any]]:
    return [[item.name, tree_of(item.expr, schema), item.expr.type] for item in items]


def call(item: Item, schema: Schema) -> list[Any]:
    """A call by its function, its arguments, its type and its options."""
    tree = parsed(item.expr.sql)
    options: dict[str, bool] = {}
    if isinstance(tree, exp.IgnoreNulls):
        tree, options["ignore_nulls"] = tree.this, True
    if isinstance(tree.this, exp.Distinct):
        options["distinct"] = True
    if type(tree) not in FUNCTIONS:
        raise QueryError("SW-354", f"'{text(tree)}' cannot be computed in the fused operator", hint="use another")
    return [item.name, FUNCTIONS[type(tree)], arguments(tree, schema), item.expr.type, options]


def arguments(tree: Tree, schema: Schema) -> list[Any]:
    """The arguments; COUNT of several counts the rows in which none is NULL."""
    if isinstance(tree.this, exp.Star):
        return []
    if isinstance(tree.this, exp.Distinct):
        return [tree_of(each, schema) for each in tree.this.expressions]
    given = [tree_of(each, schema) for each in tree.iter_expressions()]
    if len(given) == 1 or not isinstance(tree, exp.Count):
        return given
    return [["case", [["and", *(["is not null", each] for each in given)], ["literal", 1, "int"]], None]]
