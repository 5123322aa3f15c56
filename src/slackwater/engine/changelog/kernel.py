"""A query under EMIT CHANGES as one kernel: a tree of operators, evaluated bottom-up once per batch.

    kernel = changelog_kernel(query)
    state = kernel.init()
    state, changelog, refused = kernel.step(state, {"S": batch}, punctuation)[:3]

Every operator reads the changelogs of its inputs up to the punctuation and yields its own for the same stretch of time.
Nothing that it yields is taken back by later input, and all keys are computed at once.

A query whose windows all end at boundaries needs no tree: it is the chain of EMIT FINAL, and each of its results lives
for one slide (`BoundaryChain`, with the same interface).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.chained import SETTLED, ChainReader, meeting_name
from slackwater.engine.changelog.inputs import InputReader, Taken, Waiting
from slackwater.engine.changelog.living import KeptState, kept
from slackwater.engine.changelog.log import TupleLog, Tuples, compressed, of_tuples
from slackwater.engine.changelog.operators import Operators, check
from slackwater.engine.changelog.profiles import check_profile, check_upserts, written
from slackwater.engine.columns.arrays import EARLIEST, LATEST, ints
from slackwater.engine.columns.state import Memory, State
from slackwater.engine.fused import EVENT_TIME, PUNCTUATION, Fused
from slackwater.engine.operators.steps import Span
from slackwater.engine.plan import Boundaries, Chained, Node, Piped, Query, Source, children, meeting_of, walk


class ChangelogStep(NamedTuple):
    """What a step yields: the next state, the rows of the changelog, and by input the rows that were refused.

    `log` is the changelog before it was written as rows, `now` the end of the stretch of time that it is about.
    """

    state: State
    changelog: pa.RecordBatch
    refused: dict[str, pa.RecordBatch]
    log: TupleLog
    now: int


class ChangelogKernel:
    """The kernel of a query. `net` compresses each batch to its net change, `profile` and `upserts` say how rows are
    written.

    The punctuation is that of the query; where each input has its own, they are given by name, and the query's is the
    smallest, as Spark's watermark is.
    """

    def __init__(
        self,
        query: Query,
        net: bool = False,
        profile: str = "changes",
        upserts: bool = False,
    ) -> None:
        self.query = check(query)
        self.net = net
        self.profile = check_profile(profile)
        self.upserts = check_upserts(upserts, self.query.root.edge.key)
        self.read = {node.input for node in walk(self.query.root) if isinstance(node, Source)}
        self.readers = {name: InputReader(f"in.{name}", given) for name, given in self.query.inputs.items()}
        self.operators = Operators(self.query, {name: reader.sample for name, reader in self.readers.items()})
        meetings = map(meeting_of, walk(self.query.root))
        self.meetings = {meeting_name(number) for number in meetings if number is not None}

    @property
    def kept(self) -> list[KeptState]:
        """The lines of EXPLAIN: every operator, its class, its key, and what it keeps."""
        return kept(self.query)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the changelog."""
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
        """One batch. With `everything` rows from the punctuation on are released too, at the last tick before it."""
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
        taken = self._taken(memory, batches, span)
        log, span = self._told(memory, self.query.root, taken, span, "")
        if self.net:
            log = compressed(log, span.now)
        by_input = [(self._input(source), each) for source, each in taken.items()]
        refused = {name: each.refused for name, each in reversed(by_input)}
        return ChangelogStep(memory.state(), self._written(log), refused, log, span.now)

    def _taken(self, memory: Memory, batches: Mapping[str, pa.RecordBatch], span: Span) -> dict[str | int, Taken]:
        """What the batch comes to, by the name of a stream, then by the node of a chain."""
        taken: dict[str | int, Taken] = {}
        streams = [(name, reader) for name, reader in self.readers.items() if name in self.read]
        sources: list[tuple[str | int, InputReader | ChainReader]] = [*streams, *self.operators.chains.items()]
        for source, reader in sources:
            name = self._input(source)
            none = pa.RecordBatch.from_pylist([], self.query.inputs[name].schema)
            taken[source] = reader.step(memory, batches.get(name, none), span)
        return taken

    def _told(
        self, memory: Memory, root: Node, taken: Mapping[str | int, Taken], span: Span, name: str
    ) -> tuple[TupleLog, Span]:
        """The changelog of a part of the tree, down to what is piped, and the stretch of time that it is about."""
        own: dict[str | int, Taken] = {}
        for leaf in leaves(root):
            if isinstance(leaf, Piped):
                within = f"{name}{self.operators.names[id(leaf)]}."
                log, known = self._told(memory, leaf.child, taken, span, within)
                piped = self.operators.pipes[id(leaf)].step(memory, log, known)
                own[id(leaf)] = piped._replace(upto=min(piped.upto, known.now))
            else:
                source = leaf.input if isinstance(leaf, Source) else id(leaf)
                own[source] = taken[source]
        if self.operators.slotted:
            own, span = self._settled(memory, own, span, name)
        return self.operators.log(memory, root, {source: each.log for source, each in own.items()}, span), span

    def _settled(
        self, memory: Memory, taken: dict[str | int, Taken], span: Span, part: str
    ) -> tuple[dict[str | int, Taken], Span]:
        """What all inputs have told, and the stretch of time that it is about: that of the slowest."""
        before = memory.number(f"{part}{SETTLED}", EARLIEST)
        now = max(before, min(span.now, *(each.upto for each in taken.values())))
        memory.put(f"{part}{SETTLED}", now)
        told: dict[str | int, Taken] = {}
        for source, each in taken.items():
            name = source if isinstance(source, str) else f"{self.operators.names[source]}."
            told[source] = each._replace(log=Waiting(f"{part}waiting.{name}").step(memory, each.log, now))
        return told, Span(before, now)

    def _input(self, source: str | int) -> str:
        """The input that a stream or a chain reads."""
        return source if isinstance(source, str) else self.operators.inputs[source]

    def _written(self, log: TupleLog) -> pa.RecordBatch:
        return written(log, self.profile, self.query.root.edge.key, self.net, self.upserts)

    def _marks(self, memory: Memory, given: int | Mapping[str, int]) -> dict[str, int]:
        """The punctuations of the inputs, none of which goes back."""
        marks: dict[str, int] = {}
        for name in self.query.inputs:
            place = f"in.{name}.punctuation"
            mark = int(given[name] if isinstance(given, Mapping) else given)
            marks[name] = max(memory.number(place, EARLIEST), mark)
            memory.put(place, marks[name])
        return marks


def leaves(node: Node) -> Iterator[Source | Chained | Piped]:
    """Where a part of the tree begins: what it reads, and what is piped to it."""
    if isinstance(node, Source | Chained | Piped):
        yield node
    else:
        for each in children(node):
            yield from leaves(each)


def changelog_kernel(
    plan: Boundaries | Query, net: bool = False, profile: str = "changes", upserts: bool = False
) -> Kernel:
    """Return the kernel of a query's changelog for either kind of plan."""
    if isinstance(plan, Boundaries):
        return BoundaryChain(plan, net, profile, upserts)
    return ChangelogKernel(plan, net, profile, upserts)


class BoundaryChain:
    """The changelog of a chain whose results come at boundaries."""

    def __init__(self, plan: Boundaries, net: bool = False, profile: str = "changes", upserts: bool = False) -> None:
        self.input, self.slide, self.key = plan.input, plan.slide, plan.key
        self.chain = Fused(plan.chain)
        self.net = net
        self.profile = check_profile(profile)
        self.upserts = check_upserts(upserts, self.key)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the changelog."""
        return self.step(self.init(), {}, EARLIEST).changelog.schema

    @property
    def kept(self) -> list[KeptState]:
        """The line of EXPLAIN: the answers of a boundary all end at the next."""
        return [KeptState("chain", 0, 2, self.key, ("what its windows keep",))]

    def init(self) -> State:
        return self.chain.init()

    def step(
        self,
        state: State,
        batches: Mapping[str, pa.RecordBatch],
        punctuation: int | Mapping[str, int],
        *,
        everything: bool = False,
    ) -> ChangelogStep:
        mark = int(punctuation[self.input] if isinstance(punctuation, Mapping) else punctuation)
        none = pa.RecordBatch.from_pylist([], self.chain.chain.input.schema)
        state, output = self.chain.step(state, batches.get(self.input, none), mark, everything=everything)
        log = self._log(output)
        now = int(state.head[PUNCTUATION][0].as_py())
        if self.net:
            log = compressed(log, now)
        refused = {self.input: none}
        lines = written(log, self.profile, self.key, self.net, self.upserts)
        return ChangelogStep(state, lines, refused, log, now)

    def _log(self, output: pa.RecordBatch) -> TupleLog:
        start = ints(output.column(EVENT_TIME))
        end = np.minimum(start, LATEST - self.slide) + self.slide
        order = np.arange(len(start))
        return of_tuples(Tuples(output.drop_columns([EVENT_TIME]), start, end, (start, order)))


Kernel = ChangelogKernel | BoundaryChain
