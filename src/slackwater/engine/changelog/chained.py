"""A chain with final answers as the input of a tree: its rows live for ever, or, at boundaries, until the next.

What a subquery with a window and an aggregate yields is a stream to what reads it; an answer at a boundary stands until
the next, and never has to be taken back. The chain of operators that computes either for EMIT FINAL (kernels.chain)
computes it here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.inputs import Taken
from slackwater.engine.changelog.log import TupleLog, Tuples, in_order, of_tuples
from slackwater.engine.changelog.meeting import MeetingSide
from slackwater.engine.columns.arrays import EARLIEST, LATEST, Ints, moments
from slackwater.engine.columns.rows import CAME, Rows
from slackwater.engine.columns.segments import Store
from slackwater.engine.columns.state import Memory, State
from slackwater.engine.columns.types import type_name
from slackwater.engine.compile import compiled
from slackwater.engine.operators.hold import entered
from slackwater.engine.operators.steps import RowWise, Span
from slackwater.engine.plan import Chain, Frequency, Input, Item, Project, Step

TIME = "#time"
"""The event time of rows that come from other operators, which need not have a column of it."""
ARRIVAL = "#arrival"
"""Their arrival."""


class Within(Memory):
    """The part of a memory under a prefix: a chain names what it keeps as if it were alone."""

    def __init__(self, memory: Memory, prefix: str) -> None:
        self._memory, self._prefix = memory, prefix

    def ints(self, name: str) -> Ints:
        return self._memory.ints(self._prefix + name)

    def number(self, name: str, default: int = 0) -> int:
        return self._memory.number(self._prefix + name, default)

    def column(self, name: str) -> pa.Array | None:
        return self._memory.column(self._prefix + name)

    def put(self, name: str, values: Any) -> None:
        self._memory.put(self._prefix + name, values)

    def names(self, prefix: str) -> list[str]:
        return [name.removeprefix(self._prefix) for name in self._memory.names(self._prefix + prefix)]

    def store(self, name: str, clock: str) -> Store:
        return self._memory.store(self._prefix + name, clock)

    def put_store(self, name: str, store: Store) -> None:
        self._memory.put_store(self._prefix + name, store)


class ChainReader:
    """One chain over one input; its rows have their places among those of other streams (sequence.py)."""

    def __init__(self, name: str, chain: Chain, lifetime: int | None, meeting: int | None = None) -> None:
        self.prefix = f"{name}."
        self.chain = chain
        self.compiled = compiled(chain, came=chain.input.arrival is not None)
        self.lifetime = lifetime
        self.side = (
            MeetingSide(meeting, chain.steps, self.compiled, lifetime) if meeting is not None and lifetime else None
        )
        self.operators = (*self.compiled.operators, RowWise(()))
        self.slotted = self._slotted()
        self.none = pa.RecordBatch.from_pylist([], self.chain.input.schema)
        self.sample = self.step(Memory(State()), self.none, Span(EARLIEST, EARLIEST)).log.born

    def step(self, memory: Memory, batch: pa.RecordBatch, span: Span) -> Taken:
        """Take in a batch; `span` is that of the query's clock."""
        within = Within(memory, self.prefix)
        rows, through = entered(within, self.chain.input, batch), span
        for place, operator in enumerate(self.operators):
            here = self.side if self.side is not None and place == self.side.place else None
            if here is not None:
                through = here.met(memory, within, rows.time, through)
            rows, through = operator.step(within, rows, through)
            if here is not None:
                rows = here.held(memory, rows, through)
        first = within.number("results")
        within.put("results", first + len(rows))
        last = LATEST if self.lifetime is None else np.minimum(rows.time, LATEST - self.lifetime) + self.lifetime
        end = np.broadcast_to(last, len(rows)).copy()
        tuples = Tuples(rows.batch, rows.time, end, (rows.time, came(rows), np.arange(first, first + len(rows))))
        return Taken(in_order(of_tuples(tuples)), self.none, through.now if self.slotted else LATEST)

    def _slotted(self) -> bool:
        """Whether rows are known only when a slot of time has passed: others that are later have to wait for them."""
        return any(isinstance(step, Frequency) and step.every.is_time and not step.strict for step in self.chain.steps)


def came(rows: Rows) -> Ints:
    """When the rows arrived that caused these; none did at a boundary."""
    mark = rows.marks.get(CAME)
    arrival: Ints = np.full(len(rows), EARLIEST) if mark is None else mark.to_numpy()
    return arrival


class Pipe:
    """A window, a frequency or more over rows that other operators have put in order: a chain of these steps."""

    def __init__(
        self,
        name: str,
        steps: Sequence[Step],
        lifetime: int | None,
        sample: Tuples,
        meeting: int | None = None,
    ) -> None:
        fields = [(field.name, type_name(field.type)) for field in sample.rows.schema]
        given = Project(tuple(Item(column, ("column", column), kind) for column, kind in fields))
        stream = Input((*fields, (TIME, "timestamp"), (ARRIVAL, "timestamp")), TIME, ARRIVAL)
        chain = Chain(stream, (given, *steps))
        self.reader = ChainReader(name, chain, lifetime, meeting)

    def step(self, memory: Memory, log: TupleLog, span: Span) -> Taken:
        _, arrival, _ = log.born.ids
        rows = log.born.rows.append_column(TIME, moments(log.born.start))
        rows = rows.append_column(ARRIVAL, moments(arrival, arrival > EARLIEST))
        return self.reader.step(memory, rows, span)
