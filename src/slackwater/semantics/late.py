"""Late rows, and how many windows each missed. A row is late by the punctuation of its own stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from slackwater.algebra.nodes import (
    Aggregate,
    Disorder,
    Distinct,
    Join,
    Minus,
    Plan,
    Project,
    Scan,
    Select,
    inputs,
)
from slackwater.semantics.feeds import Clock
from slackwater.semantics.rows import Late, Row
from slackwater.semantics.streams import Picked, PlanRun, window_of
from slackwater.semantics.windows import extents_of


@dataclass(frozen=True, slots=True)
class Use:
    """One read of a scan by a plan: through the extents of `window`, or by position in the sequence if it is None.

    `clock` is the clock by which the extents are emitted or the positions released.
    """

    scan: Scan
    window: Picked | None
    clock: Clock

    def missed(self, row: Row) -> int:
        """Return how many extents of the row were emitted in an earlier batch. By position: 1 if it was released."""
        passed = self.clock.at(row.batch - 1)
        if self.window is None:
            return int(row.time < passed)
        boundaries = extents_of(row.time, self.window.range.amount, self.window.every.amount)
        return sum(1 for boundary in boundaries if boundary <= passed)


def late_rows(run: PlanRun, plan: Plan, clocks: Mapping[str, Clock]) -> Iterator[Late]:
    """Return the late rows of every scan, in order of arrival."""
    for use in uses(run, plan, run.clock(plan)):
        scan, own = use.scan, clocks[use.scan.stream]
        names = [each.name for each in scan.fields]
        for row in sorted(run.stores[id(scan)].rows, key=lambda row: row.position):
            punctuation = own.at(row.batch)
            if row.time < punctuation:
                given = dict(zip(names, row.values, strict=True))
                behind = punctuation - row.time
                yield Late(scan.stream, scan.alias, given, behind, punctuation, use.missed(row), row.batch)


def uses(run: PlanRun, plan: Plan, clock: Clock) -> Iterator[Use]:
    """Return how each scan below an operator is read, if the operator is evaluated by `clock`."""
    window = window_of(plan)
    match plan:
        case Scan():
            yield Use(plan, None, run.clock_of_inputs)
        case _ if window is not None and window.at_boundaries and window.range.is_time and window.child is not plan:
            yield from extents(run, window.child, window, clock)
        case Select(child=child) | Project(child=child) | Aggregate(child=child) | Distinct(child=child):
            yield from uses(run, child, clock)
        case Join(left=left, right=right) | Minus(left=left, right=right):
            yield from uses(run, left, clock)
            yield from uses(run, right, clock)
        case _:
            for each in inputs(plan):
                yield from uses(run, each, run.clock(each))


def extents(run: PlanRun, plan: Plan, window: Picked, clock: Clock) -> Iterator[Use]:
    """Return the scans whose record store the extents of a window read. `Run.arrivals` follows the same path."""
    match plan:
        case Scan():
            yield Use(plan, window, clock)
        case Disorder(child=child) | Select(child=child) | Project(child=child):
            yield from extents(run, child, window, clock)
        case _:
            yield from uses(run, plan, run.clock(plan))
