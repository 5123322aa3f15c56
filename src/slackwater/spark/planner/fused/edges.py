"""What an operator of a changelog's tree yields: its columns by name, and its class, key and lifetime.

Columns have the names by which the plan refers to them (`alias.name` where the name alone is not enough). Class and key
are the algebra's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from slackwater.algebra import nodes as ops
from slackwater.algebra.nodes import Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.properties.instants import instants_of
from slackwater.algebra.properties.keys import key_of
from slackwater.algebra.properties.monotonicity import class_of
from slackwater.algebra.schema import Field, Schema
from slackwater.engine.plan import (
    AggregateStep,
    Chained,
    Edge,
    MinusLogs,
    Node,
    Over,
    Piped,
    Streamed,
    WindowStep,
    children,
)
from slackwater.spark.planner.fused.expressions import known_schema

NO_EDGE = Edge()
"""What stands in the place of an edge until it is known."""


@dataclass(frozen=True, slots=True)
class Named(Schema):
    """A schema whose columns have other names, by position, in the kernel."""

    columns: tuple[str, ...]

    def find(self, reference: str) -> Field:
        field = Schema.find(self, reference)
        place = next(number for number, each in enumerate(self.fields) if each is field)
        return Field(self.columns[place], field.type, field.qualifier)


@dataclass(frozen=True, slots=True)
class Lowered:
    """An operator and the names of its columns in order."""

    node: Node
    names: tuple[str, ...]

    def over(self, plan: Plan) -> Named:
        """The columns of a plan, by the names that they have here."""
        return Named(schema_of(plan).fields, self.names)

    def known(self, plan: Plan) -> Named:
        """The same with the types that follow from those of the streams."""
        return Named(known_schema(plan).fields, self.names[: len(schema_of(plan))])


def edged(plan: Plan, node: Node, names: tuple[str, ...]) -> Lowered:
    """The operator with the class and the key of its result."""
    below = [each.edge.level for each in children(node)]
    level = max([int(class_of(plan)), *below])
    match node:
        case Over(step=AggregateStep()) | MinusLogs():
            level = 4  # at boundaries too: the operators of a tree send what they can tell, and end it if it changes
        case Over(step=WindowStep() as window) if window.is_range and isinstance(plan, ops.Window):
            level = {1: 2, 2: 3}.get(below[0], below[0])
    return Lowered(replace(node, edge=Edge(level, key_under(plan, names))), names)


def key_under(plan: Plan, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """The key under the kernel's names; None where it is no column of the result."""
    key, here = key_of(plan), Named(schema_of(plan).fields, names)
    if key is None or any(reference not in here for reference in key):
        return None
    return tuple(here.find(reference).name for reference in key)


def unique(names: Sequence[str]) -> tuple[str, ...]:
    """The names, with a number behind those that were there before."""
    made: list[str] = []
    for name in names:
        count = sum(each.partition("#")[0] == name for each in made)
        made.append(f"{name}#{count + 1}" if count else name)
    return tuple(made)


def final(plan: Plan, node: Chained | Piped | Streamed, names: tuple[str, ...]) -> Lowered:
    """An operator whose rows stay what they are: for ever, or, at boundaries, until the next one."""
    every = instants_of(plan).every
    level, lifetime = (2, every.amount) if every.is_time else (1, None)
    return Lowered(replace(node, lifetime=lifetime, edge=Edge(level, key_under(plan, names))), names)
