"""The result stream of a plan over the arrived rows: its instants, the relation at each, and the emitted rows.

Three views of an operator:

- `stream`: its rows in sequence, each with the batch in which it appears;
- `instants`: when it is evaluated;
- `relation`: the rows that it has at an instant.

One rule says when a row appears, for all of them: a row with event time t appears in the first batch whose punctuation
is beyond t. A row is released when t < P; a window with boundary b, whose results carry b - 1, when b <= P.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from slackwater.algebra.lengths import ONE_TUPLE, TICK, Length
from slackwater.algebra.nodes import (
    Aggregate,
    Disorder,
    Distinct,
    Emit,
    Frequency,
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
    walk,
)
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.properties.instants import instants_of
from slackwater.algebra.schema import Schema
from slackwater.semantics import relational
from slackwater.semantics.arrivals import ArrivalStore, record_store, sequence
from slackwater.semantics.expressions import scope_of
from slackwater.semantics.feeds import Clock, Feed
from slackwater.semantics.rows import Instant, Marks, Row
from slackwater.semantics.values import orders
from slackwater.semantics.windows import boundary_window, extents_of, parts, pick_rows, row_window


@dataclass(frozen=True, slots=True)
class Picked:
    """A window and its instants, whether the frequency is above the window or inside it.

    `by` partitions the stream; `count_by` says per which columns the instants of a tuple frequency are counted.
    """

    child: Plan
    range: Length
    every: Length
    by: tuple[str, ...]
    count_by: tuple[str, ...]
    strict: bool = False

    @property
    def at_boundaries(self) -> bool:
        return self.every.is_time and not self.strict


def window_of(plan: Plan) -> Picked | None:
    """Return an operator as a window: a `Window`, or a `Frequency` over a window at every row.

    None for other operators.
    """
    match plan:
        case Frequency(child=Window(every=every) as window, by=by, strict=strict) if every == ONE_TUPLE:
            return Picked(window.child, window.range, plan.every, window.by or by, by, strict)
        case Window(child=child, range=length, every=every, by=by):
            return Picked(child, length, every, by, by)
        case Subquery() | View() | Frequency() if instants_of(plan).at_boundaries:
            # A source with boundaries of its own is read at them: its relation holds the rows that it emitted there.
            slide = instants_of(plan).every
            return Picked(plan, slide, slide, (), ())
        case _:
            return None


@dataclass
class PlanRun:
    """One plan over one set of feeds. Computed rows are cached by operator, so operators must be separate objects."""

    clock_of_inputs: Clock
    stores: Mapping[int, ArrivalStore]
    numbers: Mapping[int, int]
    kept: dict[int, list[Row]] = field(default_factory=dict)
    stored: dict[int, list[Row]] = field(default_factory=dict)

    @classmethod
    def over(cls, plan: Plan, feeds: Mapping[str, Feed], clocks: Mapping[str, Clock]) -> PlanRun:
        scans = [node for node in walk(plan) if isinstance(node, Scan)]
        clock = reduce(Clock.slower, clocks.values())
        stores = {id(scan): record_store(scan, feeds.get(scan.stream, Feed())) for scan in scans}
        return cls(clock, stores, {id(node): number for number, node in enumerate(walk(plan))})

    def clock(self, plan: Plan) -> Clock:
        """Return the punctuations of an operator's stream: no later row is below them.

        A query has one clock, the slowest of its inputs. The last row of a slot is known when the slot has passed.
        """
        match plan:
            case Scan():
                return self.clock_of_inputs
            case Frequency(child=child, every=every, strict=False) if every.is_time and not is_jump(plan):
                return self.clock(child).wait_for_slots(every.amount)
            case _:
                clock, *others = [self.clock(each) for each in inputs(plan)]
                return clock.slower(others[0]) if others else clock

    def arrivals(self, plan: Plan) -> list[Row]:
        """Return the record store as an extent sees it: every row, late or not, with the batch of its arrival."""
        if id(plan) not in self.stored:
            self.stored[id(plan)] = self._arrivals(plan)
        return self.stored[id(plan)]

    def _arrivals(self, plan: Plan) -> list[Row]:
        match plan:
            case Scan():
                return list(self.stores[id(plan)].rows)
            case Disorder(child=child):
                return self.arrivals(child)
            case Select(child=child, condition=condition):
                return relational.select(self.arrivals(child), condition, schema_of(child))
            case Project(child=child, items=items):
                return relational.project(self.arrivals(child), items, schema_of(child))
            case _:
                return self.stream(plan)

    def stream(self, plan: Plan) -> list[Row]:
        """Return the rows of an operator in sequence, each with the batch in which it appears."""
        if id(plan) not in self.kept:
            self.kept[id(plan)] = self._stream(plan)
        return self.kept[id(plan)]

    def _stream(self, plan: Plan) -> list[Row]:
        match plan:
            case Scan():
                return sequence(self.stores[id(plan)], self.clock_of_inputs)
            case Disorder(child=child) | Emit(child=child):
                return self.stream(child)
            case Subquery(query=query) | View(query=query):
                return [
                    replace(row, marks=replace(row.marks, row_time=row.time, row_number=number))
                    for number, row in enumerate(self.stream(query), start=1)
                ]
            case Select(child=child, condition=condition):
                return relational.select(self.stream(child), condition, schema_of(child))
            case Project(child=child, items=items):
                return relational.project(self.stream(child), items, schema_of(child))
            case Frequency(child=child, every=every, by=by, strict=strict) if not is_jump(plan):
                part = by_columns(by, schema_of(child))
                rows = pick_rows(self.stream(child), every, strict, lambda row: row.time, part)
                return self.appearing(plan, rows)
            case Union(left=left, right=right):
                sides = [
                    (row.place_in(side), row) for side, each in enumerate((left, right)) for row in self.stream(each)
                ]
                rows = [row for _, row in sorted(sides, key=lambda pair: pair[0])]
                return self.appearing(plan, [replace(row, position=place) for place, row in enumerate(rows)])
            case _:
                return self.emit(plan)

    def appearing(self, plan: Plan, rows: list[Row]) -> list[Row]:
        """Return the rows that are visible by this operator's clock, with the batch from which they are."""
        clock = self.clock(plan)
        seen = [(row, clock.first_beyond(row.time)) for row in rows]
        return [replace(row, batch=batch) for row, batch in seen if batch is not None]

    def emit(self, plan: Plan) -> list[Row]:
        """Return the rows that the instants of a windowed operator emit, one instant after the other.

        A row-level instant emits only the contribution of the new row, any other instant the whole relation.
        """
        rows: list[Row] = []
        for instant in self.passed_instants(plan):
            relation = self.relation(plan, instant)
            for row in [row for row in relation if instant.whole or row.new]:
                arrival = instant.cause.arrival if instant.cause else None
                rows.append(Row(row.values, instant.time, instant.batch, arrival, len(rows), row.marks))
        return rows

    def passed_instants(self, plan: Plan) -> list[Instant]:
        """Return the instants that have passed, in order, each with its batch."""
        clock = self.clock(plan)
        come = [(instant, clock.first_beyond(instant.time)) for instant in self.instants(plan)]
        return [replace(instant, batch=batch) for instant, batch in come if batch is not None]

    def instants(self, plan: Plan) -> list[Instant]:
        """Return the instants of an operator: those of all its inputs."""
        window = window_of(plan)
        if window is not None:
            return self.boundaries(plan, window) if window.at_boundaries else self.row_instants(plan, window)
        match plan:
            case Join(left=left, right=right) | Minus(left=left, right=right) | Union(left=left, right=right):
                both = {each.place: each for side in (left, right) for each in self.instants(side)}
                return [replace(both[place], part=None) for place in sorted(both)]
            case Select(child=child) | Project(child=child) | Aggregate(child=child) | Distinct(child=child):
                return self.instants(child)
            case _:
                return [Instant(row.time, row, self.numbers[id(plan)], whole=False) for row in self.stream(plan)]

    def row_instants(self, plan: Plan, window: Picked) -> list[Instant]:
        """Return an instant for every row of the input, or every n-th.

        Only with FREQUENCY 1 TUPLE does an instant emit just its own row.
        """
        schema = schema_of(window.child)
        count_by, part = by_columns(window.count_by, schema), by_columns(window.by, schema)
        rows = pick_rows(self.stream(window.child), window.every, window.strict, lambda row: row.time, count_by)
        whole = window.every != ONE_TUPLE
        return [Instant(row.time, row, self.numbers[id(plan)], part=part(row), whole=whole) for row in rows]

    def boundaries(self, plan: Plan, window: Picked) -> list[Instant]:
        """Return the boundaries at which some row is in the window, per part.

        Results carry the boundary minus one tick.
        """
        part = by_columns(window.by, schema_of(window.child))
        found = {
            (boundary, key)
            for key, rows in parts(self.rows_read_by(plan, window), part).items()
            for boundary in self.boundaries_of(plan, window, rows)
        }
        return [
            Instant(boundary - TICK, leaf=self.numbers[id(plan)], boundary=boundary, part=key)
            for boundary, key in sorted(found)
        ]

    def boundaries_of(self, plan: Plan, window: Picked, rows: list[Row]) -> set[int]:
        """Return the boundaries that have rows of one part before them.

        The last n rows are present at every boundary after the first row. A flush ends that at the first boundary after
        the last row, because later windows would hold the same rows.
        """
        slide = window.every.amount
        if window.range.is_time:
            return {each for row in rows for each in extents_of(row.time, window.range.amount, slide)}
        clock = self.clock(plan)
        last = max(row.time for row in self.rows_read_by(plan, window))
        until = max(clock.latest, (last // slide + 1) * slide) if clock.flushed else clock.latest
        first = (min(row.time for row in rows) // slide + 1) * slide
        return set(range(first, until + 1, slide))

    def rows_read_by(self, plan: Plan, window: Picked) -> list[Row]:
        """Return the rows that a window reads: the record store for an extent, else the sequence."""
        if window.child is plan:
            return self.stream(plan)
        if window.at_boundaries and window.range.is_time:
            return self.arrivals(window.child)
        return self.stream(window.child)

    def relation(self, plan: Plan, instant: Instant) -> list[Row]:
        """Return the rows of an operator at an instant."""
        window = window_of(plan)
        if window is not None:
            return self.window_rows(plan, window, instant)
        match plan:
            case Select(child=child, condition=condition):
                return relational.select(self.relation(child, instant), condition, schema_of(child))
            case Project(child=child, items=items):
                return relational.project(self.relation(child, instant), items, schema_of(child))
            case Aggregate(child=child):
                return relational.aggregate(self.relation(child, instant), plan, schema_of(child))
            case Distinct(child=child):
                return relational.distinct(self.relation(child, instant))
            case Join(left=left, right=right, condition=condition):
                sides = self.relation(left, instant), self.relation(right, instant)
                return relational.join(*sides, condition, schema_of(plan))
            case Union(left=left, right=right):
                return self.relation(left, instant) + self.relation(right, instant)
            case Minus(left=left, right=right):
                return relational.minus(self.relation(left, instant), self.relation(right, instant))
            case _:
                rows = self.up_to(plan, self.stream(plan), instant)
                return [mark_row(row, instant, instant.cause) for row in rows]

    def window_rows(self, plan: Plan, window: Picked, instant: Instant) -> list[Row]:
        """Return the rows in the window of the instant's part, or of every part, in sequence order."""
        part = by_columns(window.by, schema_of(window.child))
        seen = self.up_to(plan, self.rows_read_by(plan, window), instant)
        held: list[Row] = []
        for key, rows in parts(seen, part).items():
            if instant.part is not None and key != instant.part:
                continue
            if instant.boundary is not None:
                inside = boundary_window(rows, instant.boundary, window.range)
                start = instant.boundary - window.range.amount if window.range.is_time else None
                marks = Marks(instant.time, None, start, instant.boundary)
            else:
                inside = row_window(rows, instant.time, window.range)
                marks = Marks(instant.time, len(rows))
            for row in inside:
                # Rows that an operator emitted at its own boundaries keep the start of their extent.
                start = row.marks.window_start if window.child is plan else marks.window_start
                held.append(replace(row, marks=replace(marks, window_start=start), new=row is instant.cause))
        return sorted(held, key=lambda row: row.place)

    def up_to(self, plan: Plan, rows: list[Row], instant: Instant) -> list[Row]:
        """Return the rows known at an instant: arrived by its batch and, at a row, not after it in sequence order."""
        if instant.cause is None:
            return [row for row in rows if row.batch <= instant.batch]
        leaf = self.numbers[id(plan)]
        return [row for row in rows if row.place_in(leaf) <= instant.place]


def is_jump(plan: Plan) -> bool:
    """Return whether a frequency picks the instants of a window rather than rows."""
    return isinstance(plan, Frequency) and isinstance(plan.child, Window) and plan.child.every == ONE_TUPLE


def mark_row(row: Row, instant: Instant, cause: Row | None) -> Row:
    number = cause.marks.row_number if cause else None
    return replace(row, marks=Marks(instant.time, number), new=row is cause)


def by_columns(references: tuple[str, ...], schema: Schema) -> Any:
    """Return a function from a row to its partition: the values of the partition columns, as GROUP BY compares them."""
    scope = scope_of(schema)
    return lambda row: orders(scope.value(reference, row) for reference in references)
