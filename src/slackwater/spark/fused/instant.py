"""What a query may name without declaring it, in a tree of changelog operators: as columns, or by the time of a row.

A row of a stream has its number in it, if the stream asks for one (`numbered`). Where results come at boundaries, the
time of a result is the boundary less a tick.
"""

from __future__ import annotations

from typing import Any

from slackwater.algebra.instants import instants_of
from slackwater.algebra.lengths import TICK
from slackwater.algebra.nodes import Plan
from slackwater.errors import QueryError
from slackwater.kernels.changelog.tree import NUMBERED
from slackwater.spark.fused.edges import Node

ROW_TIME = ["mark", "row_time"]
NUMBER, NO_NUMBER = ["column", NUMBERED], ["cast", ["literal", None, "void"], "bigint"]


def numbered(node: Node) -> Node:
    """The same operators over a stream whose rows have their numbers: those that leave rows what they are."""
    if node["op"] == "source":
        return {**node, "numbered": True}
    if node["op"] not in ("window", "filter"):
        raise QueryError(
            "SW-361",
            "'row_number' has no meaning for rows that may still change",
            expected="row_number of the rows of one stream, in time; not of sampled or of counted rows",
            hint="use row_time, or select row_number in a subquery over the stream",
        )
    return {**node, "child": numbered(node["child"])}


def numberless(node: Node) -> bool:
    """Whether tuples stand for several rows, of which no one has the number: it is NULL."""
    while node["op"] in ("window", "filter", "project"):
        node = node["child"]
    return node["op"] in ("aggregate", "distinct", "minus", "join")


def with_marks(tree: Any, plan: Plan, number: list[Any]) -> Any:
    """An operator's expressions with other ways to say the marks that its tuples do not have."""
    match tree:
        case ["mark", "row_number"]:
            return number
        case ["mark", "window_end"]:
            return _boundary(TICK)
        case ["mark", "window_start"] if (window := instants_of(plan).window) is not None:
            return _boundary(TICK - window.amount)
        case list():
            return [with_marks(each, plan, number) for each in tree]
        case dict():
            return {name: with_marks(each, plan, number) for name, each in tree.items()}
    return tree


def _boundary(ticks: int) -> list[Any]:
    """The time of a result, and so many ticks."""
    return ["+", ROW_TIME, ["literal", ticks, "interval"]]
