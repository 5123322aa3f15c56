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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa

from slackwater.engine.chain import Call, Item, Length
from slackwater.engine.expressions import Tree


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
