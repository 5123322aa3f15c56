"""The label of an operator: its name, its parameters, and the rows that leave it."""

from __future__ import annotations

from dataclasses import dataclass

from slackwater.algebra.lengths import ONE_TUPLE, Kind, Length
from slackwater.algebra.nodes import (
    Aggregate,
    Disorder,
    Distinct,
    Emit,
    Frequency,
    Item,
    Join,
    Minus,
    Plan,
    Project,
    Scan,
    Select,
    Subquery,
    Union,
    View,
    Window,
    inputs,
)
from slackwater.algebra.policies import in_words
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.properties.instants import instants_of
from slackwater.algebra.properties.keys import key_of
from slackwater.algebra.properties.locality import is_local
from slackwater.algebra.properties.monotonicity import class_of
from slackwater.algebra.properties.order import order_of


@dataclass(frozen=True, slots=True)
class Label:
    """`name` and `parameters` describe the operator, `edge` the rows that leave it."""

    name: str
    parameters: str
    edge: str


def label(plan: Plan, *, verbose: bool = False) -> Label:
    """Return the label of one operator; `verbose` adds the properties for the optimiser: class, order, locality."""
    return Label(type(plan).__name__, parameters(plan), _edge(plan, verbose))


def parameters(plan: Plan) -> str:
    match plan:
        case Scan():
            return _scan(plan)
        case View(name=name, alias=alias):
            return name if name == alias else f"{name} AS {alias}"
        case Subquery(alias=alias):
            return f"AS {alias}"
        case Disorder(policy=policy):
            return in_words(policy)
        case Window():
            return _window(plan)
        case Frequency(every=every, by=by, strict=strict):
            return f"{'at multiples of' if strict else 'every'} {every}" + _partitioned(by)
        case Select(condition=condition):
            return condition.sql
        case Project(items=items):
            return ", ".join(map(_item, items))
        case Aggregate(group=group, aggregates=aggregates, pane=pane):
            calls = ", ".join(map(_item, aggregates))
            groups = f" by {', '.join(map(_item, group))}" if group else " over all rows"
            return calls + groups + (f", shared panes of {Length(pane, Kind.TIME)}" if pane else "")
        case Join(condition=condition):
            return f"on {condition.sql}" if condition else "product"
        case Emit(mode=mode, sync=sync):
            return mode.value.upper() + (" WITH SYNC" if sync else "")
        case Union() | Distinct() | Minus():
            return ""


def _scan(plan: Scan) -> str:
    clocks = [("event time", plan.event_time), ("arrival", plan.arrival), ("source", plan.source)]
    clocks.append(("change type", plan.change_type))
    named = plan.stream if plan.alias == plan.stream else f"{plan.stream} AS {plan.alias}"
    return f"{named} ({', '.join(f'{what} {column}' for what, column in clocks if column)})"


def _window(plan: Window) -> str:
    every = "" if plan.every == ONE_TUPLE else f" {'SLIDE' if _slides(plan) else 'EVERY'} {plan.every}"
    return f"RANGE {plan.range}{every}" + _partitioned(plan.by)


def _slides(plan: Window) -> bool:
    return plan.range.is_time and plan.every.is_time


def _partitioned(by: tuple[str, ...]) -> str:
    return f" partitioned by {', '.join(by)}" if by else ""


def _item(item: Item) -> str:
    return item.expr.sql if item.expr.sql in (item.name, f"`{item.name}`") else f"{item.expr.sql} AS {item.name}"


def _edge(plan: Plan, verbose: bool) -> str:
    key = key_of(plan)
    kind = class_of(plan)
    instants = instants_of(plan)
    parts = [
        _columns(plan),
        "no key" if key is None else f"key ({', '.join(key)})",
        f"class {kind.value} {kind.name.lower()}" if verbose else "",
        f"{order_of(plan).value} order" if verbose else "",
        f"every {instants.every}" if instants.jumping else "every row",
        "local" if verbose and is_local(plan) else "",
    ]
    return " · ".join(part for part in parts if part)


def _columns(plan: Plan) -> str:
    own = schema_of(plan)
    if any(schema_of(each) == own for each in inputs(plan)):
        return "same columns"
    return ", ".join(f"{field.name} {field.type}" for field in own)
