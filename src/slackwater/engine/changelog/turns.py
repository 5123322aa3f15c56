"""Joins in which a window counts rows: every row is an instant (a turn) of its own, even at equal times.

A row is paired with the contents of the other windows at its turn. Time alone does not tell these contents: of two rows
at one time, the second may push the first out of its window after the first was paired. So the operators below use
another clock, the number of the turn: the rows of all streams in sequence order, counted from 0. A window of time ends
a row at the first turn that is late enough. `by_time` converts the results back to times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from slackwater.engine.changelog.living import CODE, numbers, tuples_of, with_code
from slackwater.engine.changelog.log import TupleLog, Tuples, of_tuples
from slackwater.engine.columns.arrays import LATEST, Ints
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.steps import Span


class TurnStreams:
    """Streams of placed rows (sequence.py), some with a window of time.

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
        memory.put(self.name, span.now)
        turn = np.empty(len(order), np.int64)
        turn[order] = np.arange(span.before, span.now)
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
        return TupleLog(rows, tuples_of(due), first + np.searchsorted(times, numbers(due, CODE)))


def by_time(log: TupleLog, times: Ints, span: Span) -> TupleLog:
    """Return the tuples that began, each from the time of its turn on."""
    born = log.born
    return of_tuples(replace(born, start=times[born.start - span.before], end=np.full(len(born), LATEST)))
