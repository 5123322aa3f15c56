"""Pairs as a stream, where a window counts rows: the operators of a join, by the number of the instant."""

from __future__ import annotations

from dataclasses import replace

from slackwater.engine.expressions.evaluate import marks_of
from slackwater.engine.plan import (
    ROW_WISE,
    Compute,
    Edge,
    FilterStep,
    JoinLogs,
    Node,
    Over,
    ProjectStep,
    Turn,
    Turns,
    UnionLogs,
    WindowStep,
    children,
    trees_of,
    with_children,
)
from slackwater.errors import QueryError
from slackwater.spark.planner.fused.sequence import in_sequence


def in_turn(node: Node) -> Node:
    """The same operators, the join in the order of its instants (engine.changelog.counted)."""
    if isinstance(node, JoinLogs):
        return Turns(Edge(1, node.edge.key), _turned(node))
    return with_children(node, *map(in_turn, children(node)))


def _turned(node: Node) -> Node:
    strict = replace(node.edge, level=4)
    match node:
        case JoinLogs(left=left, right=right):
            return replace(node, edge=strict, left=_turned(left), right=_turned(right))
        case Over(child=child, step=FilterStep() | ProjectStep() as step):
            if any(map(marks_of, trees_of(step))):
                raise _refused("a mark of the instant")
            return replace(node, edge=strict, child=_turned(child))
        case UnionLogs():
            raise _refused("a UNION")
        case Over(child=child, step=Compute()) if _holds(child):
            raise _refused("a column that Spark computes of held rows")
        case Over(child=child, step=WindowStep() as window):
            return _turn(child, window.range.amount) if window.is_range else replace(node, child=_turn(child, None))
    return _turn(node, None)


def _holds(node: Node) -> bool:
    """Whether an operator yields pairs, or rows of a window, rather than those of a stream."""
    while isinstance(node, Over) and isinstance(node.step, ROW_WISE) and not node.edge.subquery:
        node = node.child
    return isinstance(node, JoinLogs) or (isinstance(node, Over) and isinstance(node.step, WindowStep))


def _turn(node: Node, length: int | None) -> Node:
    return Turn(Edge(1 if length is None else 4, node.edge.key), in_sequence(node), length)


def _refused(what: str) -> QueryError:
    return QueryError(
        "SW-363",
        f"{what} before rows are paired has no changelog where a window counts rows",
        expected="a join of streams and of subqueries, with conditions over their columns",
        hint="put it into a subquery",
    )
