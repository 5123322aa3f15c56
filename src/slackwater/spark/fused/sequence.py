"""The operators of a stream of several streams, so that its rows come in the order of the language."""

from __future__ import annotations

from slackwater.errors import QueryError
from slackwater.spark.fused.edges import Node

ROW_WISE = ("filter", "project", "window")
NAMES = {"aggregate": "groups", "distinct": "rows of DISTINCT", "minus": "rows of EXCEPT", "pipe": "sampled rows"}


def in_sequence(node: Node) -> Node:
    """The same operators, whose rows come in order; those of a window or a frequency do."""
    source = node
    while source["op"] in ("stream", *ROW_WISE):
        source = source["child"]
    return node if source["op"] == "pipe" else _placed(node)


def _placed(node: Node) -> Node:
    """The same operators, over rows that have their places; what puts several streams together puts them in order."""
    match node["op"]:
        case "source":
            return _over(node, "placed")
        case "chain" if node["chain"]["arrival"] is None or node["lifetime"] is not None:
            return _over(node, "placed")
        case "pipe" if node["lifetime"] is not None:
            return _over(node, "placed")
        case "stream" | "filter" | "project" | "window":
            return {**node, "child": _placed(node["child"])}
        case "union":
            sides = {side: _placed(node[side]) for side in ("left", "right")}
            return _over({**node, **sides}, "ordered", by="union")
        case "join":
            return _over(_pairs(node), "ordered", by="whole" if _at_boundaries(node) else "row")
    raise unordered(node)


def as_stream(node: Node) -> Node:
    """The same rows where each lives on: what comes at boundaries is counted like any other."""
    if node["class"] == 1:
        return node
    made = {**node, "class": 1, **({"lifetime": None} if "lifetime" in node else {})}
    return {**made, "child": as_stream(node["child"])} if node["op"] in ("placed", *ROW_WISE) else made


def _pairs(node: Node) -> Node:
    """A join of several rows, each of which has its place."""
    match node["op"]:
        case "join":
            return {**node, **{side: _pairs(node[side]) for side in ("left", "right")}}
        case "filter" | "project" | "window":
            return {**node, "child": _pairs(node["child"])}
    return _placed(node)


def _at_boundaries(node: Node) -> bool:
    """Whether what is joined stands from one boundary to the next."""
    if node.get("lifetime") is not None:
        return True
    below = [node[name] for name in ("left", "right") if name in node]
    below += [node["child"]] if node["op"] in ROW_WISE else []
    return any(map(_at_boundaries, below))


def _over(node: Node, op: str, **about: str) -> Node:
    return {"op": op, "child": node, **about, "class": node["class"], "key": node["key"]}


def unordered(node: Node) -> QueryError:
    what = NAMES.get(node["op"], "the answers of a subquery")
    return QueryError(
        "SW-363",
        f"the order of {what} among several streams has no changelog operator",
        expected="rows, pairs of rows and their unions; answers at boundaries before they are grouped",
        hint="write what several streams yield to a sink and read that, or use RANGE in time",
    )
