"""A query under EMIT CHANGES as one kernel: a tree of operators, evaluated bottom-up once per batch.

    kernel = ChangelogKernel(query)
    state = kernel.init()
    state, changelog, refused = kernel.step(state, {"S": batch}, punctuation)[:3]

Every operator reads the changelogs of its inputs up to the punctuation and returns its own for the same span of time.
Later input changes nothing of it, and all keys are computed at once.

The tree of a query whose windows all end at boundaries is one leaf: the chain of EMIT FINAL, each of whose results
lives for one slide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pyarrow as pa

from slackwater.engine.chain import PUNCTUATION
from slackwater.engine.changelog.chained import SETTLED, ChainReader, meeting_name
from slackwater.engine.changelog.inputs import HandedReader, InputReader, Taken, Waiting
from slackwater.engine.changelog.log import TupleLog, compressed, of_tuples
from slackwater.engine.changelog.operators import Operators, check
from slackwater.engine.changelog.profiles import check_profile, check_upserts, written
from slackwater.engine.columns.arrays import EARLIEST, LATEST
from slackwater.engine.columns.state import Memory, State
from slackwater.engine.operators.steps import Span
from slackwater.engine.plan import Chained, EnginePlan, Node, Piped, Source, children, meeting_of


class ChangelogStep(NamedTuple):
    """The result of a step: the next state, the rows of the changelog, and the refused rows of each input.

    `log` is the changelog before it was written as rows, `now` the end of the span of time that it covers.
    """

    state: State
    changelog: pa.RecordBatch
    refused: dict[str, pa.RecordBatch]
    log: TupleLog
    now: int


class ChangelogKernel:
    """The kernel of a query. `net` compresses each batch to its net change; `profile` and `upserts` state the format.

    A step takes one punctuation, or one for each input by name; then that of the query is the smallest, like Spark's
    watermark.
    """

    def __init__(
        self,
        query: EnginePlan,
        net: bool = False,
        profile: str = "changes",
        upserts: bool = False,
    ) -> None:
        self.query = check(query)
        self.net = net
        self.profile = check_profile(profile)
        self.upserts = check_upserts(upserts, self.query.root.edge.key)
        read = {node.input for node in query.nodes if isinstance(node, Source)}
        self.readers: dict[str, InputReader | HandedReader] = {
            name: HandedReader(given) if given.ids else InputReader(f"in.{name}", given)
            for name, given in self.query.inputs.items()
            if name in read
        }
        self.operators = Operators(self.query, {name: reader.sample for name, reader in self.readers.items()})
        meetings = map(meeting_of, query.nodes)
        self.meetings = {meeting_name(number) for number in meetings if number is not None}

    @property
    def schema(self) -> pa.Schema:
        """Return the columns of the changelog."""
        return self._written(of_tuples(self.operators.sample)).schema

    def init(self) -> State:
        return State()

    def step(
        self,
        state: State,
        batches: Mapping[str, pa.RecordBatch],
        punctuation: int | Mapping[str, int],
        *,
        everything: bool = False,
    ) -> ChangelogStep:
        """Process one batch.

        With `everything`, rows from the punctuation on are released as well, at the last tick before it. At the end of
        all streams, windows of a meeting may still add boundaries that the others need: then the step is repeated with
        these boundaries until none is new.
        """
        told: dict[str, list[int]] = {}
        while True:
            memory = Memory(state)
            for name, boundaries in told.items():
                memory.put(name, boundaries)
            made = self._step(memory, batches, self._span(memory, punctuation, everything=everything))
            met = {name: memory.ints(name).tolist() for name in self.meetings}
            if memory.number(PUNCTUATION) < LATEST or met == told:
                return made
            told = met

    def _span(self, memory: Memory, punctuation: int | Mapping[str, int], *, everything: bool) -> Span:
        marks = self._marks(memory, punctuation)
        span = Span.until(memory.number(PUNCTUATION, EARLIEST), min(marks.values()), everything=everything)
        memory.put(PUNCTUATION, span.now)
        return span

    def _step(self, memory: Memory, batches: Mapping[str, pa.RecordBatch], span: Span) -> ChangelogStep:
        if self.operators.slotted:
            memory.put(SETTLED, memory.number(SETTLED, EARLIEST))
        taken = self._read_batch(memory, batches, span)
        for number, each in enumerate(self.query.beside):
            self._subtree_log(memory, each, taken, span, f"beside.{number}.")
        log, span = self._subtree_log(memory, self.query.root, taken, span, "")
        if self.net:
            log = compressed(log, span.now)
        by_input = [(self._input(source), each) for source, each in taken.items()]
        refused = {name: each.refused for name, each in reversed(by_input)}
        return ChangelogStep(memory.state(), self._written(log), refused, log, span.now)

    def _read_batch(self, memory: Memory, batches: Mapping[str, pa.RecordBatch], span: Span) -> dict[str | int, Taken]:
        """Return the result of each reader for the batch: streams by name, then chains by the id of their node."""
        taken: dict[str | int, Taken] = {}
        readers: list[tuple[str | int, InputReader | HandedReader | ChainReader]]
        readers = [*self.readers.items(), *self.operators.chains.items()]
        for source, reader in readers:
            name = self._input(source)
            none = pa.RecordBatch.from_pylist([], self.query.inputs[name].schema)
            taken[source] = reader.step(memory, batches.get(name, none), span)
        return taken

    def _subtree_log(
        self, memory: Memory, root: Node, taken: Mapping[str | int, Taken], span: Span, name: str
    ) -> tuple[TupleLog, Span]:
        """Return the changelog of a subtree, and the span of time that it covers. Pipes below it are computed first."""
        own: dict[str | int, Taken] = {}
        for leaf in leaves(root):
            if isinstance(leaf, Piped):
                within = f"{name}{self.operators.names[id(leaf)]}."
                log, known = self._subtree_log(memory, leaf.child, taken, span, within)
                piped = self.operators.pipes[id(leaf)].step(memory, log, known)
                own[id(leaf)] = piped._replace(upto=min(piped.upto, known.now))
            else:
                source = leaf.input if isinstance(leaf, Source) else id(leaf)
                own[source] = taken[source]
        if self.operators.slotted:
            own, span = self._settle(memory, own, span, name)
        return self.operators.log(memory, root, {source: each.log for source, each in own.items()}, span), span

    def _settle(
        self, memory: Memory, taken: dict[str | int, Taken], span: Span, part: str
    ) -> tuple[dict[str | int, Taken], Span]:
        """Return the changes up to the time that all inputs have reached, and the span of time up to there."""
        before = memory.number(f"{part}{SETTLED}", EARLIEST)
        now = max(before, min(span.now, *(each.upto for each in taken.values())))
        memory.put(f"{part}{SETTLED}", now)
        told: dict[str | int, Taken] = {}
        for source, each in taken.items():
            name = source if isinstance(source, str) else f"{self.operators.names[source]}."
            told[source] = each._replace(log=Waiting(f"{part}waiting.{name}").step(memory, each.log, now))
        return told, Span(before, now)

    def _input(self, source: str | int) -> str:
        """Return the name of the input that a stream or a chain reads."""
        return source if isinstance(source, str) else self.operators.inputs[source]

    def _written(self, log: TupleLog) -> pa.RecordBatch:
        return written(log, self.profile, self.query.root.edge.key, self.net, self.upserts)

    def _marks(self, memory: Memory, given: int | Mapping[str, int]) -> dict[str, int]:
        """Return the punctuation of each input, none of which goes back."""
        marks: dict[str, int] = {}
        for name in self.query.inputs:
            place = f"in.{name}.punctuation"
            mark = int(given[name] if isinstance(given, Mapping) else given)
            marks[name] = max(memory.number(place, EARLIEST), mark)
            memory.put(place, marks[name])
        return marks


def leaves(node: Node) -> Iterator[Source | Chained | Piped]:
    """Return the leaves of a subtree: inputs, chains and pipes."""
    if isinstance(node, Source | Chained | Piped):
        yield node
    else:
        for each in children(node):
            yield from leaves(each)
