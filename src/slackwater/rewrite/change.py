"""The type of a rule: a function from an operator and its context to a replacement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from slackwater.algebra.catalog import ViewDef
from slackwater.algebra.expressions import columns
from slackwater.algebra.nodes import Emit, Minus, Mode, Plan, Subquery, View, Window, expressions_of, walk


@dataclass(frozen=True, slots=True)
class Context:
    """The place of an operator: `above` holds its ancestors, the root first; `views` may be read instead."""

    above: tuple[Plan, ...] = ()
    views: tuple[ViewDef, ...] = ()

    @property
    def parent(self) -> Plan | None:
        return self.above[-1] if self.above else None

    @property
    def final(self) -> bool:
        """Return whether each row is emitted once and never changed, so that lifetimes are not part of the answer."""
        root = self.above[0] if self.above else None
        return not isinstance(root, Emit) or root.mode is Mode.FINAL

    @property
    def level(self) -> tuple[Plan, ...]:
        """Return the ancestors in the same query, the nearest first: up to the root or the enclosing subquery."""
        nearest = tuple(reversed(self.above))
        ends = (place for place, each in enumerate(nearest) if isinstance(each, (Subquery, View)))
        return nearest[: next(ends, len(nearest))]

    @property
    def synced(self) -> bool:
        """Return whether sync rows report the extents of this query, including extents without results."""
        return any(isinstance(each, Emit) and each.sync for each in self.level)

    @property
    def endless(self) -> bool:
        """Return whether a MINUS above reads a tuple window at time boundaries.

        The relation of such a window never becomes empty, so the MINUS is also evaluated at the boundaries of its other
        side. The rows of that side then decide when there is an answer.
        """
        return any(
            isinstance(below, Window) and below.every.is_time and not below.range.is_time
            for minus in self.level
            if isinstance(minus, Minus)
            for below in walk(minus)
        )

    def names(self, pseudo: str) -> bool:
        """Return whether an ancestor in the same query names this pseudo-column."""
        return any(
            pseudo in (column.lower() for column in columns(expr)) for op in self.level for expr in expressions_of(op)
        )

    def under(self, operator: Plan) -> Context:
        """Return the context of that operator's inputs."""
        return Context((*self.above, operator), self.views)


@dataclass(frozen=True, slots=True)
class Replacement:
    """The replacement of an operator, and one sentence on why it yields the same rows."""

    plan: Plan
    why: str


Rule: TypeAlias = Callable[[Plan, Context], Replacement | None]
