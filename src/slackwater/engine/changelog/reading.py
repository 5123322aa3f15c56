"""From the JSON form of a query under EMIT CHANGES to its tree, and what is wrong with one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from slackwater.engine.chain import call_of, items_of, length_of
from slackwater.engine.changelog.tree import (
    Aggregate,
    Chained,
    Counted,
    Distinct,
    Edge,
    Filter,
    Input,
    Join,
    Minus,
    Node,
    Numbered,
    Ordered,
    Piped,
    Placed,
    Project,
    Query,
    Read,
    Source,
    Streamed,
    Turn,
    Turns,
    Union,
    Window,
    ends,
    walk,
)
from slackwater.engine.expressions import marks_of
from slackwater.engine.rows import ROW_TIME
from slackwater.engine.types import arrow_type
from slackwater.errors import QueryError


def parse(document: str | Mapping[str, Any]) -> Query:
    """A query from its JSON form, or a QueryError that says what is wrong with it."""
    given = json.loads(document) if isinstance(document, str) else document
    try:
        inputs = {name: _input(each) for name, each in given["inputs"].items()}
        query = Query(inputs, _node(given["query"]))
    except (KeyError, TypeError, ValueError) as cause:
        raise malformed(f"{cause!r}") from cause
    for node in walk(query.root):
        if isinstance(node, Source | Chained) and node.input not in inputs:
            raise malformed(f"there is no input {node.input!r}")
        if ends(node, inputs) and node.edge.level < 4:
            raise malformed(f"tuples of a {type(node).__name__.lower()} may be ended, but its class is not 4")
        if isinstance(node, Counted) and node.child.edge.level != 1:
            raise malformed("only the rows of a stream can be counted")
    return query


def malformed(what: str) -> QueryError:
    return QueryError(
        "SW-360",
        f"the tree of operators is not well formed: {what}",
        expected="inputs and query as the module's text shows them",
        hint="let the planner write it",
    )


def refuse_marks(root: Node) -> None:
    """Of the marks of an instant a tuple with a lifetime has its start, `row_time`, and no other."""
    for node in walk(root):
        match node:
            case Filter(condition=tree):
                trees = [tree]
            case Project(items=items):
                trees = [item.tree for item in items]
            case Aggregate(group=group, calls=calls):
                trees = [item.tree for item in group] + [tree for call in calls for tree in call.arguments]
            case Join(on=on, condition=condition):
                trees = [tree for pair in on for tree in pair] + ([] if condition is None else [condition])
            case _:
                continue
        named = set().union(*map(marks_of, trees)) - (set() if isinstance(node, Join) else {ROW_TIME})
        if named:
            raise QueryError(
                "SW-361",
                f"'{sorted(named)[0]}' has no meaning for rows that may still change",
                expected="row_time, or the columns of the input",
                hint="use the event time column instead",
            )


def _input(given: Mapping[str, Any]) -> Input:
    columns = tuple((name, arrow_type(kind)) for name, kind in given["columns"])
    return Input(columns, given["time"], given.get("arrival"), given.get("change_type"), tuple(given.get("key", ())))


def _node(given: Mapping[str, Any]) -> Node:
    edge = Edge(int(given["class"]), None if given.get("key") is None else tuple(given["key"]))
    if edge.level not in (1, 2, 3, 4):
        raise ValueError(f"there is no class {edge.level}")
    match given["op"]:
        case "source":
            return Source(edge, given["input"], bool(given.get("numbered")))
        case "stream":
            return Streamed(edge, _node(given["child"]), given.get("lifetime"), given.get("meeting"))
        case "chain":
            return Chained(edge, given["input"], given["chain"], given.get("lifetime"), given.get("meeting"))
        case "placed":
            return Placed(edge, _source(given["child"]))
        case "numbered":
            return Numbered(edge, _node(given["child"]))
        case "ordered":
            return Ordered(edge, _node(given["child"]), given["by"])
        case "pipe":
            return Piped(
                edge, _node(given["child"]), tuple(given["steps"]), given.get("lifetime"), given.get("meeting")
            )
        case "read":
            return Read(edge, _node(given["child"]), int(given["slide"]), given.get("meeting"))
        case "window":
            return Window(edge, _node(given["child"]), int(given["range"]))
        case "counted":
            length = length_of(given["range"])
            by, counts = tuple(given.get("by", ())), tuple(given.get("count_by", given.get("by", ())))
            numbered = bool(given.get("numbered"))
            return Counted(edge, _node(given["child"]), length, int(given["every"]), by, counts, numbered)
        case "filter":
            return Filter(edge, _node(given["child"]), given["condition"])
        case "project":
            return Project(edge, _node(given["child"]), items_of(given["items"]))
        case "aggregate":
            calls = tuple(call_of(*each) for each in given["calls"])
            return Aggregate(edge, _node(given["child"]), items_of(given["group"]), calls)
        case "distinct":
            return Distinct(edge, _node(given["child"]))
        case "turn":
            return Turn(edge, _node(given["child"]), given["range"])
        case "turns":
            return Turns(edge, _node(given["child"]))
        case "union":
            return Union(edge, _node(given["left"]), _node(given["right"]))
        case "minus":
            return Minus(edge, _node(given["left"]), _node(given["right"]))
        case "join":
            on = tuple((left, right) for left, right in given["on"])
            sides = _node(given["left"]), _node(given["right"])
            return Join(edge, *sides, tuple(given["columns"]), on, given.get("condition"))
        case other:
            raise ValueError(f"there is no operator {other!r}")


def _source(given: Mapping[str, Any]) -> Source:
    match _node(given):
        case Source() as source:
            return source
    raise ValueError("only the rows of an input need a place")
