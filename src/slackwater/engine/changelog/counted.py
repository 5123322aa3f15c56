"""Windows whose rows leave when other rows enter: RANGE n TUPLES, windows that jump every m rows, and their joins.

An instant of a part contains a row if fewer than n rows of the part come after the row (a range in tuples), or if the
instant is less than r later (a range in time). The tuple of the row begins at the first instant that contains it and
ends at the first later one that does not. That instant is not known in advance, so the tuple has no bound. Of several
instants of one part at one time the last counts. Kept: the rows of each part that are in the window, and the rows that
wait for the next instant.

In a join of such windows every row is an instant (a turn) of its own, even at equal times. A row is paired with the
contents of the other windows at its turn. Time alone does not tell these contents: of two rows at one time, the second
may push the first out of its window after the first was paired. So the operators below use another clock, the number of
the turn: the rows of all streams in sequence order, counted from 0. A window of time ends a row at the first turn that
is late enough. `by_time` converts the results back to times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.living import CODE, STRUCTURES, LivingTuples, Members, tuples_of, with_code
from slackwater.engine.changelog.log import TupleLog, Tuples, in_order, located, of_tuples, together
from slackwater.engine.columns.arrays import (
    LATEST,
    NO_INTS,
    Bools,
    Index,
    Ints,
    bounds,
    column,
    counted,
    firsts,
    positions,
    scattered,
    table,
)
from slackwater.engine.columns.keys import Codes, Parts, normal, numbered_within
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.steps import Span
from slackwater.engine.plan import NUMBERED, WindowStep

PLACE, TIME = "#place", "#time"
"""Columns with the number of a row in its part, and its event time; its tuple begins at an instant, maybe later."""


@dataclass(frozen=True, slots=True)
class CountedInstants:
    """The instants of parts, sorted by code, then place: the place and time of the row that causes each."""

    code: Ints
    place: Ints
    time: Ints
    finish: Ints

    def from_place(self, code: Ints, place: Ints) -> Index:
        """Return the first instant at or after a place, or the end of the part's instants if there is none."""
        return positions(self.code, self.place, code, place - 1)

    def from_time(self, code: Ints, time: Ints) -> Index:
        return positions(self.code, self.time, code, time - 1)


class Counted:
    """A window over each part (`by`) of a stream, evaluated at every `every`-th row of each part of `count_by`."""

    def __init__(
        self,
        name: str,
        window: WindowStep,
        sample: Tuples,
        numbered: bool = False,
    ) -> None:
        self.name, self.length, self.every, self.numbered = name, window.range, window.every.amount, numbered
        by, count_by = self.by, self.count_by = window.by, window.count_by
        kinds = {field.name: field.type for field in sample.rows.schema}
        self.parts = Codes(f"{name}.parts", [kinds[each] for each in by])
        self.counts = Parts(f"{name}.counts", [kinds[each] for each in count_by], cycle=self.every)
        self.waiting, self.held = (LivingTuples(f"{name}.{each}", STRUCTURES[4]) for each in ("waiting", "held"))

    def step(self, memory: Memory, span: Span, log: TupleLog) -> TupleLog:
        rows = log.born
        code = self.parts.encode(memory, [normal(rows.rows.column(name)) for name in self.by], len(rows))
        place = self._places(memory, code)
        instants = self._instants(memory, rows, code, place)
        new = with_code(rows.holding(marked(rows, place, self.numbered)), code)
        waiting = self.waiting.step(memory, new, (), NO_INTS, span, keep=False)
        held = self.held.step(memory, new.slice(0, 0), (), NO_INTS, span, keep=False)
        begun, begun_code, seen = self._begun(waiting, instants)
        self.waiting.keep(memory, waiting, ~seen)
        old = tuples_of(held.kept)
        both, codes = together(old, begun), np.concatenate([held.code, begun_code])
        leave = self._leave(both, codes, instants)
        gone = leave < instants.finish[codes]
        at, place = instants.time[leave[gone]], np.arange(len(both)) - len(old)
        made = TupleLog(begun, both.at(gone), at, np.maximum(place, -1)[gone])
        self.held.step(memory, with_code(begun, begun_code), made.ended.ids, at, span)
        self._settle(memory, [waiting.code[~seen], codes[~gone]])
        return in_order(TupleLog(unmarked(made.born), unmarked(made.ended), made.at, made.of))

    def _begun(self, waiting: Members, instants: CountedInstants) -> tuple[Tuples, Ints, Bools]:
        """Return the tuples that begin, their codes, and a mask of the waiting rows that have seen an instant."""
        rows, code = tuples_of(waiting.kept), waiting.code
        enter = instants.from_place(code, column(rows.rows, PLACE))
        seen = enter < instants.finish[code]
        begins = seen & (self._leave(rows, code, instants) > enter)
        since = instants.time[enter[begins]]
        begun = replace(rows.at(begins), start=since)
        if self.numbered:
            index = begun.rows.schema.get_field_index(NUMBERED)
            numbers = pa.array(instants.place[enter[begins]])
            begun = begun.holding(begun.rows.set_column(index, NUMBERED, numbers))
        return begun, code[begins], seen

    def _leave(self, rows: Tuples, code: Ints, instants: CountedInstants) -> Index:
        """Return for each row the first instant that no longer contains it."""
        place = column(rows.rows, PLACE)
        if not self.length.is_time:
            return instants.from_place(code, place + self.length.amount)
        late = instants.from_time(code, column(rows.rows, TIME) + self.length.amount)
        return np.maximum(late, instants.from_place(code, place))

    def _settle(self, memory: Memory, codes: list[Ints]) -> None:
        """Release the codes of parts without rows."""
        left = self.parts.settle(memory, np.bincount(np.concatenate(codes), minlength=self.parts.size(memory)))
        memory.put(f"{self.name}.last", memory.ints(f"{self.name}.last")[:left])

    def _places(self, memory: Memory, code: Ints) -> Ints:
        """Return the number of each row in its part, from 1 on. A part without kept rows starts again at 1."""
        last = memory.sized(f"{self.name}.last", self.parts.size(memory))
        place = numbered_within(code, last)
        memory.put(f"{self.name}.last", last + np.bincount(code, minlength=len(last)))
        return place

    def _instants(self, memory: Memory, rows: Tuples, code: Ints, place: Ints) -> CountedInstants:
        chosen = np.ones(len(rows), np.bool_)
        if self.every > 1 and len(rows):
            part = self.counts.encode(memory, [rows.rows.column(name) for name in self.count_by], len(rows))
            chosen = self.counts.number(memory, part) % self.every == 0
        order = np.flatnonzero(chosen)
        order = order[counted(code[order])]
        _, ends = bounds(firsts(code[order], rows.start[order]))
        last = order[ends - 1]
        finish = np.searchsorted(code[last], np.arange(self.parts.size(memory)), side="right")
        return CountedInstants(code[last], place[last], rows.start[last], finish)


def marked(rows: Tuples, place: Ints, numbered: bool) -> pa.RecordBatch:
    """Return the columns of rows with their place and time. NUMBERED is set later, when an instant contains the row."""
    columns = dict(zip(rows.rows.schema.names, rows.rows.columns, strict=True))
    number = {NUMBERED: place} if numbered else {}
    return table({**columns, **number, PLACE: place, TIME: rows.start})


def unmarked(rows: Tuples) -> Tuples:
    return rows.holding(rows.rows.drop_columns([PLACE, TIME]))


class TurnStreams:
    """Streams of placed rows (inputs.py), some with a window of time.

    Kept: the number of turns so far, and the rows in windows of time.
    """

    def __init__(self, name: str, ranges: Sequence[int | None]) -> None:
        self.name, self.ranges = name, list(ranges)

    def step(self, memory: Memory, logs: Sequence[TupleLog]) -> tuple[list[TupleLog], Ints, Span]:
        """Return the streams with turns as their times, the time of each turn, and the span of turns."""
        born = [log.born for log in logs]
        leaf = np.repeat(np.arange(len(born)), [len(each) for each in born])
        time, arrival, number = (np.concatenate(each) for each in zip(*(each.ids for each in born), strict=True))
        order = np.lexsort((number, leaf, arrival, time))
        first = memory.number(self.name)
        span = Span(first, first + len(order))
        turn = scattered(memory.next(self.name, len(order)), order)
        times = time[order]
        made = [self._turned(memory, place, each, turn[leaf == place], times, first) for place, each in enumerate(born)]
        return made, times, span

    def _turned(self, memory: Memory, place: int, rows: Tuples, turn: Ints, times: Ints, first: int) -> TupleLog:
        """Return one stream with turns as times. Rows that left a window of time end at the next turn."""
        length = self.ranges[place]
        rows = replace(rows, start=turn, end=np.full(len(rows), LATEST))
        if length is None or not len(times):
            return of_tuples(rows)
        until = np.minimum(rows.ids[0], LATEST - length) + length
        name = f"{self.name}.{place}"
        due, store = memory.store(name, CODE).add(with_code(rows, until)).due(int(times[-1]))
        memory.put_store(name, store)
        if due is None:
            return of_tuples(rows)
        return located(rows, tuples_of(due), first + np.searchsorted(times, column(due, CODE)))


def by_time(log: TupleLog, times: Ints, span: Span) -> TupleLog:
    """Return the tuples that began, each from the time of its turn on."""
    born = log.born
    return of_tuples(replace(born, start=times[born.start - span.before], end=np.full(len(born), LATEST)))
