"""π[a](...(S)) = π[a](...(π[b](S))), b being what is read above: columns that nobody reads are not kept."""

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
    with_inputs,
)
from slackwater.algebra.schema import Expr, Field, Schema
from slackwater.rewrite.change import Change, Context, stated
from slackwater.rewrite.references import plain, with_references

P = TypeVar("P", bound=Plan)
Fields = frozenset[Field]


@dataclass(frozen=True, slots=True)
class Narrow:
    """A plan with fewer columns, and what became of those that are left."""

    plan: Plan
    moved: Mapping[Field, Field]


def push_down_projects(plan: Plan, context: Context) -> Change | None:
    """Below a select list or an aggregate: a narrower stream, a shorter select list inside, fewer aggregates.

    The list goes above disorder control, so that late rows are whole, and keeps the columns that tell a row's time,
    arrival, sender, change type and key.
    """
    if not isinstance(plan, (Project, Aggregate)) or _is_stream(plan.child):
        return None
    needed = _read(plan, schema_of(plan.child))
    taken = Counter(field.name.lower() for leaf in _leaves(plan.child) for field in schema_of(leaf))
    narrow = _narrowed(plan.child, needed, taken)
    if narrow is None:
        return None
    dropped = [field.name for leaf in _leaves(plan.child) for field in schema_of(leaf) if field not in narrow.moved]
    return Change(_over(plan, (narrow,)), f"{', '.join(dropped)} {'are' if len(dropped) > 1 else 'is'} not read above")


def _narrowed(plan: Plan, needed: Fields, taken: Counter[str]) -> Narrow | None:
    """The plan without the columns that are not needed; None where all of them are."""
    if _is_stream(plan):
        return _cut(plan, needed, taken)
    match plan:
        case Project(items=items):
            kept = tuple(item for item in items if item.name in {field.name for field in needed} | _told(plan))
            return _shorter(plan, replace(plan, items=kept or items[:1]))
        case Aggregate(aggregates=aggregates):
            kept = tuple(item for item in aggregates if item.name in {field.name for field in needed})
            return _shorter(plan, replace(plan, aggregates=kept or aggregates[:1]))
        case Subquery(query=(Project() | Aggregate()) as query):
            inside = frozenset(field for field in schema_of(query) if field.name in {each.name for each in needed})
            narrow = _narrowed(query, inside, taken)
            return _shorter(plan, replace(plan, query=narrow.plan)) if narrow else None
        case Select() | Window() | Frequency() | Join():
            return _through(plan, needed | _read(plan, schema_of(plan)), taken)
        case _:
            return None


def _through(plan: Plan, needed: Fields, taken: Counter[str]) -> Narrow | None:
    """An operator that reads some columns itself and passes the others on."""
    below = inputs(plan)
    found = [_narrowed(each, needed & frozenset(schema_of(each)), taken) for each in below]
    if not any(found):
        return None
    sides = tuple(
        each or Narrow(side, {field: field for field in schema_of(side)})
        for each, side in zip(found, below, strict=True)
    )
    return Narrow(_over(plan, sides), {old: new for side in sides for old, new in side.moved.items()})


def _over(plan: P, sides: tuple[Narrow, ...]) -> P:
    """The operator over narrower inputs, its columns spelled as they are there."""
    old = Schema(tuple(field for each in inputs(plan) for field in schema_of(each)))
    new = Schema(tuple(field for side in sides for field in schema_of(side.plan)))
    moved = {field: after for side in sides for field, after in side.moved.items()}

    def spell(name: str) -> str:
        return new.reference(moved[old.find(name)]) if name in old else name

    return with_inputs(with_references(plan, spell), tuple(side.plan for side in sides))


def _cut(stream: Plan, needed: Fields, taken: Counter[str]) -> Narrow | None:
    """A select list over a stream: a column whose name another input has too is named after its stream."""
    schema, clocks = schema_of(stream), _clocks(stream)
    kept = [field for field in schema if field in needed or field.name.lower() in clocks]
    if len(kept) == len(schema):
        return None
    moved = {field: Field(_name(field, taken), field.type) for field in kept}
    items = tuple(
        Item(new.name, Expr(text(column_node(schema.reference(old))), old.type)) for old, new in moved.items()
    )
    return Narrow(Project(stream, items), moved)


def _name(field: Field, taken: Counter[str]) -> str:
    if taken[field.name.lower()] == 1:
        return field.name
    name = f"{field.qualifier}_{field.name}"
    while taken[name.lower()]:
        name += "_"
    return name


def _shorter(before: Plan, after: Plan) -> Narrow | None:
    left = schema_of(after)
    if len(left) == len(schema_of(before)):
        return None
    return Narrow(after, {field: field for field in left})


def _told(project: Project) -> set[str]:
    """The items of a list over a stream that pass its clocks on."""
    clocks = _clocks(project.child) if _is_stream(project.child) else set()
    return {item.name for item in project.items if (plain(item.expr) or "").lower() in clocks}


def _clocks(stream: Plan) -> set[str]:
    """The columns that tell a row's time, arrival, sender, change type and key, in lower case."""
    match stream:
        case Scan(event_time=time, arrival=arrival, source=source, change_type=change_type, key=key):
            return {each.lower() for each in (time, arrival, source, change_type, *key) if each}
        case _:
            return _clocks(inputs(stream)[0])


def _is_stream(plan: Plan) -> bool:
    """Whether this is a stream under disorder control, with no more than selections over it."""
    match plan:
        case Select(child=child):
            return _is_stream(child)
        case _:
            return isinstance(plan, Disorder)


def _read(plan: Plan, schema: Schema) -> Fields:
    """The columns of a schema that an operator names itself."""
    own = plan.by if isinstance(plan, (Window, Frequency)) else ()
    named = (*own, *(name for expr in stated(plan) for name in columns(expr)))
    return frozenset(schema.find(name) for name in named if name in schema)


def _leaves(plan: Plan) -> list[Plan]:
    """What a query block reads: streams, lists, aggregates, subqueries."""
    if isinstance(plan, (Select, Window, Frequency, Join)) and not _is_stream(plan):
        return [leaf for each in inputs(plan) for leaf in _leaves(each)]
    return [plan]
