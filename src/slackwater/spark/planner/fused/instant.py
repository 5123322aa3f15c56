"""What a query may name without declaring it, in a tree of changelog operators: as columns, or by the time of a row.

A row has its number in it, if an expression asks for one (`numbered`). Where results come at boundaries, the
time of a result is the boundary less a tick.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from slackwater.algebra.lengths import TICK
from slackwater.algebra.nodes import Plan
from slackwater.algebra.properties.instants import instants_of
from slackwater.engine.plan import (
    NUMBERED,
    AggregateStep,
    Chain,
    Chained,
    DistinctStep,
    FilterStep,
    JoinLogs,
    MinusLogs,
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
    with_children,
)
from slackwater.spark.planner.fused.sequence import in_sequence, is_row_wise

ROW_TIME, ROW_NUMBER = ("mark", "row_time"), ("mark", "row_number")
NUMBER, NO_NUMBER = ("column", NUMBERED), ("literal", None, "bigint")


def numbered(node: Node) -> Node:
    """The same operators, whose rows have their numbers as one more column.

    A row of a stream has its number there, also where it was sampled; a row of a subquery its number among the rows of
    that. Where rows are counted, it is the number of the row that caused the instant at which they were first held.
    """
    if isinstance(node, Numbered) or NUMBERED in [item.name for item in _last_items(node)]:
        return node
    if node.edge.subquery or isinstance(node, Streamed):
        return Numbered(replace(node.edge, subquery=False), in_sequence(node))
    match node:
        case Source():
            return replace(node, numbered=True)
        case Chained(chain=chain):
            return replace(node, chain=_with_number(chain))
        case Over(child=child, step=ProjectStep(items=items)):
            more = ProjectStep((*items, NamedTree(NUMBERED, NUMBER, "bigint")))
            return replace(node, step=more, child=numbered(child))
        case Over(step=WindowStep() as window) if not window.is_range:
            return replace(node, numbered=True)
    return with_children(node, *map(numbered, children(node)))


def _last_items(node: Node) -> tuple[NamedTree, ...]:
    """What an operator or a chain projects in the end."""
    steps = node.chain.steps[-1:] if isinstance(node, Chained) else (node.step,) if isinstance(node, Over) else ()
    return steps[0].items if steps and isinstance(steps[0], ProjectStep) else ()


def _with_number(chain: Chain) -> Chain:
    """A chain that tells the numbers of its rows."""
    names = columns_after(chain.input.names, chain.steps)
    items = [
        *(NamedTree(name, ("column", name)) for name in names),
        NamedTree(NUMBERED, ("mark", "row_number"), "bigint"),
    ]
    return replace(chain, steps=(*chain.steps, ProjectStep(tuple(items))))


def numberless(node: Node) -> bool:
    """Whether tuples stand for several rows, of which no one has the number: it is NULL."""
    while is_row_wise(node) and not node.edge.subquery:
        node = node.child
    match node:
        case Over(step=AggregateStep() | DistinctStep()) | MinusLogs() | JoinLogs():
            return True
    return False


def step_with_marks(step: Step, plan: Plan, number: Tree = ROW_NUMBER) -> Any:
    """Return a step with the bounds of its extents computed from the time of a result."""
    match step:
        case AggregateStep(group=group, calls=calls):
            items = tuple(replace(item, tree=with_marks(item.tree, plan, number)) for item in group)
            own = (replace(call, arguments=with_marks(call.arguments, plan, number)) for call in calls)
            return AggregateStep(items, tuple(own))
        case ProjectStep(items=items):
            return ProjectStep(tuple(replace(item, tree=with_marks(item.tree, plan, number)) for item in items))
        case FilterStep(condition=condition):
            return FilterStep(with_marks(condition, plan, number))
    return step


def with_marks(tree: Any, plan: Plan, number: Tree) -> Any:
    """Return an expression with the bounds of its extents computed from the time of a result."""
    match tree:
        case ("mark", "row_number"):
            return number
        case ("mark", "window_end"):
            return _boundary(TICK)
        case ("mark", "window_start") if (window := instants_of(plan).window) is not None:
            return _boundary(TICK - window.amount)
        case tuple():
            return tuple(with_marks(each, plan, number) for each in tree)
    return tree


def _boundary(ticks: int) -> Tree:
    """The time of a result, and so many ticks."""
    return ("+", ROW_TIME, ("literal", ticks, "interval"))
