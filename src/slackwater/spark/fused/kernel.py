"""What the host asks of a kernel, and chains as such kernels."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from slackwater.kernels.chain import parse
from slackwater.kernels.fused import EVENT_TIME, Fused
from slackwater.kernels.stages import Later, Opening
from slackwater.kernels.state import State

Batches = Mapping[str, pa.RecordBatch]

RESULT, LATE = "result", "late"
"""The outputs that every kernel has. One with several inputs may have late rows for each: `late/NAME`. How many windows
a late row missed is in the column `MISSED`."""
MISSED = "missed"


def is_late(output: str) -> bool:
    """Whether an output is of late rows.

    >>> is_late("late"), is_late("late/Traffic"), is_late("result")
    (True, True, False)
    """
    return output.partition("/")[0] == LATE


def missed(output: str, rows: pa.RecordBatch) -> int:
    """How many rows of an output missed something."""
    return pc.sum(pc.greater(rows.column(MISSED), 0)).as_py() or 0 if is_late(output) else 0


class Kept(Protocol):
    """A state: a head, written at each batch, and pieces that are written once under names that are never reused."""

    def names(self) -> list[str]: ...

    def piece(self, name: str) -> bytes: ...


class Hosted(Protocol):
    """A kernel with named inputs and outputs, all in Arrow. A step leaves the state that it is given alone."""

    @property
    def inputs(self) -> Mapping[str, pa.Schema]: ...

    @property
    def outputs(self) -> Mapping[str, pa.Schema]: ...

    def init(self) -> Any: ...

    def read(self, fetch: Callable[[str], bytes]) -> Any:
        """The state whose pieces `fetch` gives by name, `head` first; others when they are needed."""
        ...

    def step(self, state: Any, batches: Batches, punctuation: int) -> tuple[Any, Batches]:
        """One batch: an input that got no rows has none in `batches`. Times are in microseconds."""
        ...


class ChainKernel:
    """A chain of operators, or a stage of one, over the one stream that is its input."""

    def __init__(self, steps: Fused | Opening | Later, nothing: pa.RecordBatch, stream: str, *outputs: str) -> None:
        self.steps, self.nothing, self.stream = steps, nothing, stream
        _, result, late = steps.step(steps.init(), nothing, 0)
        made = {RESULT: result, LATE: late}
        self._outputs = {name: made[name].schema for name in outputs}

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

    def step(self, state: State, batches: Batches, punctuation: int) -> tuple[State, Batches]:
        after, result, late = self.steps.step(state, batches.get(self.stream, self.nothing), punctuation)
        made = {RESULT: result, LATE: late}
        return after, {name: made[name] for name in self._outputs}


def plain_columns(schema: pa.Schema) -> list[str]:
    """The columns of a result that a query names: all but its event time."""
    return [name for name in schema.names if name != EVENT_TIME]


@lru_cache(maxsize=64)
def kernel_of(document: str, stream: str) -> ChainKernel:
    """The kernel of a chain, compiled once in each worker."""
    fused = Fused(json.loads(document))
    return ChainKernel(fused, pa.RecordBatch.from_pylist([], fused.chain.schema), stream, RESULT, LATE)


@lru_cache(maxsize=64)
def stage_of(document: str, number: int, stream: str) -> ChainKernel:
    """The kernel of a stage, compiled once in each worker."""
    chain = parse(document)
    if number == 0:
        first = Opening(chain)
        return ChainKernel(first, first.nothing, stream, RESULT, LATE)
    later = Later(chain, number)
    return ChainKernel(later, later.nothing, RESULT, RESULT)
