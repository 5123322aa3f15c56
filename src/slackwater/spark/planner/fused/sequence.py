"""The operators of a stream of several streams, so that its rows come in the order of the language."""

from __future__ import annotations

from slackwater.spark.planner.fused.edges import Node

ROW_WISE = ("filter", "project", "window")
MERGING = ("aggregate", "distinct", "minus")
"""What stands for several rows: read as a stream only at boundaries, and there in the order of its columns."""


def in_sequence(node: Node) -> Node:
    """The same operators, over rows that have their places; what puts several streams together puts them in order."""
    match node["op"]:
        case "source":
            return _over(node, "placed")
        case "chain" | "pipe" | "ordered" | "placed":
            return node
        case "union":
            sides = {side: in_sequence(node[side]) for side in ("left", "right")}
            return _over({**node, **sides}, "ordered", by="union")
        case "join":
            return _over(_pairs(node), "ordered", by="whole" if _at_boundaries(node) else "row")
        case "turns":
            return _over(node, "ordered", by="row")
        case op if op in MERGING:
            return _over(node, "ordered", by="columns")
    return {**node, "child": in_sequence(node["child"])}


def by_birth(node: Node) -> Node:
    """The same operators, in which tuples that begin at one time do so in their order: what FIRST and LAST go by.

    Streams of several streams come in theirs, and what stands for several rows, if it may still change, in that of its
    columns.
    """
    if node["op"] in MERGING:
        return _over(node, "ordered", by="moment")
    if node["op"] in ("source", "chain", "pipe", "counted"):
        return node
    order = in_sequence if node["op"] == "stream" else by_birth
    return {**node, **{name: order(node[name]) for name in ("child", "left", "right") if name in node}}


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
    return in_sequence(node)


def _at_boundaries(node: Node) -> bool:
    """Whether what is joined stands from one boundary to the next."""
    if node.get("lifetime") is not None or node["op"] in ("read", *MERGING):
        return True
    below = [node[name] for name in ("left", "right") if name in node]
    below += [node["child"]] if node["op"] in ROW_WISE else []
    return any(map(_at_boundaries, below))


def _over(node: Node, op: str, **about: str) -> Node:
    return {"op": op, "child": node, **about, "class": node["class"], "key": node["key"]}
