"""Windows that are evaluated at every row (FREQUENCY 1 TUPLE): each row yields its own group's result, or itself.

Kept with aggregates: their entries for the rows that are in the window of a later row (the last RANGE ticks before the
punctuation, or the last RANGE tuples of each part), and a tally per group with such rows. Without aggregates only the
count of rows is kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import Ints, scattered
from slackwater.engine.columns.keys import Keys
from slackwater.engine.columns.order import counted
from slackwater.engine.columns.rows import ROW_NUMBER, Rows
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.entries import ExitClock, Points, base
from slackwater.engine.operators.grouping import Grouping
from slackwater.engine.operators.groups import Parts
from slackwater.engine.operators.schedules import counting
from slackwater.engine.operators.steps import Span, apply_steps, below
from slackwater.engine.plan import AggregateStep, Step, WindowStep


class RowStream:
    """A window without an aggregate: a row yields itself, with its number in its part if `numbered`."""

    def __init__(self, name: str, window: WindowStep, inner: Sequence[Step], sample: Rows, numbered: bool) -> None:
        self.by = window.by
        self.inner = list(inner)
        self.numbered = numbered
        self.parts = Parts(f"{name}.parts", [sample.column(each).type for each in window.by])

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        if self.numbered:
            part = self.parts.encode(memory, [rows.column(name) for name in self.by], len(rows))
            rows = rows.marked(ROW_NUMBER, self.parts.number(memory, part))
        return apply_steps(self.inner, rows), span


class RowWindow:
    """`RANGE r` or `RANGE n TUPLES` of each part, the filters and projections above it, and its aggregate."""

    def __init__(
        self,
        name: str,
        window: WindowStep,
        inner: Sequence[Step],
        aggregate: AggregateStep,
        sample: Rows,
        numbered: bool,
    ) -> None:
        self.window = window
        self.inner = list(inner)
        self.counted = numbered or not window.range.is_time
        self.parts = Parts(f"{name}.parts", [sample.column(each).type for each in window.by])
        self.grouping = Grouping(name, window.by, inner, aggregate, sample, False, self._parts_keys())

    def _parts_keys(self) -> Keys | None:
        """Return the codes of the parts if rows leave by the count of their part, else None."""
        return None if self.window.range.is_time else self.parts.keys

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        if not self.counted:
            return self._aggregated(memory, rows, rows.time, ExitClock(span.before, span.now), None), span
        by = self.window.by
        part = self.parts.encode(memory, [rows.column(name) for name in by], len(rows))
        before = self.parts.counts(memory)
        number = self.parts.number(memory, part)
        rows = rows.marked(ROW_NUMBER, number)
        if self.window.range.is_time:
            return self._aggregated(memory, rows, rows.time, ExitClock(span.before, span.now), None), span
        clock = counting(before + 1, self.parts.counts(memory) + 1, bool(by))
        return self._aggregated(memory, rows, number, clock, part if by else None), span

    def _aggregated(self, memory: Memory, rows: Rows, at: Ints, clock: ExitClock, part: Ints | None) -> Rows:
        """Return the results of the rows that pass the filters. Each is a point and enters there; `at` is its clock."""
        groups, aggregates = self.grouping.groups, self.grouping.aggregates
        left = below(self.inner, rows)
        at, part = left.of(at), None if part is None else left.of(part)
        exits = at + self.window.range.amount
        keys = self.grouping.keys(left)
        code = groups.encode(memory, keys, len(left.rows), clock.before, part)
        groups.note(memory, code, exits, part, clock.before)
        order = counted(code)
        points = Points(code.take(order), order, at.take(order), own=True)
        entries = base(code, np.arange(len(code)), exits, part, at)
        fresh = aggregates.entries(entries, aggregates.evaluated(left.rows))
        gone = aggregates.expire(memory, clock)
        found = aggregates.step(memory, clock, gone, fresh, points, groups.keys.size(memory))
        groups.trim(memory, clock.now)
        if not len(order):
            return self.grouping.nothing(left.rows)
        back = pa.array(scattered(np.arange(len(order)), order))
        calls = [column.take(back) for column in aggregates.calls.columns(*found)]
        return self.grouping.result(keys, calls, left.rows)
