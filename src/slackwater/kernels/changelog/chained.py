"""A chain with final answers as the input of a tree: its rows live for ever, or, at boundaries, until the next.

What a subquery with a window and an aggregate yields is a stream to what reads it; an answer at a boundary stands until
the next, and never has to be taken back. The chain of operators that computes either for EMIT FINAL (kernels.chain)
computes it here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from slackwater.kernels.arrays import EARLIEST, LATEST, Ints, ints, picked, valid
from slackwater.kernels.chain import Frequency, parse
from slackwater.kernels.changelog.inputs import Taken, late_rows
from slackwater.kernels.changelog.log import Tuples, in_order, of_tuples
from slackwater.kernels.changelog.tree import Chained
from slackwater.kernels.compile import compiled
from slackwater.kernels.fused import typed
from slackwater.kernels.hold import arrived
from slackwater.kernels.segments import Store
from slackwater.kernels.state import Memory, State
from slackwater.kernels.steps import Span


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
    """One chain over one input."""

    def __init__(self, name: str, node: Chained) -> None:
        self.prefix = f"{name}."
        self.chain = parse(node.chain)
        self.compiled = compiled(self.chain)
        self.lifetime = node.lifetime
        self.slotted = self._slotted()
        self.none = pa.RecordBatch.from_pylist([], self.chain.schema)
        self.sample = self.step(Memory(State()), self.none, Span(EARLIEST, EARLIEST), EARLIEST).log.born

    def step(self, memory: Memory, batch: pa.RecordBatch, span: Span, own: int) -> Taken:
        """Take in a batch; `span` is that of the query's clock, `own` the punctuation of this input."""
        within = Within(memory, self.prefix)
        batch = typed(batch, self.chain.schema)
        known = valid(batch.column(self.chain.time))
        placed = picked(batch, known)
        time = ints(placed.column(self.chain.time))
        late = late_rows(batch, known, time, own, lambda times: self.compiled.missed(times, span.before))
        rows, through = arrived(within, "arrived", placed, time, self.chain.arrival), span
        for operator in self.compiled.operators:
            rows, through = operator.step(within, rows, through)
        first = within.number("results")
        within.put("results", first + len(rows))
        last = LATEST if self.lifetime is None else np.minimum(rows.time, LATEST - self.lifetime) + self.lifetime
        end = np.broadcast_to(last, len(rows)).copy()
        tuples = Tuples(rows.batch, rows.time, end, (np.arange(first, first + len(rows)),))
        return Taken(in_order(of_tuples(tuples)), late, self.none, through.now if self.slotted else LATEST)

    def _slotted(self) -> bool:
        """Whether rows are known only when a slot of time has passed: others that are later have to wait for them."""
        return any(isinstance(step, Frequency) and step.every.is_time and not step.strict for step in self.chain.steps)
