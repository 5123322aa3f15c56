"""Pairs as the rows of a stream where a window counts rows: instants one after the other, also those of one time.

A row makes pairs with what the other windows hold when its turn comes. By the time alone that cannot be told: of two
rows of one time the first may be pushed out by the second, after it was paired. So what is below here goes by another
clock, the number of the instant: rows of all streams in the order of the language, counted from 0. A window of time
ends a row at the first instant that is late enough. What comes of it goes by the time again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from slackwater.engine.changelog.living import CODE, numbers, tuples_of, with_code
from slackwater.engine.changelog.log import Log, Tuples, of_tuples
from slackwater.engine.columns.arrays import LATEST, Ints
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.steps import Span


class Turns:
    """Streams whose rows have their places (sequence.py), by windows of time where there is one.

    Kept: how many instants there were, and the rows that a window of time holds.
    """

    def __init__(self, name: str, ranges: Sequence[int | None]) -> None:
        self.name, self.ranges = name, list(ranges)

    def step(self, memory: Memory, logs: Sequence[Log]) -> tuple[list[Log], Ints, Span]:
        """The streams by the number of the instant, the times of these, and the numbers that they go from and to."""
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

    def _turned(self, memory: Memory, place: int, rows: Tuples, turn: Ints, times: Ints, first: int) -> Log:
        """One stream; what a window of time holds no longer is ended by the next instant."""
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
        return Log(rows, tuples_of(due), first + np.searchsorted(times, numbers(due, CODE)))


def by_time(log: Log, times: Ints, span: Span) -> Log:
    """What began, each from the time of its instant on."""
    born = log.born
    return of_tuples(replace(born, start=times[born.start - span.before], end=np.full(len(born), LATEST)))
