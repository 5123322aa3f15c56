"""The interface of kernels to their host, and chains as such kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Protocol

import pyarrow as pa

from slackwater.engine.columns.arrays import EARLIEST
from slackwater.engine.columns.state import Memory, State
from slackwater.engine.fused import EVENT_TIME, PUNCTUATION, Fused
from slackwater.engine.plan import decode

Batches = Mapping[str, pa.RecordBatch]

RESULT = "result"
"""The output that every kernel has. Late rows are no output: they are read from the stream (watermark/lateness.py)."""


class Hosted(Protocol):
    """A kernel with named inputs and outputs, all in Arrow. A step does not change the state that it is given."""

    @property
    def inputs(self) -> Mapping[str, pa.Schema]: ...

    @property
    def outputs(self) -> Mapping[str, pa.Schema]: ...

    def init(self) -> Any: ...

    def read(self, fetch: Callable[[str], bytes]) -> Any:
        """Return the state whose pieces `fetch` returns by name: `head` at once, the others when they are needed."""
        ...

    def take_back(self, state: Any, punctuation: int) -> Any:
        """Return the state with an earlier punctuation: rows from it on are no longer late. Emitted results stay."""
        ...

    def step(self, state: Any, batches: Batches, punctuation: int, *, everything: bool = False) -> tuple[Any, Batches]:
        """Process one batch. `batches` has no entry for an input without rows. Times are in microseconds.

        With `everything`, a changelog also releases the rows beyond the punctuation, at the punctuation.
        """
        ...


class ChainKernel:
    """A chain of operators, or a stage of one, over the one stream that is its input."""

    def __init__(self, steps: Fused, stream: str) -> None:
        self.steps, self.nothing, self.stream = steps, steps.nothing, stream
        _, result = steps.step(steps.init(), steps.nothing, 0)
        self._outputs = {RESULT: result.schema}

    @property
    def inputs(self) -> dict[str, pa.Schema]:
        return {self.stream: self.nothing.schema}

    @property
    def outputs(self) -> dict[str, pa.Schema]:
        return self._outputs

    def init(self) -> State:
        return self.steps.init()

    def read(self, fetch: Callable[[str], bytes]) -> State:
        return State.read(fetch)

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


def plain_columns(schema: pa.Schema) -> list[str]:
    """Return the columns of a result that the query names: all but its event time."""
    return [name for name in schema.names if name != EVENT_TIME]


@lru_cache(maxsize=64)
def kernel_of(document: str, stream: str) -> ChainKernel:
    """Return the kernel of a chain, compiled once in each worker."""
    return ChainKernel(Fused(decode(document)), stream)


@lru_cache(maxsize=64)
def stage_of(document: str, number: int, stream: str) -> ChainKernel:
    """Return the kernel of a stage, compiled once in each worker."""
    return ChainKernel(Fused(decode(document), number), RESULT if number else stream)
