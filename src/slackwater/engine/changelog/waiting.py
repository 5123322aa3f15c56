"""Changes of one input that wait for another input: a row sampled by time is known when its slot has passed.

A query has one clock, that of its slowest input. Later changes of other inputs are kept here until all inputs have
reached their time.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from slackwater.engine.changelog.living import CODE, START, numbers, tuples_of, with_code
from slackwater.engine.changelog.log import TupleLog, of_tuples
from slackwater.engine.columns.arrays import EARLIEST, NO_INTS
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.steps import Span


class Waiting:
    """The waiting changes of an input: begun tuples by their start, ended tuples by their end (as their code)."""

    def __init__(self, name: str) -> None:
        self.name = name

    def step(self, memory: Memory, log: TupleLog, upto: int) -> TupleLog:
        """Add changes, and return those before a time."""
        born = self._due(memory, f"{self.name}.born", START, with_code(log.born, log.born.start), upto)
        ended = self._due(memory, f"{self.name}.ended", CODE, with_code(log.ended, log.at), upto)
        begun = log.born.at(NO_INTS) if born is None else tuples_of(born)
        if ended is None:
            return TupleLog(begun, log.ended.at(NO_INTS), NO_INTS, NO_INTS)
        return TupleLog(begun, tuples_of(ended), numbers(ended, CODE))

    def _due(self, memory: Memory, name: str, clock: str, new: pa.RecordBatch, upto: int) -> pa.RecordBatch | None:
        due, store = memory.store(name, clock).add(new).due(upto - 1 if upto > EARLIEST else EARLIEST)
        memory.put_store(name, store)
        return due


class ReadAt:
    """Answers that wait for the boundary at which they are read. Their time becomes the boundary minus one tick."""

    def __init__(self, name: str, slide: int) -> None:
        self.waiting = Waiting(f"{name}.waiting")
        self.slide = slide

    def step(self, memory: Memory, log: TupleLog, span: Span) -> TupleLog:
        start = (log.born.start // self.slide + 1) * self.slide - 1
        read = replace(log.born, start=start, end=start + self.slide)
        return self.waiting.step(memory, of_tuples(read), span.now)
