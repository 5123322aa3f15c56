"""Jumping windows: the whole window is emitted every n rows, or at boundaries of time over the last n rows.

Kept for the rows that are in the window of a later instant: with aggregates the partial aggregates of panes (rows that
enter and leave together) and a tally per group; without aggregates the rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import Bools
from slackwater.engine.columns.keys import ranked
from slackwater.engine.columns.rows import Rows
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.emission import WindowRelation, emit_groups, mark_instants, order_by_instant
from slackwater.engine.operators.entries import base
from slackwater.engine.operators.grouping import Grouping
from slackwater.engine.operators.schedules import AtBoundaries, AtRows, Scheduled
from slackwater.engine.operators.steps import Below, Span, apply_steps, below
from slackwater.engine.plan import AggregateStep, Step, WindowStep

SEQUENCE = "sequence"


def when(name: str, window: WindowStep, sample: Rows) -> AtRows | AtBoundaries:
    """Return the schedule that says when a jumping window is evaluated."""
    return (AtBoundaries if window.every.is_time and not window.strict else AtRows)(name, window, sample)


def entering(inner: Sequence[Step], scheduled: Scheduled, rows: Rows) -> tuple[Below, Scheduled]:
    """Return the rows that are in some window, with their enters and exits."""
    seen = None if scheduled.whole else useful(scheduled)
    left = below(inner, rows, seen)
    part = None if scheduled.part is None else left.of(scheduled.part)
    return left, Scheduled(scheduled.schedule, part, left.of(scheduled.enter), left.of(scheduled.exits))


def useful(scheduled: Scheduled) -> Bools:
    """Return a mask of the rows that are in some window of this batch or of a later one: CSQL's jump_to."""
    clock = scheduled.schedule.clock
    limit = clock.now if isinstance(clock.now, int) else clock.now[scheduled.part]
    held: Bools = clock.resolve(scheduled.exits, scheduled.part) > scheduled.enter
    return held | (scheduled.exits > limit)


class JumpGroups:
    """The groups of jumping windows at their instants."""

    def __init__(
        self, name: str, window: WindowStep, inner: Sequence[Step], aggregate: AggregateStep, sample: Rows
    ) -> None:
        self.when = when(name, window, sample)
        self.inner = list(inner)
        self.grouping = Grouping(name, window.by, inner, aggregate, sample, True, self.when.parts.keys)

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        left, some = entering(self.inner, self.when.step(memory, rows, span), Rows(rows.batch, rows.time))
        groups, aggregates, before = self.grouping.groups, self.grouping.aggregates, some.schedule.clock.before
        known = groups.live(memory, before)
        code = groups.encode(memory, self.grouping.keys(left), len(left.rows), before, some.part)
        groups.note(memory, code, some.exits, some.part, before)
        entries = base(code, some.enter, some.exits, some.part)
        fresh = aggregates.entries(entries, aggregates.evaluated(left.rows))
        return emit_groups(memory, self.grouping, some.schedule, known, fresh), span


class JumpRows:
    """The rows of jumping windows at their instants. At a boundary the order is by part, or the sequence if `whole`."""

    def __init__(self, name: str, window: WindowStep, inner: Sequence[Step], sample: Rows) -> None:
        self.when = when(name, window, sample)
        self.inner = list(inner)
        self.name, self.whole = name, window.whole
        self.by_part = isinstance(self.when, AtBoundaries) and bool(window.by) and not window.whole
        self.relation = WindowRelation(f"{name}.rows")
        self.sample = apply_steps(inner, sample)

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        placed = Rows(rows.batch, rows.time, self._places(memory, len(rows)))
        left, some = entering(self.inner, self.when.step(memory, rows, span), placed)
        entries = base(np.zeros(len(left.rows), np.int64), some.enter, some.exits, some.part)
        out, ordinal, part = self.relation.step(memory, some.schedule, self.relation.entries(entries, left.rows))
        rank = np.zeros(len(out), np.int64)
        if self.by_part and part is not None:
            rank = ranked(self.when.parts.keys.columns(memory))[part]
        order = order_by_instant(some.schedule.order(ordinal), out.marks[SEQUENCE].to_numpy() if self.whole else rank)
        return mark_instants(some.schedule, ordinal[order], rank[order]).holding(out.at(order).batch), span

    def _places(self, memory: Memory, count: int) -> dict[str, pa.Array]:
        """Return the places of rows in the sequence, if they are emitted in that order across parts."""
        if not self.whole:
            return {}
        first = memory.number(f"{self.name}.places")
        memory.put(f"{self.name}.places", first + count)
        return {SEQUENCE: pa.array(np.arange(first, first + count))}
