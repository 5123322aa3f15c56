"""Define what an operator of Spark expects of its kernel, and make such kernels of chains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Protocol

import pyarrow as pa

from slackwater.engine.columns.arrays import EARLIEST
from slackwater.engine.columns.state import Memory, State
from slackwater.engine.fused import PUNCTUATION, Fused
from slackwater.engine.plan import decode

Batches = Mapping[str, pa.RecordBatch]

RESULT = "result"
"""The output that every kernel has. Late rows are no output: they are read from the stream (watermark/lateness.py)."""


class Hosted(Protocol):
    """A kernel with named inputs and outputs, all in Arrow. A step does not change the state that it is given."""

    @property
    def outputs(self) -> Mapping[str, pa.Schema]: ...

    def take_back(self, state: State, punctuation: int) -> State:
        """Return the state with an earlier punctuation: rows from it on are no longer late. Emitted results stay."""
        ...

    def step(
        self, state: State, batches: Batches, punctuation: int, *, everything: bool = False
    ) -> tuple[State, Batches]:
        """Process one batch. `batches` has no entry for an input without rows. Times are in microseconds.

        With `everything`, a changelog also releases the rows beyond the punctuation, at the punctuation.
        """
        ...


class ChainKernel:
    """Runs a chain, or a stage of one, over its only input."""

    def __init__(self, steps: Fused, stream: str) -> None:
        self.steps, self.nothing, self.stream = steps, steps.nothing, stream
        _, result = steps.step(steps.init(), steps.nothing, 0)
        self.outputs = {RESULT: result.schema}

    def take_back(self, state: State, punctuation: int) -> State:
        return with_punctuation(state, punctuation)

    def step(
        self, state: State, batches: Batches, punctuation: int, *, everything: bool = False
    ) -> tuple[State, Batches]:
        after, result = self.steps.step(state, batches.get(self.stream, self.nothing), punctuation)
        return after, {RESULT: result}


def with_punctuation(state: State, punctuation: int) -> State:
    """Return the state as if this had been the last punctuation; empty stores accept rows from any time on again."""
    memory = Memory(state)
    memory.put(PUNCTUATION, punctuation)
    for name, store in state.stores.items():
        memory.put_store(name, store if store.segments else replace(store, floor=EARLIEST))
    return memory.state()


@lru_cache(maxsize=64)
def kernel_of(document: str, stream: str, stage: int | None = None) -> ChainKernel:
    """Return the kernel of a chain, or of a stage of it, compiled once in each worker."""
    return ChainKernel(Fused(decode(document), stage), RESULT if stage else stream)
