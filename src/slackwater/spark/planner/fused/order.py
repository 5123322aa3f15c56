"""Put the rows of several streams into the order of the language, where they are read as one stream."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from slackwater.engine import plan as engine
from slackwater.engine.expressions import marks_of
from slackwater.errors import QueryError


def is_row_wise(node: engine.Node) -> TypeGuard[engine.Over]:
    """Return whether each row of an operator comes from one row of its input."""
    return isinstance(node, engine.Over) and (isinstance(node.step, engine.ROW_WISE) or is_range(node))


def is_range(node: engine.Node) -> bool:
    """Return whether an operator is a window that rows leave by time alone, evaluated at every row."""
    return isinstance(node, engine.Over) and isinstance(node.step, engine.WindowStep) and node.step.is_range


def is_merging(node: engine.Node) -> bool:
    """Return whether rows stand for several rows: they are a stream only at boundaries, sorted by their columns."""
    groups = isinstance(node, engine.Over) and isinstance(node.step, engine.AggregateStep | engine.DistinctStep)
    return groups or isinstance(node, engine.MinusLogs)


def place_rows(node: engine.Node) -> engine.Node:
    """Return the same operators over rows that have their places; rows of several streams are put into order."""
    match node:
        case engine.Source():
            return engine.Placed(node.edge, node)
        case engine.Chained() | engine.Piped() | engine.Ordered() | engine.Placed():
            return node
        case engine.UnionLogs(left=left, right=right):
            return _order(replace(node, left=place_rows(left), right=place_rows(right)), "union")
        case engine.JoinLogs():
            return _order(_place_pairs(node), "whole" if _is_at_boundaries(node) else "row")
        case engine.Turns():
            return _order(node, "row")
        case _ if is_merging(node):
            return _order(node, "columns")
    return engine.with_children(node, *map(place_rows, engine.children(node)))


def order_births(node: engine.Node) -> engine.Node:
    """Return the same operators, in which tuples that begin at one time do so in the order that FIRST and LAST need.

    Rows of several streams come in their order; aggregated rows that may still change are sorted by their columns.
    """
    if is_merging(node):
        return _order(node, "moment")
    match node:
        case engine.Source() | engine.Chained() | engine.Piped():
            return node
        case engine.Over(step=engine.WindowStep()) if not is_range(node):
            return node
        case engine.Streamed(child=child):
            return replace(node, child=place_rows(child))
    return engine.with_children(node, *map(order_births, engine.children(node)))


def without_lifetimes(node: engine.Node) -> engine.Node:
    """Return the same rows, each of which lives on, so that rows at boundaries are counted like any other."""
    if node.edge.level == 1:
        return node
    made = replace(node, edge=replace(node.edge, level=1))
    if isinstance(made, engine.Chained | engine.Piped | engine.Streamed):
        made = replace(made, lifetime=None)
    if isinstance(made, engine.Placed) or is_row_wise(made):
        return engine.with_children(made, without_lifetimes(made.child))
    return made


def _place_pairs(node: engine.Node) -> engine.Node:
    """Return a join of several inputs over rows that have their places."""
    match node:
        case engine.JoinLogs(left=left, right=right):
            return replace(node, left=_place_pairs(left), right=_place_pairs(right))
        case engine.Over(child=child) if is_row_wise(node):
            return replace(node, child=_place_pairs(child))
    return place_rows(node)


def _is_at_boundaries(node: engine.Node) -> bool:
    """Return whether the rows of a join live from one boundary to the next."""
    lives = node.lifetime if isinstance(node, engine.Chained | engine.Piped | engine.Streamed) else None
    if lives is not None or isinstance(node, engine.Read) or is_merging(node):
        return True
    if isinstance(node, engine.Sided):
        return _is_at_boundaries(node.left) or _is_at_boundaries(node.right)
    return is_row_wise(node) and _is_at_boundaries(node.child)


def _order(node: engine.Node, by: str) -> engine.Ordered:
    return engine.Ordered(node.edge, node, by)


# pairs where a window counts rows


def pair_in_turns(node: engine.Node) -> engine.Node:
    """Return the same operators, with the join evaluated at its instants one by one (`engine.changelog.counted`)."""
    if isinstance(node, engine.JoinLogs):
        return engine.Turns(engine.Edge(1, node.edge.key), _turn_sides(node))
    return engine.with_children(node, *map(pair_in_turns, engine.children(node)))


def _turn_sides(node: engine.Node) -> engine.Node:
    """Return a join, or an operator below it, over streams that have their turns."""
    strict = replace(node.edge, level=4)
    match node:
        case engine.JoinLogs(left=left, right=right):
            return replace(node, edge=strict, left=_turn_sides(left), right=_turn_sides(right))
        case engine.UnionLogs():
            raise _refusal("a UNION")
        case engine.Over(child=child, step=engine.Compute()):
            if _holds_rows(child):
                raise _refusal("a column that Spark computes of held rows")
        case engine.Over(child=child, step=engine.WindowStep() as window):
            return _turn(child, window.range.amount) if is_range(node) else replace(node, child=_turn(child, None))
        case engine.Over(child=child, step=step) if isinstance(step, engine.ROW_WISE):
            if any(map(marks_of, engine.trees_of(step))):
                raise _refusal("a mark of the instant")
            return replace(node, edge=strict, child=_turn_sides(child))
    return _turn(node, None)


def _holds_rows(node: engine.Node) -> bool:
    """Return whether an operator yields pairs, or rows of a window, rather than rows of a stream."""
    while isinstance(node, engine.Over) and isinstance(node.step, engine.ROW_WISE) and not node.edge.subquery:
        node = node.child
    return isinstance(node, engine.JoinLogs) or (
        isinstance(node, engine.Over) and isinstance(node.step, engine.WindowStep)
    )


def _turn(node: engine.Node, length: int | None) -> engine.Node:
    """Return a stream of a join by the number of the instant, with a window of so many ticks over it if it has one."""
    return engine.Turn(engine.Edge(1 if length is None else 4, node.edge.key), place_rows(node), length)


def _refusal(what: str) -> QueryError:
    return QueryError(
        "SW-363",
        f"{what} before rows are paired has no changelog where a window counts rows",
        expected="a join of streams and of subqueries, with conditions over their columns",
        hint="put it into a subquery",
    )
