"""The description of a query under EMIT CHANGES, as data: what a planner hands to the kernel, through JSON.

    {"inputs": {"Edits": {"columns": [["op", "string"], ["id", "int"], ["v", "int"], ["ts", "timestamp"]],
                          "time": "ts", "arrival": null, "change_type": "op", "key": ["id"]}},
     "query": {"op": "aggregate", "class": 4, "key": ["v"],
               "group": [["v", ["column", "v"], "int"]], "calls": [["n", "count", [], "bigint", {}]],
               "child": {"op": "window", "class": 4, "key": ["id"], "range": 60000000,
                         "child": {"op": "source", "class": 4, "key": ["id"], "input": "Edits"}}}}

Operators: source, chain, placed, numbered, ordered, pipe, stream, read, window, counted, filter, project, turn, turns,
union, join, aggregate, distinct, minus. `class` is the monotonicity class of what the operator yields, `key` its
primary key or null; both are the algebra's. Times are in microseconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa

from slackwater.errors import QueryError
from slackwater.kernels.chain import Call, Item, Length
from slackwater.kernels.expressions import Tree
from slackwater.kernels.types import arrow_type


@dataclass(frozen=True, slots=True)
class Input:
    """A stream; with `change_type` a changelog, whose rows `key` tells apart."""

    columns: tuple[tuple[str, pa.DataType], ...]
    time: str
    arrival: str | None = None
    change_type: str | None = None
    key: tuple[str, ...] = ()

    @property
    def schema(self) -> pa.Schema:
        return pa.schema(list(self.columns))


@dataclass(frozen=True, slots=True)
class Edge:
    """What is known of an operator's result: its class, 1 to 4, and its primary key, if it has one."""

    level: int
    key: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Source:
    """An input; if `numbered`, with one more column, the number of each row in it (NUMBERED)."""

    edge: Edge
    input: str
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Chained:
    """The final answers of a chain over one input; they live for ever, or for `lifetime` ticks.

    Answers at boundaries that are read together, as those of two windows in a join, have the number of their `meeting`.
    """

    edge: Edge
    input: str
    chain: Mapping[str, Any]
    lifetime: int | None
    meeting: int | None = None


@dataclass(frozen=True, slots=True)
class Streamed:
    """What an operator yields as the rows of a stream: each lives on from when it began, or for `lifetime` ticks."""

    edge: Edge
    child: Node
    lifetime: int | None
    meeting: int | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """The rows of an input, with their places among those of other streams; those of a chain or a pipe have theirs."""

    edge: Edge
    child: Source


@dataclass(frozen=True, slots=True)
class Numbered:
    """The rows of a stream, in their order, with one more column, the number of each (NUMBERED)."""

    edge: Edge
    child: Node


@dataclass(frozen=True, slots=True)
class Ordered:
    """Rows that have places, in their order: of a `union`, of pairs that a `row` makes, of pairs at a boundary.

    Of what stands for several rows at a boundary, or at a `moment`, the order is that of its `columns`.
    """

    edge: Edge
    child: Node
    by: str


@dataclass(frozen=True, slots=True)
class Piped:
    """What the steps of a chain make of rows that are in order; they live as those of a chain do."""

    edge: Edge
    child: Node
    steps: tuple[Mapping[str, Any], ...]
    lifetime: int | None
    meeting: int | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """Answers that come at any time, read at the boundaries of one `slide`: each from the next boundary to the next."""

    edge: Edge
    child: Node
    slide: int
    meeting: int | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """RANGE, in ticks."""

    edge: Edge
    child: Node
    range: int


@dataclass(frozen=True, slots=True)
class Counted:
    """A window over a stream whose rows leave when others come: `range` at every `every`-th row of `count_by`.

    If `numbered`, with the number of the row that caused the instant which first held them, in its part (NUMBERED).
    """

    edge: Edge
    child: Node
    range: Length
    every: int
    by: tuple[str, ...]
    count_by: tuple[str, ...]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    edge: Edge
    child: Node
    condition: Tree


@dataclass(frozen=True, slots=True)
class Project:
    edge: Edge
    child: Node
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """A stream below `Turns`, by the number of the instant; with `range` a window of so many ticks over it."""

    edge: Edge
    child: Node
    range: int | None


@dataclass(frozen=True, slots=True)
class Turns:
    """Pairs as the rows of a stream, each as one of its rows has its turn: the streams of the join are `Turn`s."""

    edge: Edge
    child: Node


@dataclass(frozen=True, slots=True)
class Union:
    edge: Edge
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Join:
    """Pairs whose `on` trees are equal and whose `condition`, over all `columns`, is true."""

    edge: Edge
    left: Node
    right: Node
    columns: tuple[str, ...]
    on: tuple[tuple[Tree, Tree], ...]
    condition: Tree | None


@dataclass(frozen=True, slots=True)
class Aggregate:
    edge: Edge
    child: Node
    group: tuple[Item, ...]
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Distinct:
    edge: Edge
    child: Node


@dataclass(frozen=True, slots=True)
class Minus:
    edge: Edge
    left: Node
    right: Node


Node: TypeAlias = (
    Source
    | Chained
    | Placed
    | Numbered
    | Ordered
    | Piped
    | Streamed
    | Read
    | Window
    | Counted
    | Filter
    | Project
    | Turn
    | Turns
    | Union
    | Join
    | Aggregate
    | Distinct
    | Minus
)
NUMBERED = "#row_number"
"""The column that rows have besides their own where an expression asks for their numbers."""


@dataclass(frozen=True, slots=True)
class Query:
    """The inputs by name, and the tree over them."""

    inputs: Mapping[str, Input]
    root: Node


def children(node: Node) -> tuple[Node, ...]:
    """What an operator reads, from left to right."""
    match node:
        case Source() | Chained():
            return ()
        case Union() | Join() | Minus():
            return (node.left, node.right)
        case _:
            return (node.child,)


def meeting_of(node: Node) -> int | None:
    """The meeting that an operator takes part in, if any."""
    return node.meeting if isinstance(node, Chained | Piped | Streamed | Read) else None


def turns_of(node: Node) -> Iterator[Turn]:
    """The streams of a join that is evaluated in turns, from left to right."""
    if isinstance(node, Turn):
        yield node
    else:
        for each in children(node):
            yield from turns_of(each)


def walk(node: Node) -> Iterator[Node]:
    """Every operator, each before what it reads."""
    yield node
    for each in children(node):
        yield from walk(each)


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


def ends(node: Node, inputs: Mapping[str, Input]) -> bool:
    """Whether a later input may end what an operator yields."""
    match node:
        case Source(input=name):
            return inputs[name].change_type is not None
        case Aggregate() | Minus() | Counted():
            return True
        case Streamed() | Piped() | Turns():
            return False
        case Turn(range=int()):
            return True
        case _:
            return any(ends(each, inputs) for each in children(node))


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
            ((unit, amount),) = given["range"].items()
            length = Length(int(amount), unit == "time")
            by, counts = tuple(given.get("by", ())), tuple(given.get("count_by", given.get("by", ())))
            numbered = bool(given.get("numbered"))
            return Counted(edge, _node(given["child"]), length, int(given["every"]), by, counts, numbered)
        case "filter":
            return Filter(edge, _node(given["child"]), given["condition"])
        case "project":
            return Project(edge, _node(given["child"]), _items(given["items"]))
        case "aggregate":
            calls = tuple(_call(*each) for each in given["calls"])
            return Aggregate(edge, _node(given["child"]), _items(given["group"]), calls)
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


def _items(given: Sequence[Any]) -> tuple[Item, ...]:
    return tuple(Item(name, tree, _kind(kind)) for name, tree, kind in given)


def _call(name: str, function: str, arguments: Sequence[Tree], kind: str, options: Mapping[str, bool]) -> Call:
    return Call(name, function, tuple(arguments), _kind(kind), **options)


def _kind(name: str) -> pa.DataType | None:
    return None if name == "unknown" else arrow_type(name)
