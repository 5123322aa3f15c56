"""What a query may name without declaring it, in a tree of changelog operators: as columns, or by the time of a row.

A row has its number in it, if an expression asks for one (`numbered`). Where results come at boundaries, the
time of a result is the boundary less a tick.
"""

from __future__ import annotations

from typing import Any

from slackwater.algebra.instants import instants_of
from slackwater.algebra.lengths import TICK
from slackwater.algebra.nodes import Plan
from slackwater.engine.changelog.tree import NUMBERED
from slackwater.spark.planner.fused.edges import Node
from slackwater.spark.planner.fused.sequence import in_sequence

ROW_TIME, ROW_NUMBER = ["mark", "row_time"], ["mark", "row_number"]
NUMBER, NO_NUMBER = ["column", NUMBERED], ["cast", ["literal", None, "void"], "bigint"]


def numbered(node: Node) -> Node:
    """The same operators, whose rows have their numbers as one more column.

    A row of a stream has its number there, also where it was sampled; a row of a subquery its number among the rows of
    that. Where rows are counted, it is the number of the row that caused the instant at which they were first held.
    """
    if node["op"] == "numbered" or NUMBERED in [name for name, *_ in _last_items(node)]:
        return node
    if node.get("subquery") or node["op"] == "stream":
        ordered = in_sequence(node)
        return {"op": "numbered", "child": ordered, "class": node["class"], "key": node["key"]}
    match node["op"]:
        case "source" | "counted":
            return {**node, "numbered": True}
        case "chain":
            return {**node, "chain": _with_number(node["chain"])}
        case "project":
            items = [*node["items"], [NUMBERED, NUMBER, "bigint"]]
            return {**node, "items": items, "child": numbered(node["child"])}
    return {**node, **{name: numbered(node[name]) for name in ("child", "left", "right") if name in node}}


def _last_items(node: Node) -> list[Any]:
    """What an operator or a chain projects in the end."""
    steps: list[Node] = node["chain"]["steps"] if node["op"] == "chain" else [node]
    return list(steps[-1].get("items", ())) if steps else []


def _with_number(chain: dict[str, Any]) -> dict[str, Any]:
    """A chain that tells the numbers of its rows."""
    names = [name for name, _ in chain["columns"]]
    for step in chain["steps"]:
        if step["op"] in ("project", "aggregate"):
            names = [each[0] for part in ("items", "group", "calls") for each in step.get(part, ())]
    items = [*([name, ["column", name], "unknown"] for name in names), [NUMBERED, ["mark", "row_number"], "bigint"]]
    return {**chain, "steps": [*chain["steps"], {"op": "project", "items": items}]}


def numberless(node: Node) -> bool:
    """Whether tuples stand for several rows, of which no one has the number: it is NULL."""
    while node["op"] in ("window", "filter", "project") and not node.get("subquery"):
        node = node["child"]
    return node["op"] in ("aggregate", "distinct", "minus", "join")


def with_marks(tree: Any, plan: Plan, number: list[Any] = ROW_NUMBER) -> Any:
    """Return an operator's expressions with the bounds of its extents computed from the time of a result."""
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
