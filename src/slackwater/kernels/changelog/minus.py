"""DISTINCT and EXCEPT over lifetimes (APAS 3.4, 3.5): a tuple stands for each value of the left that the right has not.

Of the tuples with a value the one that began first stands for it; when it ends, the next takes over. A match on the
right ends it; when the match is gone, it comes back (figure 6). Kept: of each value the tuples that may come to stand
for it, and on the right those that keep it away the longest; all of them, where a negative may end one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from slackwater.kernels.arrays import LATEST, Bools, Ints, table
from slackwater.kernels.changelog.codes import Codes
from slackwater.kernels.changelog.living import Living, Members, numbers, with_code
from slackwater.kernels.changelog.log import Log, Tuples, in_order
from slackwater.kernels.changelog.shown import Results, Sent, Shown
from slackwater.kernels.changelog.structures import STRUCTURES
from slackwater.kernels.changelog.timeline import NOTHING, Stretches, Timeline
from slackwater.kernels.keys import normal
from slackwater.kernels.order import bounds, counted, firsts, stable
from slackwater.kernels.state import Memory
from slackwater.kernels.steps import Span

NUMBER = "began"


class Without:
    """The values of the left that the right has not, each once; DISTINCT where there is no right."""

    def __init__(self, name: str, sample: Tuples, levels: Sequence[int]) -> None:
        self.name = name
        self.fields = list(sample.rows.schema)
        self.codes = Codes(f"{name}.values", [field.type for field in self.fields])
        self.structures = [STRUCTURES[level] for level in levels]
        self.sides = [
            Living(f"{name}.{side}", structure) for side, structure in zip("lr", self.structures, strict=False)
        ]
        self.shown = Shown(f"{name}.shown", [pa.int64()])
        self._in_turn = self.structures[0].expires and self.structures[0].ordered
        """Whether tuples of the left end in the order in which they began, so that each may come to stand."""

    def step(self, memory: Memory, logs: Sequence[Log], span: Span) -> Log:
        members = self._members(memory, logs, span)
        size = self.codes.size(memory)
        happens = [self._happens(each, log) for each, log in zip(members, logs, strict=True)]
        code, time = (np.concatenate(each) for each in zip(*happens, strict=True))
        line = Timeline(code, time, size)
        number, bound = self._standing(line, members[0])
        there = (number >= 0) & ~self._kept_away(line, members, len(happens[0][0]))
        nothing = np.zeros(len(line), np.bool_)
        results = Results(line.code, line.time, there, nothing, [pa.array(number)], bound)
        born, ended = self.shown.step(memory, results, size)
        made = in_order(Log(self._tuples(memory, born), self._tuples(memory, ended), ended.at, ended.of))
        self._keep(memory, members, span, size)
        return made

    def _members(self, memory: Memory, logs: Sequence[Log], span: Span) -> list[Members]:
        columns = [[normal(each.cast(field.type)) for each, field in self._fields(log)] for log in logs]
        counts = [len(log.born) for log in logs]
        keys = [pa.concat_arrays(list(each)) for each in zip(*columns, strict=True)]
        code = self.codes.encode(memory, keys, sum(counts))
        made: list[Members] = []
        for living, log, mine in zip(self.sides, logs, np.split(code, np.cumsum(counts)[:-1]), strict=True):
            first = memory.number(f"{living.name}.{NUMBER}")
            memory.put(f"{living.name}.{NUMBER}", first + len(mine))
            ids = log.born.ids if living.structure.indexed else ()
            rows = table({NUMBER: np.arange(first, first + len(mine))})
            new = with_code(Tuples(rows, log.born.start, log.born.end, ids), mine)
            made.append(living.step(memory, new, log.ended.ids, log.at, span, keep=False))
        return made

    def _fields(self, log: Log) -> zip[tuple[pa.Array, pa.Field]]:
        return zip(log.born.rows.columns, self.fields, strict=True)

    def _happens(self, members: Members, log: Log) -> tuple[Ints, Ints]:
        """What begins, then what ends: the codes and the times."""
        leaves = members.leaves
        code = np.concatenate([members.code[members.old :], members.code[leaves]])
        return code, np.concatenate([log.born.start, members.until[leaves]])

    def _standing(self, line: Timeline, left: Members) -> tuple[Ints, Ints]:
        """At each point the number of the tuple that stands for its value, -1 for none, and its bound."""
        number = left.column(NUMBER).to_numpy()
        order = stable(number)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        found = Stretches(line, left).best(~rank)
        there = found != NOTHING
        member = order[np.where(there, ~found, 0)] if len(order) else np.zeros(len(line), np.int64)
        if not len(order):
            return np.full(len(line), -1), np.full(len(line), LATEST)
        return np.where(there, number[member], -1), np.where(there, left.end[member], LATEST)

    def _kept_away(self, line: Timeline, members: Sequence[Members], first: int) -> Bools:
        """At each point, whether the right has the value."""
        if len(members) == 1:
            return np.zeros(len(line), np.bool_)
        right = members[1]
        away: Bools = Stretches(line, right, first).best(np.zeros(len(right), np.int64)) != NOTHING
        return away

    def _keep(self, memory: Memory, members: Sequence[Members], span: Span, size: int) -> None:
        counts = np.zeros(size, np.int64)
        for side, (living, each) in enumerate(zip(self.sides, members, strict=True)):
            stays = ~each.leaves
            if side == 0 and not living.structure.indexed and not self._in_turn:
                stays = _first_to_stand(each, stays)
            elif side == 1 and not living.structure.indexed:
                stays = _last_to_leave(each, stays)
            living.keep(memory, each, stays, span)
            counts += np.bincount(each.code[stays], minlength=size)
        self.shown.trim(memory, self.codes.settle(memory, counts))

    def _tuples(self, memory: Memory, sent: Sent) -> Tuples:
        values = self.codes.columns(memory, sent.code)
        rows = table({field.name: column for field, column in zip(self.fields, values, strict=True)})
        return Tuples(rows, sent.start, sent.end, (sent.code, sent.start))


def _first_to_stand(members: Members, stays: Bools) -> Bools:
    """Of those that stay the ones that outlive all that began before them with their value."""
    places = np.flatnonzero(stays)
    order = places[stable(members.column(NUMBER).to_numpy()[places])]
    order = order[counted(members.code[order])]
    code, end = members.code[order], members.end[order]
    ends, rank = np.unique(end, return_inverse=True)
    level = np.cumsum(firsts(code)) * (len(ends) + 1)
    greatest = np.maximum.accumulate(level + rank)
    beyond = firsts(code) | (level + rank > np.append(-1, greatest[:-1])[: len(level)])
    chosen = np.zeros(len(stays), np.bool_)
    chosen[order[beyond]] = True
    return chosen


def _last_to_leave(members: Members, stays: Bools) -> Bools:
    """Of those that stay the one of each value that ends last."""
    places = np.flatnonzero(stays)
    order = places[stable(numbers(members.kept, "end")[places])]
    order = order[counted(members.code[order])]
    _, ends = bounds(firsts(members.code[order]))
    chosen = np.zeros(len(stays), np.bool_)
    chosen[order[ends - 1]] = True
    return chosen
