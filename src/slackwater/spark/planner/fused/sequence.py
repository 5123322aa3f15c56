"""The operators of a stream of several streams, so that its rows come in the order of the language."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from slackwater.engine.plan import (
    AggregateStep,
    Chained,
    Compute,
    DistinctStep,
    FilterStep,
    JoinLogs,
    MinusLogs,
    Node,
    Ordered,
    Over,
    Piped,
    Placed,
    ProjectStep,
    Read,
    Sided,
    Source,
    Streamed,
    Turns,
    UnionLogs,
    WindowStep,
    children,
    with_children,
)


def is_row_wise(node: Node) -> TypeGuard[Over]:
    """Whether each row of an operator comes from one row of its input."""
    match node:
        case Over(step=FilterStep() | ProjectStep() | Compute()):
            return True
        case Over(step=WindowStep() as window):
            return window.is_range
    return False


def is_merging(node: Node) -> bool:
    """Whether rows stand for several: read as a stream only at boundaries, and there in the order of their columns."""
    match node:
        case Over(step=AggregateStep() | DistinctStep()) | MinusLogs():
            return True
    return False


def in_sequence(node: Node) -> Node:
    """The same operators, over rows that have their places; what puts several streams together puts them in order."""
    match node:
        case Source():
            return Placed(node.edge, node)
        case Chained() | Piped() | Ordered() | Placed():
            return node
        case UnionLogs(left=left, right=right):
            return _ordered(replace(node, left=in_sequence(left), right=in_sequence(right)), "union")
        case JoinLogs():
            return _ordered(_pairs(node), "whole" if _at_boundaries(node) else "row")
        case Turns():
            return _ordered(node, "row")
        case _ if is_merging(node):
            return _ordered(node, "columns")
    return with_children(node, *map(in_sequence, children(node)))


def by_birth(node: Node) -> Node:
    """The same operators, in which tuples that begin at one time do so in their order: what FIRST and LAST go by.

    Streams of several streams come in theirs, and aggregated rows that may still change in that of their columns.
    """
    if is_merging(node):
        return _ordered(node, "moment")
    match node:
        case Source() | Chained() | Piped():
            return node
        case Over(step=WindowStep() as window) if not window.is_range:
            return node
        case Streamed(child=child):
            return replace(node, child=in_sequence(child))
    return with_children(node, *map(by_birth, children(node)))


def as_stream(node: Node) -> Node:
    """The same rows where each lives on: what comes at boundaries is counted like any other."""
    if node.edge.level == 1:
        return node
    made = replace(node, edge=replace(node.edge, level=1))
    if isinstance(made, Chained | Piped | Streamed):
        made = replace(made, lifetime=None)
    if isinstance(made, Placed) or is_row_wise(made):
        return with_children(made, as_stream(made.child))
    return made


def _pairs(node: Node) -> Node:
    """A join of several rows, each of which has its place."""
    match node:
        case JoinLogs(left=left, right=right):
            return replace(node, left=_pairs(left), right=_pairs(right))
        case Over(child=child) if is_row_wise(node):
            return replace(node, child=_pairs(child))
    return in_sequence(node)


def _at_boundaries(node: Node) -> bool:
    """Whether what is joined stands from one boundary to the next."""
    lives = node.lifetime if isinstance(node, Chained | Piped | Streamed) else None
    if lives is not None or isinstance(node, Read) or is_merging(node):
        return True
    if isinstance(node, Sided):
        return _at_boundaries(node.left) or _at_boundaries(node.right)
    return is_row_wise(node) and _at_boundaries(node.child)


def _ordered(node: Node, by: str) -> Ordered:
    return Ordered(node.edge, node, by)
