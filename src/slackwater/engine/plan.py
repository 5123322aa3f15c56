"""The plan of the engine: operators as frozen records, which a planner builds and one encoder writes and reads.

A *chain* is one stream and the steps that its rows pass, in order. A window is followed by the filters and projections
of the relation that it holds, and by the aggregate, if there is one. A *query* under EMIT CHANGES is a tree of
operators over several streams, of which some apply a step; what has final answers in it is a chain. Every operator of
a tree has an *edge*: the monotonicity class and the key of what it yields. Times are in microseconds.

>>> chain = Chain(Input((("k", "int"), ("ts", "timestamp")), "ts"), (Frequency(Length(10, False), ("k",)),))
>>> decode(encode(chain)) == chain
True
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeAlias

import pyarrow as pa

from slackwater.engine.columns.types import arrow_type

Tree: TypeAlias = tuple[Any, ...]
"""An expression: ("column", "speed"), ("literal", 80, "int"), ("mark", "window_end"), (">", tree, tree)."""
UNKNOWN = "unknown"
"""The type of an expression that only evaluating it tells."""
NUMBERED = "#row_number"
"""The column that rows have besides their own where an expression asks for their numbers."""


@dataclass(frozen=True, slots=True)
class Input:
    """A stream: its columns with their types, as Spark names them, and which of them are its clocks.

    With `change_type` it is a changelog, whose rows `key` tells apart.
    """

    columns: tuple[tuple[str, str], ...]
    time: str
    arrival: str | None = None
    change_type: str | None = None
    key: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.columns]

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(name, arrow_type(kind)) for name, kind in self.columns])


# steps


@dataclass(frozen=True, slots=True)
class Length:
    """A number of ticks, or of tuples."""

    amount: int
    is_time: bool


ONE_TUPLE = Length(1, False)


@dataclass(frozen=True, slots=True)
class Item:
    """A named expression and its type."""

    name: str
    tree: Tree
    type: str = UNKNOWN


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an aggregate function."""

    name: str
    function: str
    arguments: tuple[Tree, ...]
    type: str = UNKNOWN
    distinct: bool = False
    ignore_nulls: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    condition: Tree


@dataclass(frozen=True, slots=True)
class Project:
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """`RANGE range` at every `every`, in each part by `by`; `count_by` is per what the instants are counted.

    With `whole` the rows of all parts are one relation, in sequence.
    """

    range: Length
    every: Length = ONE_TUPLE
    by: tuple[str, ...] = ()
    count_by: tuple[str, ...] = ()
    strict: bool = False
    whole: bool = False

    @property
    def is_range(self) -> bool:
        """Whether rows leave by the time alone, and every row is an instant."""
        return self.range.is_time and self.every == ONE_TUPLE


@dataclass(frozen=True, slots=True)
class Aggregate:
    group: tuple[Item, ...]
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Distinct:
    """Each row that an instant yields once."""


@dataclass(frozen=True, slots=True)
class Frequency:
    """Sampling of rows."""

    every: Length
    by: tuple[str, ...] = ()
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Subquery:
    """What stands before is a stream to what stands after: its rows are numbered anew."""


Step: TypeAlias = Filter | Project | Window | Aggregate | Distinct | Frequency | Subquery


@dataclass(frozen=True, slots=True)
class Chain:
    """The steps over one stream. In several stages, `cuts` has how many steps come before each but the first."""

    input: Input
    steps: tuple[Step, ...]
    cuts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Boundaries:
    """A chain over the stream `input` whose answers come at the boundaries of a `slide`, each until the next."""

    input: str
    chain: Chain
    slide: int
    key: tuple[str, ...] | None


# trees


@dataclass(frozen=True, slots=True)
class Edge:
    """What is known of an operator's result: its class, 1 to 4, and its primary key, if it has one.

    `subquery`: the rows are those of a subquery, which are numbered anew.
    """

    level: int = 1
    key: tuple[str, ...] | None = None
    subquery: bool = False


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
    chain: Chain
    lifetime: int | None = None
    meeting: int | None = None


@dataclass(frozen=True, slots=True)
class Piped:
    """What steps make of rows that are in order; they live as those of a chain do."""

    edge: Edge
    child: Node
    steps: tuple[Step, ...]
    lifetime: int | None = None
    meeting: int | None = None


@dataclass(frozen=True, slots=True)
class Streamed:
    """What an operator yields as the rows of a stream: each lives on from when it began, or for `lifetime` ticks."""

    edge: Edge
    child: Node
    lifetime: int | None = None
    meeting: int | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """Answers that come at any time, read at the boundaries of one `slide`: each from the next boundary to the next."""

    edge: Edge
    child: Node
    slide: int
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

    Aggregated rows of a boundary, or of a `moment`, are sorted by the values of their `columns`.
    """

    edge: Edge
    child: Node
    by: str


@dataclass(frozen=True, slots=True)
class Over:
    """A step over the changelog of an operator.

    A window that is `numbered` adds the number of the row that caused the instant which first held a row (NUMBERED).
    """

    edge: Edge
    child: Node
    step: Filter | Project | Window | Aggregate | Distinct
    numbered: bool = False


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
class Minus:
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
    on: tuple[tuple[Tree, Tree], ...] = ()
    condition: Tree | None = None


Node: TypeAlias = (
    Source
    | Chained
    | Piped
    | Streamed
    | Read
    | Placed
    | Numbered
    | Ordered
    | Over
    | Turn
    | Turns
    | Union
    | Minus
    | Join
)
Sided: TypeAlias = Union | Minus | Join


@dataclass(frozen=True, slots=True)
class Query:
    """The inputs by name, and the tree over them."""

    inputs: Mapping[str, Input]
    root: Node


Plan: TypeAlias = Chain | Boundaries | Query


def children(node: Node) -> tuple[Node, ...]:
    """What an operator reads, from left to right."""
    match node:
        case Source() | Chained():
            return ()
        case Union() | Join() | Minus():
            return (node.left, node.right)
        case _:
            return (node.child,)


def with_children(node: Node, *new: Node) -> Node:
    """The same operator over other ones."""
    names = ("left", "right") if len(new) == 2 else ("child",) * len(new)
    changes: dict[str, Any] = dict(zip(names, new, strict=True))
    return replace(node, **changes)


def walk(node: Node) -> Iterator[Node]:
    """Every operator, each before what it reads."""
    yield node
    for each in children(node):
        yield from walk(each)


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


def ends(node: Node, inputs: Mapping[str, Input]) -> bool:
    """Whether a later input may end what an operator yields."""
    match node:
        case Source(input=name):
            return inputs[name].change_type is not None
        case Over(step=Aggregate()) | Minus():
            return True
        case Over(step=Window() as window) if not window.is_range:
            return True
        case Streamed() | Piped() | Turns():
            return False
        case Turn(range=int()):
            return True
        case _:
            return any(ends(each, inputs) for each in children(node))


def trees_of(step: Step | Join) -> list[Tree]:
    """The expressions of a step."""
    match step:
        case Filter(condition=condition):
            return [condition]
        case Project(items=items):
            return [item.tree for item in items]
        case Aggregate(group=group, calls=calls):
            return [item.tree for item in group] + [tree for call in calls for tree in call.arguments]
        case Join(on=on, condition=condition):
            return [tree for pair in on for tree in pair] + ([] if condition is None else [condition])
        case _:
            return []


def columns_after(names: list[str], steps: tuple[Step, ...]) -> list[str]:
    """The columns that are left after some steps."""
    for step in steps:
        match step:
            case Project(items=items):
                names = [item.name for item in items]
            case Aggregate(group=group, calls=calls):
                names = [*(item.name for item in group), *(call.name for call in calls)]
    return names


# the encoder

_RECORDS: dict[str, type] = {
    each.__name__: each
    for each in (
        *(Input, Length, Item, Call, Edge, Chain, Boundaries, Query),
        *Step.__args__,
        *Node.__args__,
    )
}


def encode(plan: Plan) -> str:
    """A plan as text, equal for equal plans."""
    return json.dumps(_plain(plan), separators=(",", ":"))


def decode(text: str) -> Any:
    """The plan of a text."""
    return _record(json.loads(text))


def _plain(value: Any) -> Any:
    """A record as its name and its fields; fields that have their default are left out."""
    if is_dataclass(value) and not isinstance(value, type):
        own = {each.name: getattr(value, each.name) for each in fields(value)}
        return {"is": type(value).__name__} | {
            each.name: _plain(own[each.name]) for each in fields(value) if own[each.name] != each.default
        }
    if isinstance(value, Mapping):
        return {"is": "", **{name: _plain(each) for name, each in value.items()}}
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def _record(value: Any) -> Any:
    if isinstance(value, dict):
        own = {name: _record(each) for name, each in value.items() if name != "is"}
        return _RECORDS[value["is"]](**own) if value["is"] else own
    return tuple(map(_record, value)) if isinstance(value, list) else value
