"""Drop unused columns: compute the columns that an operator needs of its inputs, and remove the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from slackwater.algebra.expressions import column_node, columns, text
from slackwater.algebra.nodes import (
    Aggregate,
    Disorder,
    Frequency,
    Item,
    Join,
    Plan,
    Project,
    Scan,
    Select,
    Subquery,
    Window,
    expressions_of,
    inputs,
    with_inputs,
)
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import Expr, Field, Schema
from slackwater.rewrite.references import plain, with_references

P = TypeVar("P", bound=Plan)
Fields = frozenset[Field]


@dataclass(frozen=True, slots=True)
class Narrow:
    """A plan with fewer columns; `moved` maps each remaining column to its new form."""

    plan: Plan
    moved: Mapping[Field, Field]


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Removes unused columns from a query block.

    `taken` counts the column names that the query block reads; `streams_only` leaves select lists below unchanged.
    """

    taken: Counter[str]
    streams_only: bool

    def narrow(self, plan: Plan, needed: Fields) -> Narrow | None:
        """Return the plan without the columns that are not needed, or None if all are needed."""
        if is_stream(plan):
            return self.project(plan, needed)
        if isinstance(plan, (Select, Window, Frequency, Join)):
            return self.through(plan, needed | read_by(plan, schema_of(plan)))
        return None if self.streams_only else self.shorten(plan, {field.name for field in needed})

    def through(self, plan: Plan, needed: Fields) -> Narrow | None:
        """Narrow the inputs of an operator that reads some columns itself and passes the others on."""
        below = inputs(plan)
        found = [self.narrow(each, needed & frozenset(schema_of(each))) for each in below]
        if not any(found):
            return None
        sides = tuple(each or _whole(side) for each, side in zip(found, below, strict=True))
        return Narrow(over(plan, sides), {old: new for side in sides for old, new in side.moved.items()})

    def shorten(self, plan: Plan, names: set[str]) -> Narrow | None:
        """Shorten a select list, a list of aggregates, or a subquery that consists of one."""
        match plan:
            case Project(items=items):
                kept = tuple(item for item in items if item.name in names | _clock_items(plan))
                return _shorter(plan, replace(plan, items=kept or items[:1]))
            case Aggregate(aggregates=aggregates):
                kept = tuple(item for item in aggregates if item.name in names)
                return _shorter(plan, replace(plan, aggregates=kept or aggregates[:1]))
            case Subquery(query=query):
                inside = self.shorten(query, names)
                return _shorter(plan, replace(plan, query=inside.plan)) if inside else None
            case _:
                return None

    def project(self, stream: Plan, needed: Fields) -> Narrow | None:
        """Put a select list over a stream.

        A column name that several inputs share is prefixed with the stream's alias.
        """
        schema, clocks = schema_of(stream), _clocks(stream)
        kept = [field for field in schema if field in needed or field.name.lower() in clocks]
        if len(kept) == len(schema):
            return None
        moved = {field: Field(self.name(field), field.type) for field in kept}
        items = tuple(Item(new.name, _column(old, schema)) for old, new in moved.items())
        return Narrow(Project(stream, items), moved)

    def name(self, field: Field) -> str:
        if self.taken[field.name.lower()] == 1:
            return field.name
        name = f"{field.qualifier}_{field.name}"
        while self.taken[name.lower()]:
            name += "_"
        return name


def over(plan: P, sides: tuple[Narrow, ...]) -> P:
    """Return the operator over narrower inputs, with its columns respelled accordingly."""
    old = Schema(tuple(field for each in inputs(plan) for field in schema_of(each)))
    new = Schema(tuple(field for side in sides for field in schema_of(side.plan)))
    moved = {field: after for side in sides for field, after in side.moved.items()}

    def spell(name: str) -> str:
        return new.reference(moved[old.find(name)]) if name in old else name

    return with_inputs(with_references(plan, spell), tuple(side.plan for side in sides))


def read_by(plan: Plan, schema: Schema) -> Fields:
    """Return the columns of a schema that this operator names itself."""
    own = plan.by if isinstance(plan, (Window, Frequency)) else ()
    named = (*own, *(name for expr in expressions_of(plan) for name in columns(expr)))
    return frozenset(schema.find(name) for name in named if name in schema)


def is_stream(plan: Plan) -> bool:
    """Return whether this is a stream under disorder control with nothing but selections over it."""
    match plan:
        case Select(child=child):
            return is_stream(child)
        case _:
            return isinstance(plan, Disorder)


def leaves(plan: Plan) -> list[Plan]:
    """Return the inputs of a query block: streams, select lists, aggregates, subqueries."""
    if isinstance(plan, (Select, Window, Frequency, Join)) and not is_stream(plan):
        return [leaf for each in inputs(plan) for leaf in leaves(each)]
    return [plan]


def _whole(plan: Plan) -> Narrow:
    return Narrow(plan, {field: field for field in schema_of(plan)})


def _shorter(before: Plan, after: Plan) -> Narrow | None:
    return _whole(after) if len(schema_of(after)) < len(schema_of(before)) else None


def _column(field: Field, schema: Schema) -> Expr:
    return Expr(text(column_node(schema.reference(field))), field.type)


def _clock_items(project: Project) -> set[str]:
    """Return the items of a select list over a stream that pass its clock columns on."""
    clocks = _clocks(project.child) if is_stream(project.child) else set()
    return {item.name for item in project.items if (plain(item.expr) or "").lower() in clocks}


def _clocks(stream: Plan) -> set[str]:
    """Return the columns with a row's event time, arrival, sender, change type and key, in lower case."""
    match stream:
        case Scan(event_time=time, arrival=arrival, source=source, change_type=change_type, key=key):
            return {each.lower() for each in (time, arrival, source, change_type, *key) if each}
        case _:
            return _clocks(inputs(stream)[0])
