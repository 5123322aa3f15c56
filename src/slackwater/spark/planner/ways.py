"""Who runs a plan: Spark's own operators, or the fused operator that hosts a kernel; and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil

from slackwater.algebra.nodes import Aggregate, Emit, Frequency, Join, Mode, Plan, Scan, Window, emits_changes, walk
from slackwater.algebra.properties.instants import instants_of
from slackwater.errors import QueryError
from slackwater.spark.planner.aggregates import ordered_aggregate
from slackwater.spark.planner.fused import fuse as fused
from slackwater.spark.planner.obstacles import Obstacle, obstacles, unsupported

MANY_COPIES = 20
"""In so many extents per row, Spark's copies of it cost more than handing it to the kernel, which has panes.

Measured at 200,000 rows a batch and 1,000 groups: about even at 12, with 60 the kernel is four times as quick."""


class Host(StrEnum):
    NATIVE = "native"
    FUSED = "fused"


@dataclass(frozen=True, slots=True)
class Way:
    """Which operators run a plan, and why these."""

    host: Host
    reason: str


def way_of(plan: Plan, *, placed: bool = True) -> Way:
    """The way to run a plan; an error if there is none. `placed` says whether rows have their position in the source.

    Spark's own operators wherever it has them, since a row then never leaves the JVM. Two things speak for the fused
    operator: what Spark has no operator for, and extents that overlap so much that copying every row into each of
    them (RANGE / SLIDE) is dearer. Two chained aggregates would be panes as well, but lose a late row once its pane
    is closed, when wider extents are still open: not the rule of the language.
    """
    obstacle = next(obstacles(plan), None) or (None if placed else _order(plan))
    if obstacle is not None:
        return _without_operator(plan, obstacle)
    copies = copies_of(plan)
    if copies < MANY_COPIES:
        return Way(Host.NATIVE, f"Spark has every operator, and a row is in {_extents(copies)} at most")
    refusal = _dear(plan)
    if refusal is None:
        return Way(Host.FUSED, f"a row is in {_extents(copies)}: panes are cheaper than as many copies")
    return Way(
        Host.NATIVE, f"a row is copied into {_extents(copies)}, since the fused operator cannot take it: {refusal}"
    )


def copies_of(plan: Plan) -> int:
    """In how many extents a row is at most."""
    return max(map(_copies, walk(plan)))


def _copies(node: Plan) -> int:
    instants = instants_of(node)
    if not isinstance(node, (Window, Frequency)) or instants.window is None:
        return 1
    if not (instants.window.is_time and instants.every.is_time):
        return 1
    return ceil(instants.window.amount / instants.every.amount)


def _order(plan: Plan) -> Obstacle | None:
    """What in a plan needs the position of rows, which Spark's public API does not give."""
    node = ordered_aggregate(plan)
    return Obstacle(node, "Spark Connect does not give the position of a row in its source") if node else None


def _dear(plan: Plan) -> str | None:
    """Why extents that overlap much cannot be put together from panes; None if they can."""
    over = [node for node in walk(plan) if isinstance(node, Aggregate) and _copies(node.child) >= MANY_COPIES]
    if any(node.pane is None for node in over):
        return "the optimiser found no panes that all extents could share"
    return fused.reason(plan)


def _without_operator(plan: Plan, obstacle: Obstacle) -> Way:
    refusal = fused.reason(plan)
    if refusal is not None:
        raise _refused(plan, obstacle, refusal)
    return Way(Host.FUSED, f"{type(obstacle.node).__name__}: {obstacle.reason}")


def _refused(plan: Plan, obstacle: Obstacle, refusal: str) -> QueryError:
    error = unsupported(obstacle.node, obstacle.reason)
    return QueryError(
        error.code,
        f"{error.problem.message}; nor with the fused operator: {refusal}",
        expected=error.problem.expected,
        hint=_hint(plan),
    )


def _hint(plan: Plan) -> str:
    """Return what to change so that a plan can be run: only what was tried and helps."""
    helps = []
    revoked = any(isinstance(node, Scan) and node.change_type for node in walk(plan))
    if not revoked and all(_by_instants(each.node) for each in obstacles(plan)):
        helps.append("write RANGE and SLIDE in time at every stream, without FREQUENCY, and EMIT FINAL")
    if isinstance(plan, Emit) and not emits_changes(plan):
        changes = replace(plan, mode=Mode.CHANGES, sync=False)
        helps += ["ask for a changelog with EMIT CHANGES"] * (fused.reason(changes) is None)
    return ", or ".join(helps) or "leave out what is named, and compute it from the rows that the query yields"


def _by_instants(node: Plan) -> bool:
    """Whether an operator is an obstacle only because of when it is evaluated."""
    return isinstance(node, (Window, Frequency, Join)) or emits_changes(node)


def _extents(count: int) -> str:
    return "1 extent" if count == 1 else f"{count} extents"
