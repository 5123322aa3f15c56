"""DISTINCT and EXCEPT over lifetimes (APAS 3.4, 3.5): one tuple represents each value of the left that the right lacks.

A tuple represents its value until it ends; then the live tuple with the latest bound takes over. A match on the right
ends it; when the match has ended, a tuple comes back (figure 6). Kept for each value: the tuple that represents it, the
one that takes over next, and the tuple of the right that ends last. If negative tuples may end them, all are kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.living import STRUCTURES, LivingTuples, Members, with_code
from slackwater.engine.changelog.log import TupleLog, Tuples, in_order
from slackwater.engine.changelog.timeline import NOTHING, Results, Sent, Shown, Stretches, Timeline
from slackwater.engine.columns.arrays import EARLIEST, LATEST, Bools, Index, Ints, firsts, last_of_each, stable, table
from slackwater.engine.columns.keys import Codes, normal
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.steps import Span

NUMBER = "began"


class Without:
    """The distinct values of the left that the right lacks; DISTINCT if there is no right."""

    def __init__(self, name: str, sample: Tuples, levels: Sequence[int]) -> None:
        self.name = name
        self.fields = list(sample.rows.schema)
        self.codes = Codes(f"{name}.values", [field.type for field in self.fields])
        self.structures = [STRUCTURES[level] for level in levels]
        self.sides = [
            LivingTuples(f"{name}.{side}", structure) for side, structure in zip("lr", self.structures, strict=False)
        ]
        self.shown = Shown(f"{name}.shown", [pa.int64()])

    def step(self, memory: Memory, span: Span, *logs: TupleLog) -> TupleLog:
        members = self._members(memory, logs, span)
        size = self.codes.size(memory)
        happens = [self._happens(each, log) for each, log in zip(members, logs, strict=True)]
        code, time = (np.concatenate(each) for each in zip(*happens, strict=True))
        line = Timeline(code, time, size)
        away = self._kept_away(line, members, len(happens[0][0]))
        number, bound, there = self._standing(memory, line, members[0], away)
        nothing = np.zeros(len(line), np.bool_)
        results = Results(line.code, line.time, there, nothing, [pa.array(number)], bound)
        born, ended = self.shown.step(memory, results, size)
        made = in_order(TupleLog(self._tuples(memory, born), self._tuples(memory, ended), ended.at, ended.of))
        self._keep(memory, members, size)
        return made

    def _members(self, memory: Memory, logs: Sequence[TupleLog], span: Span) -> list[Members]:
        columns = [[normal(each.cast(field.type)) for each, field in self._fields(log)] for log in logs]
        counts = [len(log.born) for log in logs]
        keys = [pa.concat_arrays(list(each)) for each in zip(*columns, strict=True)]
        code = self.codes.encode(memory, keys, sum(counts))
        made: list[Members] = []
        for living, log, mine in zip(self.sides, logs, np.split(code, np.cumsum(counts)[:-1]), strict=True):
            ids = log.born.ids if living.structure.indexed else ()
            rows = table({NUMBER: memory.next(f"{living.name}.{NUMBER}", len(mine))})
            new = with_code(Tuples(rows, log.born.start, log.born.end, ids), mine)
            made.append(living.step(memory, new, log.ended.ids, log.at, span, keep=False))
        return made

    def _fields(self, log: TupleLog) -> zip[tuple[pa.Array, pa.Field]]:
        return zip(log.born.rows.columns, self.fields, strict=True)

    def _happens(self, members: Members, log: TupleLog) -> tuple[Ints, Ints]:
        """Return the codes and times of the beginnings, then of the ends."""
        leaves = members.leaves
        code = np.concatenate([members.code[members.old :], members.code[leaves]])
        return code, np.concatenate([log.born.start, members.until[leaves]])

    def _standing(self, memory: Memory, line: Timeline, left: Members, away: Bools) -> tuple[Ints, Ints, Bools]:
        """Return at each point the number and bound of the tuple that represents the value, and whether it exists."""
        if not len(left) or not len(line):
            return np.full(len(line), -1), np.full(len(line), LATEST), np.zeros(len(line), np.bool_)
        number, end = left.column(NUMBER).to_numpy(), left.end
        order = np.lexsort((-number, end))
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        stretches = Stretches(line, left)
        found = stretches.best(rank)
        there = (found != NOTHING) & ~away
        chosen = order[np.where(there, found, 0)]
        self._go_on(memory, line, number, stretches, chosen)
        head = _heads(line, there, np.minimum(stretches.high[chosen], line.finish[line.code]))
        chosen = chosen[head]
        return np.where(there, number[chosen], -1), np.where(there, end[chosen], LATEST), there

    def _go_on(self, memory: Memory, line: Timeline, number: Ints, stretches: Stretches, chosen: Index) -> None:
        """Choose, at the first point of a value, the tuple that represented it before, if it still lives."""
        codes = np.flatnonzero(line.finish > line.begin)
        before = self._stood(memory)
        codes = codes[codes < len(before)]
        codes = codes[before[codes] >= 0]
        order = stable(number)
        place = np.minimum(np.searchsorted(number[order], before[codes]), len(order) - 1)
        member, first = order[place], line.begin[codes]
        same = (number[member] == before[codes]) & (stretches.high[member] > first)
        chosen[first[same]] = member[same]

    def _stood(self, memory: Memory) -> Ints:
        """Return for each code the number of the tuple that was last sent, -1 if it has ended."""
        start, column = memory.ints(f"{self.name}.shown.start"), memory.column(f"{self.name}.shown.0")
        if column is None:
            return np.empty(0, np.int64)
        return np.where(start > EARLIEST, column.fill_null(-1).to_numpy(zero_copy_only=False), -1)

    def _kept_away(self, line: Timeline, members: Sequence[Members], first: int) -> Bools:
        """Return at each point whether the right has the value."""
        if len(members) == 1:
            return np.zeros(len(line), np.bool_)
        right = members[1]
        away: Bools = Stretches(line, right, first).best(np.zeros(len(right), np.int64)) != NOTHING
        return away

    def _keep(self, memory: Memory, members: Sequence[Members], size: int) -> None:
        counts = np.zeros(size, np.int64)
        for side, (living, each) in enumerate(zip(self.sides, members, strict=True)):
            stays = ~each.leaves
            if not living.structure.indexed:
                stands = stays & (side == 0) & np.isin(each.column(NUMBER).to_numpy(), self._stood(memory))
                stays = stands | _last_to_leave(each, stays, stands)
            living.keep(memory, each, stays)
            counts += np.bincount(each.code[stays], minlength=size)
        self.shown.trim(memory, self.codes.settle(memory, counts))

    def _tuples(self, memory: Memory, sent: Sent) -> Tuples:
        values = self.codes.columns(memory, sent.code)
        rows = table({field.name: column for field, column in zip(self.fields, values, strict=True)})
        return Tuples(rows, sent.start, sent.end, (sent.code, sent.start))


def _heads(line: Timeline, there: Bools, until: Index | Ints) -> Ints:
    """Return for each point the point at which its representing tuple took over.

    The next takeover after a point is where its tuple ends, or, if no tuple lives there, where one lives again. All
    takeovers are found from the first ones by pointer doubling.
    """
    size = len(there)
    before = np.append(False, there[:-1]) & ~firsts(line.code)
    reached = np.append(there & ~before, False)
    gap = np.where(there, size, np.arange(size))
    gap = np.minimum.accumulate(gap[::-1])[::-1]
    beyond = (until >= line.finish[line.code]) | (gap <= until) | ~there
    jump = np.append(np.where(beyond, size, until), size)
    while (jump < size).any():
        reached[jump[reached]] = True
        reached[size] = False
        jump = jump[jump]
    return np.maximum.accumulate(np.where(reached[:-1], np.arange(size), 0))


def _last_to_leave(members: Members, stays: Bools, stands: Bools) -> Bools:
    """Return a mask of the staying tuple of each value that ends last; of equal ones, the one that represents it."""
    places = np.flatnonzero(stays)
    chosen = np.zeros(len(stays), np.bool_)
    chosen[places[last_of_each(members.code[places], members.end[places], stands[places].astype(np.int64))]] = True
    return chosen
