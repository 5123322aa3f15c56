"""Define what an operator of Spark expects of its kernel, and host the kernels of chains and of changelogs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Protocol

import pyarrow as pa

from slackwater.engine.chain import PUNCTUATION, ChainKernel
from slackwater.engine.changelog.kernel import ChangelogKernel
from slackwater.engine.changelog.log import handed_rows, rows_of
from slackwater.engine.columns.arrays import EARLIEST
from slackwater.engine.columns.state import Memory, State
from slackwater.engine.plan import decode
from slackwater.spark.operator.writing import Form

Batches = Mapping[str, pa.RecordBatch]

RESULT = "result"
"""The output that every kernel has. Late rows are no output: they are read from the stream (watermark/lateness.py)."""
REFUSED = "refused"
COMPUTED = "#"
"""The names of computed columns begin with this, so that no column of a stream is named so."""


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


class HostedChain:
    """Runs a chain, or a stage of one, over its only input."""

    def __init__(self, steps: ChainKernel, stream: str) -> None:
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
def kernel_of(document: str, stream: str, stage: int | None = None) -> HostedChain:
    """Return the kernel of a chain, or of a stage of it, compiled once in each worker."""
    return HostedChain(ChainKernel(decode(document), stage), RESULT if stage else stream)


class HostedChangelog:
    """The kernel of a changelog. Its outputs are the changelog, and the rows that each stream refuses.

    Without a form the changelog consists of rows that Spark can change before it is written. With `handed`, these rows
    also have what another operator needs to read them.
    """

    def __init__(self, document: str, form: Form | None, *, handed: bool = False) -> None:
        self.form, self.handed = form, handed
        plain = form or Form(net=False)
        self.kernel = ChangelogKernel(decode(document), plain.net, plain.profile, plain.upserts)
        self.outputs = {name: batch.schema for name, batch in self.step(State(), {}, EARLIEST)[1].items()}

    def take_back(self, state: State, punctuation: int) -> State:
        """Return the state as it is: a flush of a changelog takes time no further than its newest row."""
        return state

    def step(
        self, state: State, batches: Batches, punctuation: int, *, everything: bool = False
    ) -> tuple[State, Batches]:
        after, changelog, refused, log, now = self.kernel.step(state, batches, punctuation, everything=everything)
        plain = handed_rows(log) if self.handed else rows_of(log, now)
        result = plain if self.form is None else changelog
        return after, {RESULT: result} | {output_of(name): _without_computed(rows) for name, rows in refused.items()}


def _without_computed(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows without the columns that Spark computed of them."""
    return rows.select([name for name in rows.schema.names if not name.startswith(COMPUTED)])


def output_of(stream: str) -> str:
    """Return the name of the output with the rows that a stream with CHANGELOG BY refuses."""
    return f"{REFUSED}/{stream}"


def count_refused(metrics: Mapping[str, int | None]) -> dict[str, int]:
    """Return the number of rows that each stream refused, from the counts of outputs in Spark's progress.

    >>> count_refused({"refused/Edits": 3, "refused/Other": None})
    {'Edits': 3, 'Other': 0}
    """
    return {output.removeprefix(output_of("")): rows or 0 for output, rows in metrics.items()}


@lru_cache(maxsize=64)
def changelog_kernel_of(document: str, form: Form | None, *, handed: bool = False) -> HostedChangelog:
    """Return the kernel of a changelog, compiled once in each worker."""
    return HostedChangelog(document, form, handed=handed)
