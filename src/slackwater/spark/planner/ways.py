"""Choose who runs a plan, and say why: Spark's own operators, or the fused operator that hosts a kernel."""

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
"""The number of extents per row from which Spark's copies of a row cost more than the kernel, which has panes.

Measured at 200,000 rows a batch and 1,000 groups: about even at 12; with 60, the kernel is four times as fast."""


class Host(StrEnum):
    NATIVE = "native"
    FUSED = "fused"


@dataclass(frozen=True, slots=True)
class Way:
    """The host of a plan, and the reason for it."""

    host: Host
    reason: str


def way_of(plan: Plan, *, placed: bool = True) -> Way:
    """Return the host of a plan; raise an error if none can run it.

    `placed` says whether rows have their position in the source. Spark's own operators run a plan if they can, because
    its rows then never leave the JVM. The fused operator runs a plan for which Spark has no operator, or whose extents
    overlap so much that copying every row into each of them (RANGE / SLIDE) takes longer. Two chained aggregates of
    Spark could share panes as well, but they would lose a late row whose pane is closed while wider extents are open.
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
    """Return the largest number of extents that contain one row."""
    return max(map(_copies, walk(plan)))


def _copies(node: Plan) -> int:
    instants = instants_of(node)
    if not isinstance(node, (Window, Frequency)) or instants.window is None:
        return 1
    if not (instants.window.is_time and instants.every.is_time):
        return 1
    return ceil(instants.window.amount / instants.every.amount)


def _order(plan: Plan) -> Obstacle | None:
    """Return the operator that needs the position of rows, which Spark's public API does not have, or None."""
    node = ordered_aggregate(plan)
    return Obstacle(node, "Spark Connect does not give the position of a row in its source") if node else None


def _dear(plan: Plan) -> str | None:
    """Return why extents that overlap much cannot be computed from panes; None if they can."""
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
    """Return a hint with changes that make a plan runnable. Only changes that were checked to help are named."""
    helps = []
    revoked = any(isinstance(node, Scan) and node.change_type for node in walk(plan))
    if not revoked and all(_by_instants(each.node) for each in obstacles(plan)):
        helps.append("write RANGE and SLIDE in time at every stream, without FREQUENCY, and EMIT FINAL")
    if isinstance(plan, Emit) and not emits_changes(plan):
        changes = replace(plan, mode=Mode.CHANGES, sync=False)
        helps += ["ask for a changelog with EMIT CHANGES"] * (fused.reason(changes) is None)
    return ", or ".join(helps) or "leave out what is named, and compute it from the rows that the query yields"


def _by_instants(node: Plan) -> bool:
    """Return whether an operator is an obstacle only because of when it is evaluated."""
    return isinstance(node, (Window, Frequency, Join)) or emits_changes(node)


def _extents(count: int) -> str:
    return "1 extent" if count == 1 else f"{count} extents"
