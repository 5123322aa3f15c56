"""GROUP BY over lifetimes (APAS 3.2): each input tuple gives its group a new value, bounded by its next known change.

Sums are exact tallies that grow and shrink. MIN, MAX, MIN_BY, MAX_BY, FIRST and LAST are decided by one live tuple at
each point; COUNT(DISTINCT) counts the values of the live tuples. The bound of a value is the first known expiry that
changes it: for a sum the expiry of any tuple with a value, for a maximum that of the last tuple with this value. If
expiring values cancel, the bound is early and the same value is sent again.

Kept: for each group a tally and the result that was last sent; and the arguments of live tuples, in the structure that
the class of the input needs. If tuples never end, only those for extremes, FIRST, LAST and COUNT(DISTINCT) are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.living import CODE, STRUCTURES, LivingTuples, Members, with_code
from slackwater.engine.changelog.log import TupleLog, Tuples, in_order
from slackwater.engine.changelog.timeline import NOTHING, Results, Sent, Shown, Stretches, Timeline, best
from slackwater.engine.columns.arrays import (
    LATEST,
    Bools,
    Ints,
    firsts,
    known_type,
    last_of_each,
    sorted_within,
    table,
    valid,
)
from slackwater.engine.columns.keys import Codes, dense, normal
from slackwater.engine.columns.state import Memory
from slackwater.engine.expressions import evaluate
from slackwater.engine.numbers.tally import ROWS, Tally, tally
from slackwater.engine.operators.calls import Calls, DistinctValues, EndValue, ExtremeValue, ValueSource
from slackwater.engine.operators.extremes import comparable
from slackwater.engine.operators.steps import Span
from slackwater.engine.plan import Call, NamedTree

NUMBER = "began"
"""The column of the arguments of FIRST and LAST with the order in which tuples began."""


class GroupedAggregate:
    """The groups and calls of one aggregate over an input of the class `level`."""

    def __init__(
        self, name: str, group: Sequence[NamedTree], calls: Sequence[Call], sample: Tuples, level: int
    ) -> None:
        rows = sample.seen()
        self.name = name
        self.items = list(group)
        self.calls = Calls(calls, rows)
        keys = [evaluate(item.tree, rows).type for item in group]
        self.kinds = [known_type(item.type) or kind for item, kind in zip(group, keys, strict=True)]
        self.codes = Codes(f"{name}.groups", keys)
        self.structure = STRUCTURES[level]
        self.living = LivingTuples(f"{name}.living", self.structure)
        self.shown = Shown(f"{name}.shown", self.calls.types)
        self.names = [*(item.name for item in group), *(call.name for call in calls)]

    def step(self, memory: Memory, span: Span, log: TupleLog) -> TupleLog:
        members = self._members(memory, log, span)
        size = self.codes.size(memory)
        new = np.arange(members.old, len(members))
        leaves = np.flatnonzero(members.leaves)
        happens = np.concatenate([new, leaves])
        line = Timeline(members.code[happens], np.concatenate([log.born.start, members.until[leaves]]), size)
        sums, left = self._sums(memory, line, members, happens, size)
        view = GroupMembers(members, Stretches(line, members))
        columns, bound = self._values(sums, view)
        touched = line.any(np.concatenate([np.ones(len(new), np.bool_), members.ended[leaves]]))
        results = Results(line.code, line.time, sums[ROWS] > 0, touched, columns, bound)
        made = self._log(memory, *self.shown.step(memory, results, size))
        if not self.structure.expires and self.calls.sources:
            needed = np.logical_or.reduce([view.needed(source) for source in self.calls.sources])
            self.living.keep(memory, members, needed)
        self._forget(memory, left)
        return made

    def _members(self, memory: Memory, log: TupleLog, span: Span) -> Members:
        """Return the members of groups in this span of time, with the arguments of the calls."""
        rows = log.born.seen()
        keys = [normal(evaluate(item.tree, rows)) for item in self.items]
        code = self.codes.encode(memory, keys, len(rows))
        arguments = self.calls.evaluated(rows)
        if any(isinstance(source, EndValue) for source in self.calls.sources):
            arguments[NUMBER] = pa.array(memory.next(f"{self.name}.began", len(rows)))
        given = log.born
        ids = given.ids if self.structure.indexed else ()
        new = with_code(Tuples(table(arguments), given.start, given.end, ids), code)
        if not self.structure.expires and not self.calls.sources:
            return Members(new, 0, given.end, np.zeros(len(code), np.bool_), span.now)
        if self.structure.expires and self.structure.ordered and not self.calls.sources:
            return self.living.due(memory, new, self.codes.size(memory), span)
        return self.living.step(memory, new, log.ended.ids, log.at, span, keep=self.structure.expires)

    def _sums(
        self, memory: Memory, line: Timeline, members: Members, happens: Ints, size: int
    ) -> tuple[Tally, dict[str, Ints]]:
        """Return the tallies at the points, and the tally of each group after its last point."""
        rows = table({name: members.column(name) for name in self.calls.trees} or {CODE: members.code})
        added = tally(rows.take(pa.array(happens)), list(self.calls.counted.values()))
        sign = np.where(np.arange(len(happens)) < len(members) - members.old, 1, -1)
        prefix = f"{self.name}.sum:"
        names = dict.fromkeys([*added, *(name.removeprefix(prefix) for name in memory.names(prefix))])
        sums: Tally = {}
        left: dict[str, Ints] = {}
        for name in names:
            left[name] = memory.sized(prefix + name, size)
            change = added[name] * sign if name in added else np.zeros(len(happens), np.int64)
            sums[name] = line.running(change, left[name])
            left[name][line.code] = sums[name][line.finish[line.code] - 1]
        return sums, left

    def _values(self, sums: Tally, view: GroupMembers) -> tuple[list[pa.Array], Ints]:
        """Return the values at the points and their bounds; LATEST if no tuple ends."""
        calls = self.calls
        found = {source: view.at(source) for source in calls.sources}
        columns = calls.columns(sums, {source: value for source, (value, _) in found.items()})
        if not self.structure.expires and not found:
            return columns, np.full(view.stretches.size, LATEST)
        bounds = [bound for _, bound in found.values()]
        bounds += [view.soonest(None if calls.whole else view.known(name)) for name in calls.counted]
        bounds.append(view.soonest() if calls.whole else view.last())
        return columns, np.minimum.reduce(bounds)

    def _forget(self, memory: Memory, left: dict[str, Ints]) -> None:
        """Store the tallies of groups, and release the codes of groups without members."""
        size = self.codes.settle(memory, left[ROWS])
        for name, values in left.items():
            memory.put(f"{self.name}.sum:{name}", values[:size] if name == ROWS or values.any() else None)
        self.shown.trim(memory, size)

    def _log(self, memory: Memory, born: Sent, ended: Sent) -> TupleLog:
        return in_order(TupleLog(self._tuples(memory, born), self._tuples(memory, ended), ended.at, ended.of))

    def _tuples(self, memory: Memory, sent: Sent) -> Tuples:
        keys = self.codes.columns(memory, sent.code)
        group = [column.cast(kind) for column, kind in zip(keys, self.kinds, strict=True)]
        rows = table(dict(zip(self.names, [*group, *sent.columns], strict=True)))
        return Tuples(rows, sent.start, sent.end, (sent.code, sent.start))


@dataclass(frozen=True, slots=True)
class GroupMembers:
    """The members of groups, the points that each of them covers, and the values that they give their groups."""

    members: Members
    stretches: Stretches

    def known(self, name: str) -> Bools:
        return valid(self.members.column(name))

    def soonest(self, some: Bools | None = None) -> Ints:
        """Return at each point the earliest bound of the live members, LATEST if none has a bound."""
        found = self.stretches.best(~self.members.end, some)
        return np.where(found == NOTHING, LATEST, ~found)

    def last(self) -> Ints:
        """Return at each point the latest bound of the live members."""
        return self.stretches.best(self.members.end)

    def at(self, source: ValueSource) -> tuple[pa.Array, Ints]:
        """Return for each point the value of a source, and its bound."""
        if isinstance(source, DistinctValues):
            return self._distinct(source)
        member, bound = self._chosen(*self._ranks(source))
        return self.members.column(source.argument).take(pa.array(member, mask=member < 0)), bound

    def needed(self, source: ValueSource) -> Bools:
        """Return a mask of the members that a source needs if no member ever ends."""
        needed = np.zeros(len(self.members), np.bool_)
        if isinstance(source, DistinctValues):
            columns = [pa.array(self.members.code), *(normal(self.members.column(name)) for name in source.arguments)]
            needed[dense(columns)[1]] = True
            for name in source.arguments:
                needed &= self.known(name)
            return needed
        some, keys = self._ranks(source)
        places = np.flatnonzero(some)
        needed[places[last_of_each(self.members.code[places], keys[0][places])]] = True
        return needed

    def _ranks(self, source: ExtremeValue | EndValue) -> tuple[Bools, list[Ints]]:
        """Return a mask of the members that count, and the keys by which the greatest of them decides.

        Of equal extremes, the one that ends last decides.
        """
        if isinstance(source, EndValue):
            known = self.known(source.argument)
            number = self.members.column(NUMBER).to_numpy()
            return known if source.skips else np.ones_like(known), [number if source.last else ~number]
        values, known = source.compared(self.members.column)
        rank = np.zeros(len(known), np.int64)
        rank[known] = comparable(values if known.all() else values.filter(pa.array(known)), source.least)[0]
        return known, [rank, self.members.end]

    def _chosen(self, some: Bools, keys: list[Ints]) -> tuple[Ints, Ints]:
        """Return at each point the greatest member of `some` by these keys, -1 if there is none, and its bound."""
        order = self.stretches.leading(some, *keys)
        for key in reversed(keys):
            order = order[np.argsort(key[order], kind="stable")]
        rank, among = np.zeros(len(some), np.int64), np.zeros(len(some), np.bool_)
        rank[order], among[order] = np.arange(len(order)), True
        found = self.stretches.best(rank, among)
        there = found != NOTHING
        if not len(order):
            return np.full(len(found), -1), np.full(len(found), LATEST)
        member = np.where(there, order[np.where(there, found, 0)], -1)
        return member, np.where(there, self.members.end[member], LATEST)

    def _distinct(self, source: DistinctValues) -> tuple[pa.Array, Ints]:
        """Count values: one is present as long as lifetimes of its tuples overlap or meet."""
        size = self.stretches.size
        places, value = self._values(source)
        if not len(places):
            return pa.array(np.zeros(size, np.int64)), np.full(size, LATEST)
        low, high = self.stretches.low[places], self.stretches.high[places]
        reached = _running(value, high)
        opens = firsts(value) | (low > np.append(0, reached[:-1]))
        closes = np.append(opens[1:], True)
        change = np.bincount(low[opens], minlength=size + 1) - np.bincount(reached[closes], minlength=size + 1)
        until = _running(np.cumsum(opens).astype(np.int64), self.members.end[places])
        stop = np.where(closes, reached, np.append(low[1:], 0))
        some = stop > low
        bound = best(low[some], stop[some], ~until[some], size)
        return pa.array(np.cumsum(change)[:size]), np.where(bound == NOTHING, LATEST, ~bound)

    def _values(self, source: DistinctValues) -> tuple[Ints, Ints]:
        """Return the members without NULLs, by value, then start; and a number for each pair of group and value."""
        known = np.logical_and.reduce([self.known(name) for name in source.arguments])
        columns = [pa.array(self.members.code), *(normal(self.members.column(name)) for name in source.arguments)]
        places = np.flatnonzero(known & self.stretches.covers)
        value, _ = dense([column.take(pa.array(places)) for column in columns])
        order = sorted_within(value, self.stretches.low[places])
        return places[order], value[order]


def _running(group: Ints, values: Ints) -> Ints:
    """Return the running maximum of values within each run of equal groups. Groups ascend."""
    distinct, rank = np.unique(values, return_inverse=True)
    number = np.cumsum(firsts(group)) * len(distinct)
    found: Ints = distinct[np.maximum.accumulate(number + rank) - number]
    return found
