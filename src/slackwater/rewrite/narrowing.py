"""A plan with fewer columns: which an operator needs of its inputs, and where those that nobody needs are dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from slackwater.algebra.columns import schema_of
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
    inputs,
    stated,
    with_inputs,
)
from slackwater.algebra.schema import Expr, Field, Schema
from slackwater.rewrite.references import plain, with_references

P = TypeVar("P", bound=Plan)
Fields = frozenset[Field]


@dataclass(frozen=True, slots=True)
class Narrow:
    """A plan with fewer columns, and what became of those that are left."""

    plan: Plan
    moved: Mapping[Field, Field]


@dataclass(frozen=True, slots=True)
class Narrowing:
    """`taken` counts the names of the columns that a query block reads; `streams_only` leaves lists below alone."""

    taken: Counter[str]
    streams_only: bool

    def narrowed(self, plan: Plan, needed: Fields) -> Narrow | None:
        """The plan without the columns that are not needed; None where all of them are."""
        if is_stream(plan):
            return self.cut(plan, needed)
        if isinstance(plan, (Select, Window, Frequency, Join)):
            return self.through(plan, needed | read_by(plan, schema_of(plan)))
        return None if self.streams_only else self.shortened(plan, {field.name for field in needed})

    def through(self, plan: Plan, needed: Fields) -> Narrow | None:
        """An operator that reads some columns itself and passes the others on."""
        below = inputs(plan)
        found = [self.narrowed(each, needed & frozenset(schema_of(each))) for each in below]
        if not any(found):
            return None
        sides = tuple(each or _whole(side) for each, side in zip(found, below, strict=True))
        return Narrow(over(plan, sides), {old: new for side in sides for old, new in side.moved.items()})

    def shortened(self, plan: Plan, names: set[str]) -> Narrow | None:
        """A select list, a list of aggregates, or a subquery that is one of these."""
        match plan:
            case Project(items=items):
                kept = tuple(item for item in items if item.name in names | _clock_items(plan))
                return _shorter(plan, replace(plan, items=kept or items[:1]))
            case Aggregate(aggregates=aggregates):
                kept = tuple(item for item in aggregates if item.name in names)
                return _shorter(plan, replace(plan, aggregates=kept or aggregates[:1]))
            case Subquery(query=query):
                inside = self.shortened(query, names)
                return _shorter(plan, replace(plan, query=inside.plan)) if inside else None
            case _:
                return None

    def cut(self, stream: Plan, needed: Fields) -> Narrow | None:
        """A select list over a stream; a column whose name another input has too is named after its stream."""
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
    """The operator over narrower inputs, its columns spelled as they are there."""
    old = Schema(tuple(field for each in inputs(plan) for field in schema_of(each)))
    new = Schema(tuple(field for side in sides for field in schema_of(side.plan)))
    moved = {field: after for side in sides for field, after in side.moved.items()}

    def spell(name: str) -> str:
        return new.reference(moved[old.find(name)]) if name in old else name

    return with_inputs(with_references(plan, spell), tuple(side.plan for side in sides))


def read_by(plan: Plan, schema: Schema) -> Fields:
    """The columns of a schema that an operator names itself."""
    own = plan.by if isinstance(plan, (Window, Frequency)) else ()
    named = (*own, *(name for expr in stated(plan) for name in columns(expr)))
    return frozenset(schema.find(name) for name in named if name in schema)


def is_stream(plan: Plan) -> bool:
    """Whether this is a stream under disorder control, with no more than selections over it."""
    match plan:
        case Select(child=child):
            return is_stream(child)
        case _:
            return isinstance(plan, Disorder)


def leaves(plan: Plan) -> list[Plan]:
    """What a query block reads: streams, lists, aggregates, subqueries."""
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
    """The items of a list over a stream that pass its clocks on."""
    clocks = _clocks(project.child) if is_stream(project.child) else set()
    return {item.name for item in project.items if (plain(item.expr) or "").lower() in clocks}


def _clocks(stream: Plan) -> set[str]:
    """The columns that tell a row's time, arrival, sender, change type and key, in lower case."""
    match stream:
        case Scan(event_time=time, arrival=arrival, source=source, change_type=change_type, key=key):
            return {each.lower() for each in (time, arrival, source, change_type, *key) if each}
        case _:
            return _clocks(inputs(stream)[0])
