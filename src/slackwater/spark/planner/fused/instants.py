"""Provide the attributes of the instant (row_number, window_start, window_end, row_time) in a tree of operators.

Rows have their number as one more column if an expression reads it. The bounds of an extent are computed from the time
of a result: at boundaries that is the boundary minus one tick.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from slackwater.algebra.lengths import TICK
from slackwater.algebra.nodes import Plan
from slackwater.algebra.properties.instants import instants_of
from slackwater.engine import plan as engine
from slackwater.engine.expressions import marks_of
from slackwater.spark.planner.fused.order import is_merging, is_range, is_row_wise, place_rows

ROW_TIME, ROW_NUMBER = ("mark", "row_time"), ("mark", "row_number")
NUMBER, NO_NUMBER = ("column", engine.NUMBERED), ("literal", None, "bigint")


def number_rows(node: engine.Node) -> engine.Node:
    """Return the same operators, whose rows have their numbers as one more column.

    A row of a stream keeps its number there if it is sampled; a row of a subquery has its number among the rows of the
    subquery. A row of a window that counts has the number of the row that caused the first instant at which the window
    held it.
    """
    if isinstance(node, engine.Numbered) or engine.NUMBERED in [item.name for item in _projected_items(node)]:
        return node
    if node.edge.subquery or isinstance(node, engine.Streamed):
        return engine.Numbered(replace(node.edge, subquery=False), place_rows(node))
    match node:
        case engine.Source():
            return replace(node, numbered=True)
        case engine.Chained(chain=chain):
            return replace(node, chain=_number_chain(chain))
        case engine.Over(child=child, step=engine.ProjectStep(items=items)):
            more = engine.ProjectStep((*items, engine.NamedTree(engine.NUMBERED, NUMBER, "bigint")))
            return replace(node, step=more, child=number_rows(child))
        case engine.Over(step=engine.WindowStep()) if not is_range(node):
            return replace(node, numbered=True)
    return engine.with_children(node, *map(number_rows, engine.children(node)))


def _projected_items(node: engine.Node) -> tuple[engine.NamedTree, ...]:
    """Return the items of the projection with which an operator or a chain ends."""
    steps = (
        node.chain.steps[-1:]
        if isinstance(node, engine.Chained)
        else (node.step,)
        if isinstance(node, engine.Over)
        else ()
    )
    return steps[0].items if steps and isinstance(steps[0], engine.ProjectStep) else ()


def _number_chain(chain: engine.Chain) -> engine.Chain:
    """Return a chain whose rows have their numbers as one more column."""
    items = [engine.NamedTree(name, ("column", name)) for name in engine.columns_after(chain.input.names, chain.steps)]
    return replace(
        chain,
        steps=(*chain.steps, engine.ProjectStep((*items, engine.NamedTree(engine.NUMBERED, ROW_NUMBER, "bigint")))),
    )


def number_of(node: engine.Node) -> engine.Tree:
    """Return how the rows of an operator know their number: as a column. Rows that stand for several have NULL."""
    while is_row_wise(node) and not node.edge.subquery:
        node = node.child
    return NO_NUMBER if is_merging(node) or isinstance(node, engine.JoinLogs) else NUMBER


def reads_number(step: engine.Step) -> bool:
    """Return whether an expression of a step reads the numbers of rows."""
    return any(ROW_NUMBER[1] in marks_of(tree) for tree in engine.trees_of(step))


def step_with_bounds(step: engine.Step, plan: Plan, number: engine.Tree = ROW_NUMBER) -> Any:
    """Return a step with the bounds of its extents computed from the time of a result, and `number` as row_number."""
    match step:
        case engine.AggregateStep(group=group, calls=calls):
            items = tuple(replace(item, tree=_with_bounds(item.tree, plan, number)) for item in group)
            own = (replace(call, arguments=_with_bounds(call.arguments, plan, number)) for call in calls)
            return engine.AggregateStep(items, tuple(own))
        case engine.ProjectStep(items=items):
            return engine.ProjectStep(
                tuple(replace(item, tree=_with_bounds(item.tree, plan, number)) for item in items)
            )
        case engine.FilterStep(condition=condition):
            return engine.FilterStep(_with_bounds(condition, plan, number))
    return step


def _with_bounds(tree: Any, plan: Plan, number: engine.Tree) -> Any:
    match tree:
        case ("mark", "row_number"):
            return number
        case ("mark", "window_end"):
            return _row_time_plus(TICK)
        case ("mark", "window_start") if (window := instants_of(plan).window) is not None:
            return _row_time_plus(TICK - window.amount)
        case tuple():
            return tuple(_with_bounds(each, plan, number) for each in tree)
    return tree


def _row_time_plus(ticks: int) -> engine.Tree:
    return ("+", ROW_TIME, ("literal", ticks, "interval"))
