"""The description of a chain of operators, as data: what a planner hands to the fused operator, through JSON.

    {"columns": [["Id", "int"], ["ts", "timestamp"]], "time": "ts", "arrival": null,
     "steps": [
       {"op": "window", "range": {"time": 60000000}, "every": {"tuples": 1}, "by": []},
       {"op": "filter", "condition": [">", ["column", "Id"], ["literal", 0, "int"]]},
       {"op": "aggregate", "group": [["Id", ["column", "Id"], "int"]],
        "calls": [["n", "count", [], "bigint", {}]]},
       {"op": "frequency", "every": {"tuples": 10}, "by": ["Id"]},
       {"op": "subquery"},
       {"op": "project", "items": [["n", ["column", "n"], "bigint"]]}]}

Steps stand in the order in which rows pass them. A window is followed by the filters and projections of the relation
that it holds, and by the aggregate, if there is one. Times are in microseconds. A chain that is computed in several
stages has `cuts`: how many steps come before each.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa

from slackwater.engine.expressions import Tree
from slackwater.engine.types import arrow_type
from slackwater.errors import QueryError


@dataclass(frozen=True, slots=True)
class Length:
    """A number of ticks, or of tuples."""

    amount: int
    is_time: bool


@dataclass(frozen=True, slots=True)
class Item:
    """A named expression and its type; None for what only evaluating it tells."""

    name: str
    tree: Tree
    type: pa.DataType | None


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an aggregate function."""

    name: str
    function: str
    arguments: tuple[Tree, ...]
    type: pa.DataType | None
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
    every: Length
    by: tuple[str, ...] = ()
    count_by: tuple[str, ...] = ()
    strict: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Aggregate:
    group: tuple[Item, ...]
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Frequency:
    """Sampling of rows."""

    every: Length
    by: tuple[str, ...] = ()
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Subquery:
    """What stands before is a stream to what stands after: its rows are numbered anew."""


@dataclass(frozen=True, slots=True)
class Distinct:
    """Each row that an instant yields once."""


Step: TypeAlias = Filter | Project | Window | Aggregate | Distinct | Frequency | Subquery


@dataclass(frozen=True, slots=True)
class Chain:
    """Columns of the input in order, which of them are its clocks, and the steps."""

    columns: tuple[tuple[str, pa.DataType], ...]
    time: str
    arrival: str | None
    steps: tuple[Step, ...]
    cuts: tuple[int, ...] = ()

    @property
    def schema(self) -> pa.Schema:
        return pa.schema(list(self.columns))


def parse(document: str | Mapping[str, Any]) -> Chain:
    """A chain from its JSON form, or a QueryError that says what is wrong with it."""
    given = json.loads(document) if isinstance(document, str) else document
    try:
        columns = tuple((name, arrow_type(kind)) for name, kind in given["columns"])
        steps = tuple(parse_step(each) for each in given["steps"])
        return Chain(columns, given["time"], given.get("arrival"), steps, tuple(given.get("cuts", ())))
    except (KeyError, TypeError, ValueError) as cause:
        raise QueryError(
            "SW-353",
            f"the chain of operators is not well formed: {cause!r}",
            expected="columns, time, arrival and steps as the module's text shows them",
            hint="let the planner write it",
        ) from cause


def parse_step(given: Mapping[str, Any]) -> Step:
    match given["op"]:
        case "filter":
            return Filter(given["condition"])
        case "project":
            return Project(items_of(given["items"]))
        case "window":
            by = tuple(given.get("by", ()))
            counts = tuple(given.get("count_by", by))
            flags = given.get("strict", False), given.get("whole", False)
            return Window(length_of(given["range"]), length_of(given["every"]), by, counts, *flags)
        case "aggregate":
            return Aggregate(items_of(given["group"]), tuple(call_of(*each) for each in given["calls"]))
        case "frequency":
            return Frequency(length_of(given["every"]), tuple(given.get("by", ())), given.get("strict", False))
        case "distinct":
            return Distinct()
        case "subquery":
            return Subquery()
        case other:
            raise ValueError(f"there is no operator {other!r}")


def length_of(given: Mapping[str, int]) -> Length:
    """A length from its JSON form, `{"time": ticks}` or `{"tuples": rows}`."""
    ((unit, amount),) = given.items()
    if unit not in ("time", "tuples") or amount < 1:
        raise ValueError(f"{given} is not a length")
    return Length(amount, unit == "time")


def items_of(given: Sequence[Any]) -> tuple[Item, ...]:
    return tuple(Item(name, tree, _kind(kind)) for name, tree, kind in given)


def call_of(name: str, function: str, arguments: Sequence[Tree], kind: str, options: Mapping[str, bool]) -> Call:
    return Call(name, function, tuple(arguments), _kind(kind), **options)


def _kind(name: str) -> pa.DataType | None:
    return None if name == "unknown" else arrow_type(name)
