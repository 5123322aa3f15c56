"""Windows whose rows leave when others come: RANGE n TUPLES, and windows that jump every m rows.

A row is in the window of the instants of its part that hold it: of a range in tuples those with fewer than n rows of
the part after it, of a range in time those less than r later. It begins at the first instant that holds it and is ended
at the first that does not; when that will be is not known at its birth, so it has no bound. Of several instants of one
part at one time the last counts. Kept: the rows of each part that are held, and those that wait for the next instant.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.codes import Codes
from slackwater.engine.changelog.living import Living, Members, tuples_of, with_code
from slackwater.engine.changelog.log import Log, Tuples, in_order, together
from slackwater.engine.changelog.structures import STRUCTURES
from slackwater.engine.columns.arrays import NO_INTS, Bools, Index, Ints, table
from slackwater.engine.columns.keys import normal
from slackwater.engine.columns.order import bounds, counted, firsts, positions
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.groups import Parts
from slackwater.engine.operators.steps import Span
from slackwater.engine.plan import NUMBERED, Window

PLACE, TIME = "#place", "#time"
"""The number of a row in its part, and its own time: as a tuple it begins when an instant holds it."""


@dataclass(frozen=True, slots=True)
class Instants:
    """The instants of parts, by code, then place: the place of the row that causes each, and its time."""

    code: Ints
    place: Ints
    time: Ints
    finish: Ints

    def from_place(self, code: Ints, place: Ints) -> Index:
        """The first instant at or after a place; the end of the part's instants if there is none."""
        return positions(self.code, self.place, code, place - 1)

    def from_time(self, code: Ints, time: Ints) -> Index:
        return positions(self.code, self.time, code, time - 1)


class Counted:
    """One window over a stream, taken apart by the columns `by`, evaluated at every `every`-th row of `count_by`."""

    def __init__(
        self,
        name: str,
        window: Window,
        sample: Tuples,
        numbered: bool = False,
    ) -> None:
        self.name, self.length, self.every, self.numbered = name, window.range, window.every.amount, numbered
        by, count_by = self.by, self.count_by = window.by, window.count_by
        kinds = {field.name: field.type for field in sample.rows.schema}
        self.parts = Codes(f"{name}.parts", [kinds[each] for each in by])
        self.counts = Parts(f"{name}.counts", [kinds[each] for each in count_by], cycle=self.every)
        self.waiting, self.held = (Living(f"{name}.{each}", STRUCTURES[4]) for each in ("waiting", "held"))

    def step(self, memory: Memory, log: Log, span: Span) -> Log:
        rows = log.born
        code = self.parts.encode(memory, [normal(rows.rows.column(name)) for name in self.by], len(rows))
        place = self._places(memory, code)
        instants = self._instants(memory, rows, code, place)
        new = with_code(rows.holding(marked(rows, place, self.numbered)), code)
        waiting = self.waiting.step(memory, new, (), NO_INTS, span, keep=False)
        held = self.held.step(memory, new.slice(0, 0), (), NO_INTS, span, keep=False)
        begun, begun_code, seen = self._begun(waiting, instants)
        self.waiting.keep(memory, waiting, ~seen, span)
        old = tuples_of(held.kept)
        both, codes = together(old, begun), np.concatenate([held.code, begun_code])
        leave = self._leave(both, codes, instants)
        gone = leave < instants.finish[codes]
        at, place = instants.time[leave[gone]], np.arange(len(both)) - len(old)
        made = Log(begun, both.at(gone), at, np.maximum(place, -1)[gone])
        self.held.step(memory, with_code(begun, begun_code), made.ended.ids, at, span)
        self._settle(memory, [waiting.code[~seen], codes[~gone]])
        return in_order(Log(unmarked(made.born), unmarked(made.ended), made.at, made.of))

    def _begun(self, waiting: Members, instants: Instants) -> tuple[Tuples, Ints, Bools]:
        """The rows that an instant holds from now on, their codes, and all rows that have seen an instant."""
        rows, code = tuples_of(waiting.kept), waiting.code
        enter = instants.from_place(code, _mark(rows, PLACE))
        seen = enter < instants.finish[code]
        begins = seen & (self._leave(rows, code, instants) > enter)
        since = instants.time[enter[begins]]
        begun = replace(rows.at(begins), start=since)
        if self.numbered:
            column = begun.rows.schema.get_field_index(NUMBERED)
            numbers = pa.array(instants.place[enter[begins]])
            begun = begun.holding(begun.rows.set_column(column, NUMBERED, numbers))
        return begun, code[begins], seen

    def _leave(self, rows: Tuples, code: Ints, instants: Instants) -> Index:
        """The first instant that does not hold a row any longer."""
        place = _mark(rows, PLACE)
        if not self.length.is_time:
            return instants.from_place(code, place + self.length.amount)
        late = instants.from_time(code, _mark(rows, TIME) + self.length.amount)
        return np.maximum(late, instants.from_place(code, place))

    def _settle(self, memory: Memory, codes: list[Ints]) -> None:
        """Parts of which nothing is kept lose their code."""
        left = self.parts.settle(memory, np.bincount(np.concatenate(codes), minlength=self.parts.size(memory)))
        memory.put(f"{self.name}.last", memory.ints(f"{self.name}.last")[:left])

    def _places(self, memory: Memory, code: Ints) -> Ints:
        """The number of each row in its part, from 1 on; a part that holds nothing begins anew."""
        size = self.parts.size(memory)
        last = np.zeros(size, np.int64)
        known = memory.ints(f"{self.name}.last")[:size]
        last[: len(known)] = known
        order = counted(code)
        starts, ends = bounds(firsts(code[order]))
        place = np.empty(len(code), np.int64)
        place[order] = np.arange(1, len(code) + 1) - np.repeat(starts, ends - starts) + last[code[order]]
        np.maximum.at(last, code, place)
        memory.put(f"{self.name}.last", last)
        return place

    def _instants(self, memory: Memory, rows: Tuples, code: Ints, place: Ints) -> Instants:
        chosen = np.ones(len(rows), np.bool_)
        if self.every > 1 and len(rows):
            part = self.counts.encode(memory, [rows.rows.column(name) for name in self.count_by], len(rows))
            chosen = self.counts.number(memory, part) % self.every == 0
        order = np.flatnonzero(chosen)
        order = order[counted(code[order])]
        _, ends = bounds(firsts(code[order], rows.start[order]))
        last = order[ends - 1]
        finish = np.searchsorted(code[last], np.arange(self.parts.size(memory)), side="right")
        return Instants(code[last], place[last], rows.start[last], finish)


def marked(rows: Tuples, place: Ints, numbered: bool) -> pa.RecordBatch:
    """The columns of rows, with their place in their part and their time; the number of their instant is to come."""
    columns = dict(zip(rows.rows.schema.names, rows.rows.columns, strict=True))
    number = {NUMBERED: place} if numbered else {}
    return table({**columns, **number, PLACE: place, TIME: rows.start})


def unmarked(rows: Tuples) -> Tuples:
    return rows.holding(rows.rows.drop_columns([PLACE, TIME]))


def _mark(rows: Tuples, name: str) -> Ints:
    values: Ints = rows.rows.column(name).to_numpy()
    return values
