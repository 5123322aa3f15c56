"""Estimate the cost of a plan by simple formulas, to report what the rewrites save (not to choose between plans).

Every window is taken to be computed from its rows, as CSQL section 10 counts. With λ rows a second of each stream, P
values of a grouping or partition, and a share s of the rows that each conjunct keeps (`Workload`):

    windows a second    every row: λ; every n tuples: λ/n; every f: 1/f, times P where partitioned
    rows in a window    RANGE r: λr, over P where partitioned; RANGE m TUPLES: m
    rows evaluated      each operator over a window: windows a second × rows in a window;
                        with panes: λ, and windows a second × panes in a window × groups
    pairs evaluated     at boundaries the product of both windows, at rows each new row with the other window;
                        over P where the join is on an equality
    rows held           RANGE r: λr; RANGE m TUPLES: m, times P where partitioned; of these the share r/f or m/n that
                        some window will hold; with panes one row per pane and group; a sample: one row per part
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from slackwater.algebra.expressions import conjuncts, parse_expr
from slackwater.algebra.lengths import MICROSECONDS, ONE_TUPLE, Length
from slackwater.algebra.nodes import (
    Aggregate,
    Distinct,
    Frequency,
    Join,
    Minus,
    Plan,
    Scan,
    Select,
    Subquery,
    Union,
    View,
    Window,
    inputs,
    walk,
)
from slackwater.algebra.properties.columns import schema_of


@dataclass(frozen=True, slots=True)
class Workload:
    """Assumptions about the streams: rows a second of each, values of a partition, share that a conjunct keeps."""

    rate: float = 1_000.0
    parts: float = 100.0
    share: float = 1 / 3


@dataclass(frozen=True, slots=True)
class Estimate:
    """The cost of a plan: rows evaluated and windows computed per input row, rows and values held at any time."""

    evaluated: float
    windows: float
    held: float
    values: float


@dataclass(frozen=True, slots=True)
class Flow:
    """The output of an operator per second: instants, rows in the relation at each, rows if it were the result."""

    instants: float
    size: float
    emitted: float


def estimate(plan: Plan, workload: Workload | None = None) -> Estimate:
    """Return the cost of a plan. The work inside a view is not counted, because the view is computed anyway."""
    meter = Meter(workload or Workload())
    meter.flow(plan)
    rate = meter.workload.rate * max(1, sum(isinstance(each, Scan) for each in walk(plan)))
    return Estimate(meter.evaluated / rate, meter.windows / rate, meter.held, meter.values)


@dataclass(slots=True)
class Meter:
    """Adds up, operator by operator, the rows evaluated per second and the rows held at any time."""

    workload: Workload
    evaluated: float = 0.0
    windows: float = 0.0
    held: float = 0.0
    values: float = 0.0

    def flow(self, plan: Plan, paned: bool = False) -> Flow:
        """Return the output of an operator.

        With `paned`, an aggregate above keeps panes and the window keeps no rows.
        """
        match plan:
            case Scan():
                return _stream(self.workload.rate)
            case View(query=query):
                return _stream(Meter(self.workload).flow(query).emitted)
            case Subquery(query=query):
                return _stream(self.flow(query).emitted)
            case Window(child=child):
                return self.window(plan, self.flow(child).emitted, paned)
            case Frequency(child=child, by=by, every=every):
                return self.frequency(plan, self.flow(child), self.apart(by), every)
            case Select(child=child):
                return self.select(plan, self.flow(child, paned))
            case Aggregate(child=child, pane=pane):
                return self.aggregate(plan, self.flow(child, pane is not None))
            case Join(left=left, right=right):
                return self.join(plan, self.flow(left), self.flow(right))
            case Union() | Minus() | Distinct():
                return self.merge(plan, [self.flow(each) for each in inputs(plan)])
            case _:
                return self.flow(inputs(plan)[0], paned)

    def apart(self, by: tuple[str, ...]) -> float:
        return self.workload.parts if by else 1.0

    def window(self, plan: Window, rate: float, paned: bool) -> Flow:
        apart = self.apart(plan.by)
        size = rate * _seconds(plan.range) / apart if plan.range.is_time else float(plan.range.amount)
        instants = apart / _seconds(plan.every) if plan.every.is_time else rate / plan.every.amount
        self.windows += instants
        if not paned:
            self.hold(plan, size * apart * _share(plan))
        return Flow(instants, size, rate if plan.every == ONE_TUPLE else instants * size)

    def frequency(self, plan: Frequency, rows: Flow, apart: float, every: Length) -> Flow:
        """Return the output of a frequency.

        Over a window, all windows are computed and most discarded; else rows are sampled.
        """
        if isinstance(plan.child, Window) and plan.child.every == ONE_TUPLE:
            instants = apart / _seconds(every) if every.is_time else rows.instants / every.amount
            return Flow(instants, rows.size / apart, instants * rows.size / apart)
        self.evaluated += rows.emitted
        self.hold(plan, apart)
        return _stream(min(rows.emitted, apart / _seconds(every)) if every.is_time else rows.emitted / every.amount)

    def select(self, plan: Select, rows: Flow) -> Flow:
        self.evaluated += rows.instants * rows.size
        kept = self.workload.share ** len(conjuncts(plan.condition))
        return Flow(rows.instants, rows.size * kept, rows.emitted * kept)

    def aggregate(self, plan: Aggregate, rows: Flow) -> Flow:
        window = next((each for each in walk(plan.child) if isinstance(each, Window)), None)
        one = not plan.group or (window is not None and len(window.by) >= len(plan.group))
        groups = 1.0 if one else min(rows.size, self.workload.parts)
        if plan.pane is not None and window is not None:
            in_pane = rows.size * plan.pane / window.range.amount
            kept = window.range.amount / plan.pane * min(groups, in_pane)
            self.evaluated += in_pane * MICROSECONDS["second"] / plan.pane + rows.instants * kept
            self.hold(plan, kept)
        else:
            self.evaluated += rows.instants * rows.size
        at_rows = window is not None and window.every == ONE_TUPLE
        return Flow(rows.instants, groups, rows.emitted if at_rows else rows.instants * groups)

    def join(self, plan: Join, left: Flow, right: Flow) -> Flow:
        share = 1 / self.workload.parts if _on_equality(plan) else 1.0
        at_rows = left.instants == left.emitted
        pairs = left.size * right.size * share
        made = (left.emitted * right.size + right.emitted * left.size) * share if at_rows else left.instants * pairs
        self.evaluated += made
        return Flow(left.instants, pairs, made)

    def merge(self, plan: Plan, sides: list[Flow]) -> Flow:
        if not isinstance(plan, Union):
            self.evaluated += sum(side.instants * side.size for side in sides)
            return sides[0]
        return Flow(*(sum(getattr(side, name) for side in sides) for name in ("instants", "size", "emitted")))

    def hold(self, plan: Plan, rows: float) -> None:
        self.held += rows
        self.values += rows * len(schema_of(plan))


def _stream(rate: float) -> Flow:
    return Flow(rate, 1.0, rate)


def _seconds(length: Length) -> float:
    return length.amount / MICROSECONDS["second"]


def _share(window: Window) -> float:
    """Return the share of the rows that some window will hold (CSQL section 9, jump_to)."""
    alike = window.every.kind is window.range.kind
    return min(1.0, window.range.amount / window.every.amount) if alike else 1.0


def _on_equality(join: Join) -> bool:
    return any(isinstance(parse_expr(part.sql), exp.EQ) for part in conjuncts(join.condition))
