"""Pairs as a stream, where a window counts rows: the operators of a join, by the number of the instant."""

from __future__ import annotations

from typing import Any

from slackwater.engine.expressions import marks_of
from slackwater.errors import QueryError
from slackwater.spark.planner.fused.edges import Node
from slackwater.spark.planner.fused.sequence import in_sequence


def in_turn(node: Node) -> Node:
    """The same operators, the join in the order of its instants (kernels.changelog.turns)."""
    if node["op"] == "join":
        return {"op": "turns", "child": _turned(node), "class": 1, "key": node["key"]}
    return {**node, "child": in_turn(node["child"])}


def _turned(node: Node) -> Node:
    match node["op"]:
        case "join":
            return {**node, "left": _turned(node["left"]), "right": _turned(node["right"]), "class": 4}
        case "filter" | "project":
            if any(map(marks_of, _trees(node))):
                raise _refused("a mark of the instant")
            return {**node, "child": _turned(node["child"]), "class": 4}
        case "union":
            raise _refused("a UNION")
        case "window":
            return _turn(node["child"], node["range"])
        case "counted":
            return {**node, "child": _turn(node["child"], None)}
    return _turn(node, None)


def _turn(node: Node, length: int | None) -> Node:
    level = 1 if length is None else 4
    return {"op": "turn", "range": length, "child": in_sequence(node), "class": level, "key": node["key"]}


def _trees(node: Node) -> list[Any]:
    return [node["condition"]] if node["op"] == "filter" else [tree for _, tree, _ in node["items"]]


def _refused(what: str) -> QueryError:
    return QueryError(
        "SW-363",
        f"{what} before rows are paired has no changelog where a window counts rows",
        expected="a join of streams and of subqueries, with conditions over their columns",
        hint="put it into a subquery",
    )
