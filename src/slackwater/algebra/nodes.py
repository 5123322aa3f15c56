"""The operators of the algebra (CSQL section 8) as frozen records.

A plan is a tree of these records. They are data: schema, key, order, locality and class are derived in modules of their
own, and interpreting, rewriting, printing and compiling are functions elsewhere.

`Scan` and `Disorder` yield a stream: rows in sequence order (event time, arrival, position). `Window` turns a stream
into a sequence of *instants*, each with the relation that its window holds. The operators between a window and the root
(select, join, aggregate, distinct, minus, project) act on that relation at each instant. The rows that the instants
emit form the result stream, which a further `Window` may read. `Frequency` over a `Window` picks instants (a jumping
window); over any other operator it picks rows (sampling).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any, TypeAlias, TypeVar

from slackwater.algebra.lengths import ONE_TUPLE, Length
from slackwater.algebra.schema import Expr, Field


@dataclass(frozen=True, slots=True)
class Policy:
    """Disorder control as the bracket after a stream states it. Times are in ticks.

    If neither `dratio` nor `slack` is stated, the default is DRATIO 0.1%; `stated` says whether one of them is.
    """

    dratio: float | None = None
    slack: int | None = None
    bsize: int | None = None
    estimator: str | None = None
    idle: int | None = None
    skew: int | None = None
    within: int | None = None

    @property
    def stated(self) -> bool:
        return self != Policy()


@dataclass(frozen=True, slots=True)
class Item:
    """A named expression of a select list or a grouping."""

    name: str
    expr: Expr


@dataclass(frozen=True, slots=True)
class Scan:
    """The rows of a declared stream in order of arrival, under the name `alias`."""

    stream: str
    alias: str
    fields: tuple[Field, ...]
    event_time: str
    arrival: str | None = None
    source: str | None = None
    change_type: str | None = None
    key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """A registered query under its name, computed once for all its readers.

    `declared_key` holds the expressions of its PRIMARY KEY, over the view's columns.
    """

    name: str
    alias: str
    query: Plan
    declared_key: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Subquery:
    """A nested query under the name `alias`: its result stream is the input of the outer query."""

    alias: str
    query: Plan


@dataclass(frozen=True, slots=True)
class Disorder:
    """Disorder control of a stream: puts rows in sequence order and yields punctuations."""

    child: Plan
    policy: Policy


@dataclass(frozen=True, slots=True)
class Window:
    """`RANGE range`, evaluated at every `every` (1 tuple: every row; a time: the boundaries of SLIDE).

    With `by`, the stream is partitioned by those columns, and each partition has its own windows and instants.
    """

    child: Plan
    range: Length
    every: Length = ONE_TUPLE
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Frequency:
    """CSQL's F: every n-th row or instant, or the last of each time slot; per value of `by`.

    `strict` is the local form of CSQL 4.4: only rows whose time is a multiple of `every`.
    """

    child: Plan
    every: Length
    by: tuple[str, ...] = ()
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Select:
    """The rows for which `condition` is true (WHERE, HAVING)."""

    child: Plan
    condition: Expr


@dataclass(frozen=True, slots=True)
class Project:
    """A select list without aggregates."""

    child: Plan
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One row per group of the relation at an instant: the items of `group`, then the aggregates.

    Each aggregate is one call over expressions of the child (`AVG(speed)`, `LAST(speed)` for a bare column). With
    `pane` (ticks), partial aggregates of panes of that length are kept and merged; a pane is dropped when every window
    that needs it is emitted.
    """

    child: Plan
    group: tuple[Item, ...]
    aggregates: tuple[Item, ...]
    pane: int | None = None


@dataclass(frozen=True, slots=True)
class Join:
    """The pairs of rows for which `condition` is true. Without a condition: the product."""

    left: Plan
    right: Plan
    condition: Expr | None = None


@dataclass(frozen=True, slots=True)
class Union:
    """UNION ALL: the rows of both inputs. Columns are matched by position and named as on the left."""

    left: Plan
    right: Plan


@dataclass(frozen=True, slots=True)
class Distinct:
    """Each row of the relation once."""

    child: Plan


@dataclass(frozen=True, slots=True)
class Minus:
    """EXCEPT, MINUS: the rows of `left` that have no equal row in `right`, each once."""

    left: Plan
    right: Plan


class Mode(Enum):
    FINAL = "final"
    CHANGES = "changes"


@dataclass(frozen=True, slots=True)
class Emit:
    """The root of a query: final rows or a changelog. `sync` adds sync rows."""

    child: Plan
    mode: Mode = Mode.FINAL
    sync: bool = False


Plan: TypeAlias = (
    Scan
    | View
    | Subquery
    | Disorder
    | Window
    | Frequency
    | Select
    | Project
    | Aggregate
    | Join
    | Union
    | Distinct
    | Minus
    | Emit
)
NODES: tuple[type, ...] = Plan.__args__
INPUTS = ("child", "query", "left", "right")
_INPUTS_OF = {node: tuple(each.name for each in fields(node) if each.name in INPUTS) for node in NODES}
_P = TypeVar("_P", bound=Plan)


def inputs(plan: Plan) -> tuple[Plan, ...]:
    """Return the plans that this plan reads, from left to right."""
    return tuple(getattr(plan, name) for name in _INPUTS_OF[type(plan)])


def with_inputs(plan: _P, new: tuple[Plan, ...]) -> _P:
    """Return the same operator over other inputs."""
    changes: dict[str, Any] = dict(zip(_INPUTS_OF[type(plan)], new, strict=True))
    return replace(plan, **changes)


def walk(plan: Plan) -> list[Plan]:
    """Return every operator of a plan, each before its inputs."""
    found = [plan]
    for each in inputs(plan):
        found += walk(each)
    return found


def expressions_of(operator: Plan) -> tuple[Expr, ...]:
    """Return the expressions of this operator, without those of its inputs."""
    match operator:
        case Select(condition=condition):
            return (condition,)
        case Join(condition=condition):
            return (condition,) if condition else ()
        case Project(items=items):
            return tuple(item.expr for item in items)
        case Aggregate(group=group, aggregates=aggregates):
            return tuple(item.expr for item in group + aggregates)
        case _:
            return ()


def emits_changes(plan: Plan) -> bool:
    """Return whether a query asks for a changelog."""
    return isinstance(plan, Emit) and plan.mode is Mode.CHANGES
