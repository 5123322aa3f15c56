"""Join over lifetimes (APAS 3.1): a pair lives as long as both of its tuples do.

A negative on an input ends the pairs that it shortens, and none whose bound has passed anyway (figure 2). Kept: the
live tuples of both sides, with the code of their key. Pairs are not kept: their identity is that of both tuples, so
that they are found again when one of these is ended. Pairs that begin at one time are ordered by the beginning of their
left tuples, then of their right ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.living import START, STRUCTURES, LivingTuples, Members, tuples_of, with_code
from slackwater.engine.changelog.log import TupleLog, Tuples, in_order
from slackwater.engine.columns.arrays import Bools, Ints, column, picked, positions, sorted_within, true, valid
from slackwater.engine.columns.keys import Codes, normal
from slackwater.engine.columns.rows import Rows
from slackwater.engine.columns.state import Memory
from slackwater.engine.expressions import evaluate, unified
from slackwater.engine.operators.steps import Span
from slackwater.engine.plan import JoinLogs

LONG = 1 << 61
"""Ticks: a longer lifetime is treated as endless."""
BEGAN = "began"
"""The column with the order in which tuples began, if they do not leave in that order."""


class Joined:
    """One join of two inputs whose classes are `levels`."""

    def __init__(self, name: str, node: JoinLogs, samples: Sequence[Tuples], levels: Sequence[int]) -> None:
        self.columns, self.condition = list(node.columns), node.condition
        self.on = list(zip(*node.on, strict=True)) if node.on else [(), ()]
        sides = [
            [evaluate(tree, sample.seen()) for tree in trees] for trees, sample in zip(self.on, samples, strict=True)
        ]
        self.kinds = [unified([one, two])[0].type for one, two in zip(*sides, strict=True)]
        self.codes = Codes(f"{name}.keys", self.kinds)
        self.sides = [
            LivingTuples(f"{name}.{side}", STRUCTURES[level]) for side, level in zip("lr", levels, strict=True)
        ]

    def step(self, memory: Memory, span: Span, left: TupleLog, right: TupleLog) -> TupleLog:
        logs = [self._known(log, side) for side, log in enumerate((left, right))]
        codes = self._coded(memory, logs)
        one, two = (
            living.step(memory, self._new(memory, living, log.born, code), log.ended.ids, log.at, span)
            for living, log, code in zip(self.sides, logs, codes, strict=True)
        )
        pairs = _pairs(one, two)
        made = self._log(one, two, *pairs, span)
        size = self.codes.size(memory)
        stay = [np.bincount(each.code[~each.leaves], minlength=size) for each in (one, two)]
        self.codes.settle(memory, stay[0] + stay[1])
        return made

    def _new(self, memory: Memory, living: LivingTuples, born: Tuples, code: Ints) -> pa.RecordBatch:
        new = with_code(born, code)
        if living.structure.ordered:
            return new
        return new.append_column(BEGAN, pa.array(memory.next(f"{living.name}.{BEGAN}", len(born))))

    def _keys(self, tuples: Tuples, side: int) -> list[pa.Array]:
        rows = tuples.seen()
        values = zip(self.on[side], self.kinds, strict=True)
        return [normal(evaluate(tree, rows).cast(kind)) for tree, kind in values]

    def _known(self, log: TupleLog, side: int) -> TupleLog:
        """Return the tuples whose key has no NULL: others match nothing."""
        born, ended = (self._whole(each, side) for each in (log.born, log.ended))
        return log.only(born, ended)

    def _whole(self, tuples: Tuples, side: int) -> Bools:
        whole = np.ones(len(tuples), np.bool_)
        for key in self._keys(tuples, side):
            whole &= valid(key)
        return whole

    def _coded(self, memory: Memory, logs: Sequence[TupleLog]) -> tuple[Ints, Ints]:
        """Return the codes of the new tuples of both sides, encoded together so that equal keys get one code."""
        sides = [self._keys(log.born, side) for side, log in enumerate(logs)]
        cut = len(logs[0].born)
        keys = [pa.concat_arrays([one, two]) for one, two in zip(*sides, strict=True)]
        code = self.codes.encode(memory, keys, cut + len(logs[1].born))
        return code[:cut], code[cut:]

    def _log(self, one: Members, two: Members, left: Ints, right: Ints, span: Span) -> TupleLog:
        """Return the pairs that begin in this span of time, and those that a negative ends."""
        ones, twos = tuples_of(one.kept), tuples_of(two.kept)
        start = np.maximum(ones.start[left], twos.start[right])
        until = np.minimum(one.until[left], two.until[right])
        meet = start < until
        left, right, start, until = left[meet], right[meet], start[meet], until[meet]
        pairs, met = self._paired(ones, twos, left, right, start)
        left, right, until = left[met], right[met], until[met]
        new = (left >= one.old) | (right >= two.old)
        cut = (one.ended[left] | two.ended[right]) & (until < pairs.end) & (until < span.now)
        place = np.where(new, np.cumsum(new) - 1, -1)
        return in_order(TupleLog(pairs.at(new), pairs.at(cut), until[cut], place[cut]))

    def _paired(self, ones: Tuples, twos: Tuples, left: Ints, right: Ints, start: Ints) -> tuple[Tuples, Bools]:
        """Return the pairs for which the condition is true as tuples, and a mask of these pairs."""
        sides = [*picked(ones.rows, left).columns, *picked(twos.rows, right).columns]
        rows = pa.RecordBatch.from_arrays(sides, names=self.columns)
        end = np.minimum(ones.end[left], twos.end[right])
        ids = (*(each[left] for each in ones.ids), *(each[right] for each in twos.ids))
        pairs, met = Tuples(rows, start, end, ids), np.ones(len(left), np.bool_)
        if self.condition is not None:
            met = true(evaluate(self.condition, Rows(rows, start)))
        return pairs.at(met), met


def _pairs(one: Members, two: Members) -> tuple[Ints, Ints]:
    """Return the places of members with equal codes that may meet, at least one of which is new or was just ended.

    Pairs of older members were returned by an earlier step.
    """
    stirred, other = one.ended.copy(), two.ended.copy()
    stirred[one.old :] = True
    other[two.old :] = True
    whole = np.ones(len(two), np.bool_)
    first, second = _matches(one, stirred, two, whole), _matches(one, ~stirred, two, other)
    left, right = (np.concatenate(each) for each in zip(first, second, strict=True))
    order = np.lexsort((_birth(two)[right], _birth(one)[left]))
    return left[order], right[order]


def _birth(members: Members) -> Ints:
    """Return the order in which members began: the column BEGAN if they have it, else the order of the store."""
    return column(members.kept, BEGAN) if BEGAN in members.kept.schema.names else np.arange(len(members))


def _matches(one: Members, some_left: Bools, two: Members, some_right: Bools) -> tuple[Ints, Ints]:
    """Return pairs of places with equal codes whose starts are no further apart than the longest lifetime."""
    ones, twos = np.flatnonzero(some_left), np.flatnonzero(some_right)
    if not len(ones) or not len(twos):
        return ones[:0], twos[:0]
    start, code = column(two.kept, START), two.code
    twos = twos[sorted_within(code[twos], start[twos])]
    begun = column(one.kept, START)[ones]
    longest = int((two.until[twos].astype(np.float64) - start[twos]).max())
    earliest = begun - longest if longest < LONG else np.full(len(ones), int(start.min()) - 1)
    low = positions(code[twos], start[twos], one.code[ones], earliest)
    high = positions(code[twos], start[twos], one.code[ones], one.until[ones] - 1)
    each = np.maximum(high - low, 0)
    place = np.repeat(low - (np.cumsum(each) - each), each) + np.arange(int(each.sum()))
    return np.repeat(ones, each), twos[place]
