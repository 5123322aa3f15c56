"""GROUP BY over lifetimes (APAS 3.2): each input tuple gives its group a new value, bounded by its next known change.

Kept: for each group a tally and the result that was last sent; and the arguments of live tuples, in the structure that
the class of the input needs. If tuples never end, only those for MIN, MAX, FIRST, LAST and COUNT(DISTINCT) are kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.calls import NUMBER, Calls, GroupMembers
from slackwater.engine.changelog.living import CODE, STRUCTURES, Codes, LivingTuples, Members, with_code
from slackwater.engine.changelog.log import TupleLog, Tuples, in_order
from slackwater.engine.changelog.timeline import Results, Sent, Shown, Stretches, Timeline
from slackwater.engine.columns.arrays import LATEST, Ints, table
from slackwater.engine.columns.keys import normal
from slackwater.engine.columns.state import Memory
from slackwater.engine.columns.types import known_type
from slackwater.engine.expressions.evaluate import evaluate
from slackwater.engine.numbers.tally import ROWS, Tally, tally
from slackwater.engine.operators.steps import Span
from slackwater.engine.plan import Call, NamedTree


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
        self.level = level
        self.structure = STRUCTURES[level]
        self.living = LivingTuples(f"{name}.living", self.structure)
        self.shown = Shown(f"{name}.shown", self.calls.types)
        self.names = [*(item.name for item in group), *(call.name for call in calls)]

    def step(self, memory: Memory, log: TupleLog, span: Span) -> TupleLog:
        members = self._members(memory, log, span)
        size = self.codes.size(memory)
        new = np.arange(members.old, len(members))
        leaves = np.flatnonzero(members.leaves)
        start = log.born.start
        line = Timeline(
            np.concatenate([members.code[new], members.code[leaves]]),
            np.concatenate([start, members.until[leaves]]),
            size,
        )
        sums, left = self._sums(memory, line, members, leaves, size)
        view = GroupMembers(members, Stretches(line, members))
        ahead = self.structure.expires or self.calls.others
        columns, bound = self.calls.values(sums, view if ahead else None)
        touched = line.any(np.concatenate([np.ones(len(new), np.bool_), members.ended[leaves]]))
        until = np.full(len(line), LATEST) if bound is None else bound
        results = Results(line.code, line.time, sums[ROWS] > 0, touched, columns, until)
        made = self._log(memory, *self.shown.step(memory, results, size))
        if not self.structure.expires and self.calls.others:
            self.living.keep(memory, members, self.calls.needed(view), span)
        self._forget(memory, left)
        return made

    def _members(self, memory: Memory, log: TupleLog, span: Span) -> Members:
        """Return the members of groups in this span of time, with the arguments of the calls."""
        rows = log.born.seen()
        keys = [normal(evaluate(item.tree, rows)) for item in self.items]
        code = self.codes.encode(memory, keys, len(rows))
        arguments = self.calls.arguments.evaluated(rows)
        if self.calls.numbered:
            arguments[NUMBER] = pa.array(self._numbers(memory, len(rows)))
        given = log.born
        ids = given.ids if self.structure.indexed else ()
        new = with_code(Tuples(table(arguments), given.start, given.end, ids), code)
        if not self.structure.expires and not self.calls.others:
            return Members(new, 0, given.end, np.zeros(len(code), np.bool_), span.now)
        if self.structure.expires and self.structure.ordered and not self.calls.others:
            return self.living.due(memory, new, self.codes.size(memory), span)
        return self.living.step(memory, new, log.ended.ids, log.at, span, keep=self.structure.expires)

    def _numbers(self, memory: Memory, count: int) -> Ints:
        """Return numbers for new tuples, in the order in which they began."""
        first = memory.number(f"{self.name}.began")
        memory.put(f"{self.name}.began", first + count)
        return np.arange(first, first + count)

    def _sums(
        self, memory: Memory, line: Timeline, members: Members, leaves: Ints, size: int
    ) -> tuple[Tally, dict[str, Ints]]:
        """Return the tallies at the points, and the tally of each group after its last point."""
        arguments = list(self.calls.arguments.counted.values())
        rows = table({name: members.column(name) for name in self.calls.arguments.trees} or {CODE: members.code})
        new = np.arange(members.old, len(members))
        happens = np.concatenate([new, leaves])
        added = tally(rows.take(pa.array(happens)), arguments)
        sign = np.where(np.arange(len(happens)) < len(new), 1, -1)
        prefix = f"{self.name}.sum:"
        names = dict.fromkeys([*added, *(name.removeprefix(prefix) for name in memory.names(prefix))])
        sums: Tally = {}
        left: dict[str, Ints] = {}
        for name in names:
            rest = np.zeros(size, np.int64)
            known = memory.ints(prefix + name)[:size]
            rest[: len(known)] = known
            change = added[name] * sign if name in added else np.zeros(len(happens), np.int64)
            sums[name] = line.running(change, rest)
            left[name] = rest.copy()
            last = line.finish[line.code] - 1
            left[name][line.code] = sums[name][last]
        return sums, left

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
