"""Give each operator of a changelog's tree the names of its columns, and the class, key and lifetime of its rows.

Columns have the names by which the plan refers to them (`alias.name` where the name alone is not enough). Class and key
are the algebra's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from slackwater.algebra import nodes as ops
from slackwater.algebra.nodes import Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.properties.instants import instants_of
from slackwater.algebra.properties.keys import key_of
from slackwater.algebra.properties.monotonicity import class_of
from slackwater.algebra.schema import Field, Schema
from slackwater.engine import plan as engine
from slackwater.spark.planner.fused.expressions import known_schema
from slackwater.spark.planner.fused.order import is_range

NO_EDGE = engine.Edge()
"""Stands in the place of an edge until `with_edge` replaces it."""


@dataclass(frozen=True, slots=True)
class RenamedSchema(Schema):
    """A schema whose columns have other names in the engine, by position."""

    names_there: tuple[str, ...]

    def find(self, reference: str) -> Field:
        field = Schema.find(self, reference)
        return Field(self.names_there[self.fields.index(field)], field.type, field.qualifier)


@dataclass(frozen=True, slots=True)
class NamedNode:
    """An operator, and the names of its columns in order."""

    node: engine.Node
    names: tuple[str, ...]

    def columns_of(self, plan: Plan) -> RenamedSchema:
        """Return the columns of a plan, by the names that they have here."""
        return RenamedSchema(schema_of(plan).fields, self.names)

    def known_columns_of(self, plan: Plan) -> RenamedSchema:
        """Return the same columns with the types that follow from those of the streams."""
        return RenamedSchema(known_schema(plan).fields, self.names[: len(schema_of(plan))])


def with_edge(plan: Plan, node: engine.Node, names: tuple[str, ...]) -> NamedNode:
    """Return the operator with the class and the key of its result."""
    below = [each.edge.level for each in engine.children(node)]
    level = max([int(class_of(plan)), *below])
    match node:
        case engine.Over(step=engine.AggregateStep()) | engine.MinusLogs():
            level = 4  # at boundaries too: the operators of a tree send what they can tell, and end it if it changes
        case engine.Over() if is_range(node) and isinstance(plan, ops.Window):
            level = {1: 2, 2: 3}.get(below[0], below[0])
    return NamedNode(replace(node, edge=engine.Edge(level, key_under(plan, names))), names)


def with_final_edge(
    plan: Plan, node: engine.Chained | engine.Piped | engine.Streamed, names: tuple[str, ...]
) -> NamedNode:
    """Return the operator of final answers: they live for ever, or, at boundaries, until the next one."""
    every = instants_of(plan).every
    level, lifetime = (2, every.amount) if every.is_time else (1, None)
    return NamedNode(replace(node, lifetime=lifetime, edge=engine.Edge(level, key_under(plan, names))), names)


def key_under(plan: Plan, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the key of a plan by the names of its columns here; None if it is no column of the result."""
    key, here = key_of(plan), RenamedSchema(schema_of(plan).fields, names)
    if key is None or any(reference not in here for reference in key):
        return None
    return tuple(here.find(reference).name for reference in key)
