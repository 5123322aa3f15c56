"""Chains with final answers as inputs of a tree, and windows at boundaries that are read together.

A subquery with a window and an aggregate yields a stream: its rows live for ever, or, at boundaries, until the next.
They are never retracted, so the operators of EMIT FINAL (`engine/chain.py`) compute them.

Windows at boundaries that are read together are a *meeting*: each is evaluated wherever another one is. An extent ends
by itself. A window of the last n rows does not: it has an answer at every boundary that the punctuation has passed, and
after a flush at the boundaries at which any other window of the meeting is evaluated. These boundaries are known only
after all windows were asked, so `ChangelogKernel.step` repeats a flush until no new boundary is found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from slackwater.engine.chain import Compiled, compiled
from slackwater.engine.changelog.inputs import Taken
from slackwater.engine.changelog.log import TupleLog, Tuples, in_order, of_tuples
from slackwater.engine.columns.arrays import EARLIEST, LATEST, NO_INTS, Ints, firsts, moments, stable, type_name
from slackwater.engine.columns.rows import CAME, Rows
from slackwater.engine.columns.state import Memory, State
from slackwater.engine.operators.hold import enter_rows
from slackwater.engine.operators.instants import spread
from slackwater.engine.operators.steps import RowWise, Span
from slackwater.engine.plan import (
    AggregateStep,
    Chain,
    DistinctStep,
    FilterStep,
    Input,
    NamedTree,
    ProjectStep,
    Step,
    WindowStep,
    is_slotted,
)


def meeting_name(number: int) -> str:
    """Return the name under which the state keeps the boundaries of a meeting."""
    return f"meeting.{number}"


SETTLED = "settled"
"""The name under which a query keeps the time that all its inputs have reached, if one of them waits for slots."""


def settled(memory: Memory, mark: int) -> int:
    """Return the time that all windows have reached if one has reached `mark`: windows over samples may be behind."""
    return min(mark, memory.number(SETTLED, mark))


class Meeting:
    """The later boundaries at which a window of a meeting is evaluated, as multiples of its slide."""

    def __init__(self, number: int, slide: int) -> None:
        self.name = meeting_name(number)
        self.slide = slide

    def note(self, memory: Memory, first: Ints, last: Ints, span: Span) -> None:
        """Add all boundaries from `first` to `last` of each row."""
        passed = EARLIEST if span.now == LATEST else settled(memory, span.now) // self.slide
        before = memory.ints(self.name)
        found = _ranges(np.maximum(first, passed + 1), last)
        memory.put(self.name, np.union1d(before[before > passed], found))

    def next(self, memory: Memory, time: Ints, span: Span) -> None:
        """Add the boundary after each time."""
        after = time // self.slide + 1
        self.note(memory, after, after, span)


def _ranges(first: Ints, last: Ints) -> Ints:
    """Return the numbers of all ranges; ranges with the same start are merged.

    >>> sorted(_ranges(np.array([4, 1, 4]), np.array([5, 1, 6])).tolist())
    [1, 4, 5, 6]
    """
    order = stable(first)
    order = order[last[order] >= first[order]]
    if not len(order):
        return NO_INTS
    starts = np.flatnonzero(firsts(first[order]))
    begin, end = first[order][starts], np.maximum.reduceat(last[order], starts)
    return spread(begin, end - begin + 1)[1]


class MeetingSide:
    """One chain of a meeting. Its instants are those of its last window, or the rows of its last subquery.

    `place` is the operator before which the instants are known. Kept for a window that counts rows: the boundaries
    after its first and its last row.
    """

    def __init__(self, number: int, steps: Sequence[Step], compiled: Compiled, slide: int) -> None:
        self.meeting = Meeting(number, slide)
        within = (FilterStep, ProjectStep, AggregateStep, DistinctStep)
        last = max(place for place, step in enumerate(steps) if not isinstance(step, within))
        border = next(border for border in compiled.borders if border.steps > last)
        step = steps[last]
        self.window = step if isinstance(step, WindowStep) else None
        self.counts = self.window is not None and not self.window.range.is_time
        self.place = border.operators - 1 if self.window else border.operators

    def met(self, memory: Memory, within: Memory, time: Ints, span: Span) -> Span:
        """Add the boundaries that rows at these times need. Return the span with the last boundary of the meeting."""
        slide = self.meeting.slide
        if self.window is None:
            self.meeting.next(memory, time, span)
        elif not self.counts:
            self.meeting.note(memory, time // slide + 1, (time + self.window.range.amount) // slide, span)
        else:
            self._goes_on(memory, within, time // slide + 1, span)
        known = memory.ints(self.meeting.name)
        return replace(span, reach=int(known[-1]) * slide if len(known) else EARLIEST)

    def _goes_on(self, memory: Memory, within: Memory, after: Ints, span: Span) -> None:
        """Add the boundaries of a window of n rows at a flush: from after its first row to after its last row."""
        own = np.append(within.ints("own"), after)
        if len(own):
            own = np.array([own.min(), own.max()])
            within.put("own", own)
        if span.now == LATEST:
            begin = settled(memory, span.before) // self.meeting.slide + 1
            last = np.maximum(own[1:], span.before // self.meeting.slide)  # it was evaluated up to here before
            self.meeting.note(memory, np.maximum(own[:1], begin), last, span)

    def held(self, memory: Memory, rows: Rows, span: Span) -> Rows:
        """Return the rows; after a flush only those at boundaries of the meeting."""
        if not self.counts or span.now < LATEST:
            return rows
        return rows.at(np.isin((rows.time + 1) // self.meeting.slide, memory.ints(self.meeting.name)))


TIME = "#time"
"""The column with the event time of rows from other operators, which may not have one of their own."""
ARRIVAL = "#arrival"
"""The column with the arrival of rows from other operators."""


class ChainReader:
    """One chain over one input; its rows have their places among those of other streams (inputs.py)."""

    def __init__(self, name: str, chain: Chain, lifetime: int | None, meeting: int | None = None) -> None:
        self.prefix = f"{name}."
        self.chain = chain
        self.compiled = compiled(chain, came=chain.input.arrival is not None)
        self.lifetime = lifetime
        self.side = (
            MeetingSide(meeting, chain.steps, self.compiled, lifetime) if meeting is not None and lifetime else None
        )
        self.operators = (*self.compiled.operators, RowWise(()))
        self.slotted = any(map(is_slotted, chain.steps))
        self.none = pa.RecordBatch.from_pylist([], self.chain.input.schema)
        self.sample = self.step(Memory(State()), self.none, Span(EARLIEST, EARLIEST)).log.born

    def step(self, memory: Memory, batch: pa.RecordBatch, span: Span) -> Taken:
        """Take in a batch; `span` is that of the query's clock."""
        within = memory.within(self.prefix)
        rows, through = enter_rows(within, self.chain.input, batch), span
        for place, operator in enumerate(self.operators):
            here = self.side if self.side is not None and place == self.side.place else None
            if here is not None:
                through = here.met(memory, within, rows.time, through)
            rows, through = operator.step(within, rows, through)
            if here is not None:
                rows = here.held(memory, rows, through)
        last = LATEST if self.lifetime is None else np.minimum(rows.time, LATEST - self.lifetime) + self.lifetime
        end = np.broadcast_to(last, len(rows)).copy()
        tuples = Tuples(rows.batch, rows.time, end, (rows.time, came(rows), within.next("results", len(rows))))
        return Taken(in_order(of_tuples(tuples)), self.none, through.now if self.slotted else LATEST)


def came(rows: Rows) -> Ints:
    """Return the arrivals of the rows that caused these; EARLIEST at a boundary, where no row causes the result."""
    mark = rows.marks.get(CAME)
    arrival: Ints = np.full(len(rows), EARLIEST) if mark is None else mark.to_numpy()
    return arrival


class Pipe:
    """A chain of steps, such as a window or a frequency, over ordered rows of other operators."""

    def __init__(
        self,
        name: str,
        steps: Sequence[Step],
        lifetime: int | None,
        sample: Tuples,
        meeting: int | None = None,
    ) -> None:
        fields = [(field.name, type_name(field.type)) for field in sample.rows.schema]
        given = ProjectStep(tuple(NamedTree(column, ("column", column), kind) for column, kind in fields))
        stream = Input((*fields, (TIME, "timestamp"), (ARRIVAL, "timestamp")), TIME, ARRIVAL)
        chain = Chain(stream, (given, *steps))
        self.reader = ChainReader(name, chain, lifetime, meeting)

    def step(self, memory: Memory, log: TupleLog, span: Span) -> Taken:
        _, arrival, _ = log.born.ids
        rows = log.born.rows.append_column(TIME, moments(log.born.start))
        rows = rows.append_column(ARRIVAL, moments(arrival, arrival > EARLIEST))
        return self.reader.step(memory, rows, span)
