"""The plan of the engine: operators as frozen records, which a planner builds and one encoder writes and reads.

A *chain* is one stream and the steps that its rows pass, in order. A window is followed by the filters and projections
over its rows, and by the aggregate, if there is one. A *query* under EMIT CHANGES is a tree of operators over several
streams. Some operators apply a step; a part of the query with final answers is a chain. Every operator of a tree has an
*edge*: the monotonicity class and the key of its result. Times are in microseconds.

>>> chain = Chain(Input((("k", "int"), ("ts", "timestamp")), "ts"), (FrequencyStep(Size(10, False), ("k",)),))
>>> decode(encode(chain)) == chain
True
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeAlias

import pyarrow as pa

from slackwater.engine.columns.arrays import arrow_type

Tree: TypeAlias = tuple[Any, ...]
"""An expression: ("column", "speed"), ("literal", 80, "int"), ("mark", "window_end"), (">", tree, tree)."""
UNKNOWN = "unknown"
"""The type of an expression that is known only when it is evaluated."""
NUMBERED = "#row_number"
"""The additional column with the numbers of rows, if an expression reads them."""


@dataclass(frozen=True, slots=True)
class Input:
    """A stream: its columns with Spark's names of their types, and the columns of its event time and arrival.

    With `change_type` it is a changelog, whose rows are identified by `key`. With `ids` it is the changelog of another
    operator, whose tuples have so many numbers of identity, as `handed_rows` returns it. `slots` has the lengths of
    the slots of time that its tuples have waited for, one after the other, for each way on which they came.
    """

    columns: tuple[tuple[str, str], ...]
    time: str
    arrival: str | None = None
    change_type: str | None = None
    key: tuple[str, ...] = ()
    ids: int = 0
    slots: tuple[tuple[int, ...], ...] = ()

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.columns]

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(name, arrow_type(kind)) for name, kind in self.columns])


# steps


@dataclass(frozen=True, slots=True)
class Size:
    """A number of ticks, or of tuples."""

    amount: int
    is_time: bool


ONE_TUPLE = Size(1, False)


@dataclass(frozen=True, slots=True)
class NamedTree:
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
class FilterStep:
    condition: Tree


@dataclass(frozen=True, slots=True)
class ProjectStep:
    items: tuple[NamedTree, ...]


@dataclass(frozen=True, slots=True)
class WindowStep:
    """The last `range` of each part of `by`, evaluated every `every`; instants are counted for each part of `count_by`.

    With `whole`, the rows of all parts are one relation, in sequence order.
    """

    range: Size
    every: Size = ONE_TUPLE
    by: tuple[str, ...] = ()
    count_by: tuple[str, ...] = ()
    strict: bool = False
    whole: bool = False

    @property
    def is_range(self) -> bool:
        """Return whether rows leave by time alone and every row is an instant."""
        return self.range.is_time and self.every == ONE_TUPLE


@dataclass(frozen=True, slots=True)
class AggregateStep:
    group: tuple[NamedTree, ...]
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class DistinctStep:
    """Removes equal rows of an instant. `instant` names the column with its number if rows do not have it as a mark."""

    instant: str | None = None


@dataclass(frozen=True, slots=True)
class FrequencyStep:
    """Sampling of rows."""

    every: Size
    by: tuple[str, ...] = ()
    strict: bool = False


@dataclass(frozen=True, slots=True)
class SubqueryStep:
    """The end of a subquery: its rows are numbered from 1 on as a new stream."""


@dataclass(frozen=True, slots=True)
class Compute:
    """Columns that Spark adds to the rows: the tree of an item is ("spark", text), over the columns of the rows.

    A plan is cut at each of these steps: what stands before it and what stands after it are two operators of Spark's.
    """

    items: tuple[NamedTree, ...]


Step: TypeAlias = (
    FilterStep | ProjectStep | WindowStep | AggregateStep | DistinctStep | FrequencyStep | SubqueryStep | Compute
)


ROW_WISE = (FilterStep, ProjectStep, Compute)
"""Steps that look at one row at a time."""


@dataclass(frozen=True, slots=True)
class Chain:
    """The steps over one stream. In stages, `cuts` has the number of steps before each stage but the first."""

    input: Input
    steps: tuple[Step, ...]
    cuts: tuple[int, ...] = ()

    @property
    def computed(self) -> tuple[int, ...]:
        """The places of the steps that are Spark's."""
        return tuple(place for place, step in enumerate(self.steps) if isinstance(step, Compute))


# trees


@dataclass(frozen=True, slots=True)
class Edge:
    """Properties of an operator's result: its class, 1 to 4, and its primary key, if it has one.

    `subquery`: the result is that of a subquery, whose rows get new numbers.
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
    """A chain of steps over the ordered rows of another operator; its answers live as those of `Chained` do."""

    edge: Edge
    child: Node
    steps: tuple[Step, ...]
    lifetime: int | None = None
    meeting: int | None = None


@dataclass(frozen=True, slots=True)
class Streamed:
    """The result of an operator as rows of a stream: each lives for ever from its start, or for `lifetime` ticks."""

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
    """The rows of an input with their places among those of other streams. Chains and pipes return placed rows."""

    edge: Edge
    child: Source


@dataclass(frozen=True, slots=True)
class Numbered:
    """The rows of a stream in sequence order, with one more column, the number of each (NUMBERED)."""

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

    A `numbered` window adds a column (NUMBERED): the number of the row that caused the first instant with a row.
    """

    edge: Edge
    child: Node
    step: FilterStep | ProjectStep | WindowStep | AggregateStep | DistinctStep | Compute
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
class UnionLogs:
    edge: Edge
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class MinusLogs:
    edge: Edge
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class JoinLogs:
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
    | UnionLogs
    | MinusLogs
    | JoinLogs
)
Sided: TypeAlias = UnionLogs | MinusLogs | JoinLogs


@dataclass(frozen=True, slots=True)
class EnginePlan:
    """The inputs by name, and the tree over them.

    Trees `beside` it are computed for what they tell of other things than their result: the other windows of a meeting,
    and the rows that an incoming changelog refuses.
    """

    inputs: Mapping[str, Input]
    root: Node
    beside: tuple[Node, ...] = ()

    @property
    def nodes(self) -> list[Node]:
        return [node for tree in (self.root, *self.beside) for node in walk(tree)]


Plan: TypeAlias = Chain | EnginePlan


def children(node: Node) -> tuple[Node, ...]:
    """Return the operators that an operator reads, from left to right."""
    match node:
        case Source() | Chained():
            return ()
        case UnionLogs() | JoinLogs() | MinusLogs():
            return (node.left, node.right)
        case _:
            return (node.child,)


def with_children(node: Node, *new: Node) -> Node:
    """Return the same operator with other children."""
    names = ("left", "right") if len(new) == 2 else ("child",) * len(new)
    changes: dict[str, Any] = dict(zip(names, new, strict=True))
    return replace(node, **changes)


def walk(node: Node) -> Iterator[Node]:
    """Return every operator of a tree, each before those that it reads."""
    yield node
    for each in children(node):
        yield from walk(each)


def meeting_of(node: Node) -> int | None:
    """Return the number of an operator's meeting, or None."""
    return node.meeting if isinstance(node, Chained | Piped | Streamed | Read) else None


def turns_of(node: Node) -> Iterator[Turn]:
    """Return the streams of a join that is evaluated in turns, from left to right."""
    if isinstance(node, Turn):
        yield node
    else:
        for each in children(node):
            yield from turns_of(each)


def is_slotted(step: Step) -> bool:
    """Return whether a step's rows are known only when a slot of time has passed, so that later changes must wait."""
    return isinstance(step, FrequencyStep) and step.every.is_time and not step.strict


def slots_of(node: Node, inputs: Mapping[str, Input]) -> tuple[tuple[int, ...], ...]:
    """Return the lengths of the slots of time that the tuples of an operator wait for, on each way."""
    match node:
        case Source(input=name):
            return inputs[name].slots
        case Chained(chain=Chain(steps=steps)) | Piped(steps=steps):
            own = tuple(step.every.amount for step in steps if isinstance(step, FrequencyStep) and is_slotted(step))
            before = [way for each in children(node) for way in slots_of(each, inputs)] or [()]
            return tuple(way for each in before if (way := (*each, *own)))
        case _:
            return tuple(dict.fromkeys(way for each in children(node) for way in slots_of(each, inputs)))


def ends(node: Node, inputs: Mapping[str, Input]) -> bool:
    """Return whether later input may end the tuples of an operator."""
    match node:
        case Source(input=name):
            return inputs[name].change_type is not None or (inputs[name].ids > 0 and node.edge.level == 4)
        case Over(step=AggregateStep()) | MinusLogs():
            return True
        case Over(step=WindowStep() as window) if not window.is_range:
            return True
        case Streamed() | Piped() | Turns():
            return False
        case Turn(range=int()):
            return True
        case _:
            return any(ends(each, inputs) for each in children(node))


def trees_of(step: Step | JoinLogs) -> list[Tree]:
    """Return the expressions of a step."""
    match step:
        case FilterStep(condition=condition):
            return [condition]
        case ProjectStep(items=items):
            return [item.tree for item in items]
        case AggregateStep(group=group, calls=calls):
            return [item.tree for item in group] + [tree for call in calls for tree in call.arguments]
        case JoinLogs(on=on, condition=condition):
            return [tree for pair in on for tree in pair] + ([] if condition is None else [condition])
        case _:
            return []


def columns_after(names: list[str], steps: tuple[Step, ...]) -> list[str]:
    """Return the names of the columns after some steps."""
    for step in steps:
        match step:
            case ProjectStep(items=items):
                names = [item.name for item in items]
            case AggregateStep(group=group, calls=calls):
                names = [*(item.name for item in group), *(call.name for call in calls)]
            case Compute(items=items):
                names = [*names, *(item.name for item in items)]
    return names


# the encoder

_NAMES: dict[type, str] = {Size: "Length", NamedTree: "Item", EnginePlan: "Query"} | {
    each: each.__name__.removesuffix("Step").removesuffix("Logs")
    for each in (*(Input, Call, Edge, Chain), *Step.__args__, *Node.__args__)
}
"""The names of records in texts. They must not change: a checkpoint keeps the digest of its plan's text."""
_RECORDS = {name: each for each, name in _NAMES.items()}


def encode(plan: Plan) -> str:
    """Return a plan as text. Equal plans have equal texts."""
    return json.dumps(_plain(plan), separators=(",", ":"))


def decode(text: str) -> Any:
    """Return the plan of a text that `encode` returned."""
    return _record(json.loads(text))


def _plain(value: Any) -> Any:
    """Return a record as its name and its fields, without fields that have their default."""
    if is_dataclass(value) and not isinstance(value, type):
        own = {each.name: getattr(value, each.name) for each in fields(value)}
        return {"is": _NAMES[type(value)]} | {
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
