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
from slackwater.engine.expressions import marks_of
from slackwater.engine.plan import (
    NUMBERED,
    AggregateStep,
    Chain,
    Chained,
    FilterStep,
    JoinLogs,
    NamedTree,
    Node,
    Numbered,
    Over,
    ProjectStep,
    Source,
    Step,
    Streamed,
    Tree,
    WindowStep,
    children,
    columns_after,
    trees_of,
    with_children,
)
from slackwater.spark.planner.fused.order import is_merging, is_range, is_row_wise, place_rows

ROW_TIME, ROW_NUMBER = ("mark", "row_time"), ("mark", "row_number")
NUMBER, NO_NUMBER = ("column", NUMBERED), ("literal", None, "bigint")


def number_rows(node: Node) -> Node:
    """Return the same operators, whose rows have their numbers as one more column.

    A row of a stream keeps its number there if it is sampled; a row of a subquery has its number among the rows of the
    subquery. A row of a window that counts has the number of the row that caused the first instant at which the window
    held it.
    """
    if isinstance(node, Numbered) or NUMBERED in [item.name for item in _projected_items(node)]:
        return node
    if node.edge.subquery or isinstance(node, Streamed):
        return Numbered(replace(node.edge, subquery=False), place_rows(node))
    match node:
        case Source():
            return replace(node, numbered=True)
        case Chained(chain=chain):
            return replace(node, chain=_number_chain(chain))
        case Over(child=child, step=ProjectStep(items=items)):
            more = ProjectStep((*items, NamedTree(NUMBERED, NUMBER, "bigint")))
            return replace(node, step=more, child=number_rows(child))
        case Over(step=WindowStep()) if not is_range(node):
            return replace(node, numbered=True)
    return with_children(node, *map(number_rows, children(node)))


def _projected_items(node: Node) -> tuple[NamedTree, ...]:
    """Return the items of the projection with which an operator or a chain ends."""
    steps = node.chain.steps[-1:] if isinstance(node, Chained) else (node.step,) if isinstance(node, Over) else ()
    return steps[0].items if steps and isinstance(steps[0], ProjectStep) else ()


def _number_chain(chain: Chain) -> Chain:
    """Return a chain whose rows have their numbers as one more column."""
    items = [NamedTree(name, ("column", name)) for name in columns_after(chain.input.names, chain.steps)]
    return replace(chain, steps=(*chain.steps, ProjectStep((*items, NamedTree(NUMBERED, ROW_NUMBER, "bigint")))))


def number_of(node: Node) -> Tree:
    """Return how the rows of an operator know their number: as a column. Rows that stand for several have NULL."""
    while is_row_wise(node) and not node.edge.subquery:
        node = node.child
    return NO_NUMBER if is_merging(node) or isinstance(node, JoinLogs) else NUMBER


def reads_number(step: Step) -> bool:
    """Return whether an expression of a step reads the numbers of rows."""
    return any(ROW_NUMBER[1] in marks_of(tree) for tree in trees_of(step))


def step_with_bounds(step: Step, plan: Plan, number: Tree = ROW_NUMBER) -> Any:
    """Return a step with the bounds of its extents computed from the time of a result, and `number` as row_number."""
    match step:
        case AggregateStep(group=group, calls=calls):
            items = tuple(replace(item, tree=_with_bounds(item.tree, plan, number)) for item in group)
            own = (replace(call, arguments=_with_bounds(call.arguments, plan, number)) for call in calls)
            return AggregateStep(items, tuple(own))
        case ProjectStep(items=items):
            return ProjectStep(tuple(replace(item, tree=_with_bounds(item.tree, plan, number)) for item in items))
        case FilterStep(condition=condition):
            return FilterStep(_with_bounds(condition, plan, number))
    return step


def _with_bounds(tree: Any, plan: Plan, number: Tree) -> Any:
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


def _row_time_plus(ticks: int) -> Tree:
    return ("+", ROW_TIME, ("literal", ticks, "interval"))
