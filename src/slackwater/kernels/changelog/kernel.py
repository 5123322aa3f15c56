"""A query under EMIT CHANGES as one kernel: a tree of operators, evaluated bottom-up once per batch.

    kernel = Changes(description)
    state = kernel.init()
    state, changelog, late, refused = kernel.step(state, {"S": batch}, punctuation)[:4]

Every operator reads the changelogs of its inputs up to the punctuation, all changes before it, and yields its own for
the same stretch of time: nothing that it yields is taken back by what comes later, and all keys are worked on at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from slackwater.errors import QueryError
from slackwater.kernels.arrays import EARLIEST, LATEST
from slackwater.kernels.chain import parse as parse_chain
from slackwater.kernels.changelog.aggregate import Grouped
from slackwater.kernels.changelog.chained import ChainReader, Pipe
from slackwater.kernels.changelog.compress import compressed
from slackwater.kernels.changelog.counted import Counted as CountedWindow
from slackwater.kernels.changelog.inputs import Reader, Taken
from slackwater.kernels.changelog.join import Joined
from slackwater.kernels.changelog.log import Log, Tuples, of_tuples
from slackwater.kernels.changelog.meeting import Meeting, meeting_name
from slackwater.kernels.changelog.minus import Without
from slackwater.kernels.changelog.numbers import numbering, renumbered
from slackwater.kernels.changelog.profiles import check_profile, check_upserts, written
from slackwater.kernels.changelog.rowwise import filtered, projected, streamed, united, windowed
from slackwater.kernels.changelog.sequence import Ordered as InOrder
from slackwater.kernels.changelog.sequence import placed
from slackwater.kernels.changelog.structures import Kept, kept
from slackwater.kernels.changelog.tree import (
    Aggregate,
    Chained,
    Counted,
    Distinct,
    Filter,
    Join,
    Minus,
    Node,
    Numbered,
    Ordered,
    Piped,
    Placed,
    Project,
    Query,
    Read,
    Source,
    Streamed,
    Turn,
    Turns,
    Union,
    Window,
    children,
    meeting_of,
    parse,
    turns_of,
    walk,
)
from slackwater.kernels.changelog.turns import Turns as Turning
from slackwater.kernels.changelog.turns import by_time
from slackwater.kernels.changelog.waiting import ReadAt, Waiting
from slackwater.kernels.expressions import marks_of
from slackwater.kernels.rows import ROW_TIME
from slackwater.kernels.state import Memory, State
from slackwater.kernels.steps import Span

PUNCTUATION, SETTLED = "punctuation", "settled"
Operator = Grouped | Joined | Without | CountedWindow | ReadAt | InOrder


class Step(NamedTuple):
    """What a step yields: the next state, the rows of the changelog, and by input the rows that were late or refused.

    `log` is the changelog before it was written as rows.
    """

    state: State
    changelog: pa.RecordBatch
    late: dict[str, pa.RecordBatch]
    refused: dict[str, pa.RecordBatch]
    log: Log


class Changes:
    """The kernel of a query. `net` compresses each batch to its net change, `profile` and `upserts` say how rows are
    written.

    The punctuation is that of the query; where each input has its own, they are given by name, and the query's is the
    smallest, as Spark's watermark is. Late rows have the columns `late_by`, `punctuation` and `missed`, as in `Fused`.
    """

    def __init__(
        self,
        description: str | Mapping[str, Any] | Query,
        net: bool = False,
        profile: str = "changes",
        upserts: bool = False,
    ) -> None:
        self.query = description if isinstance(description, Query) else parse(description)
        self.net = net
        self.profile = check_profile(profile)
        self.upserts = check_upserts(upserts, self.query.root.edge.key)
        refuse_marks(self.query.root)
        self.read = {node.input for node in walk(self.query.root) if isinstance(node, Source)}
        self.readers = {name: Reader(f"in.{name}", given) for name, given in self.query.inputs.items()}
        self.chains: dict[int, ChainReader] = {}
        self.chain_inputs: dict[int, str] = {}
        self.pipes: dict[int, Pipe] = {}
        self.operators: dict[int, Operator] = {}
        self.turns: dict[int, Turning] = {}
        nodes = list(walk(self.query.root))
        self.meetings = {meeting_name(number) for number in map(meeting_of, nodes) if number is not None}
        self.names = {id(node): str(len(nodes) - place) for place, node in enumerate(nodes)}
        self.sample = self._compiled(self.query.root)
        readers = [*self.chains.values(), *(pipe.reader for pipe in self.pipes.values())]
        self.slotted = any(reader.slotted for reader in readers)

    @property
    def kept(self) -> list[Kept]:
        """The lines of EXPLAIN: every operator, its class, its key, and what it keeps."""
        return kept(self.query)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the changelog."""
        return self._written(of_tuples(self.sample)).schema

    def init(self) -> State:
        return State()

    def step(self, state: State, batches: Mapping[str, pa.RecordBatch], punctuation: int | Mapping[str, int]) -> Step:
        told: dict[str, list[int]] = {}
        while True:
            memory = Memory(state)
            for name, boundaries in told.items():
                memory.put(name, boundaries)
            made = self._step(memory, batches, punctuation)
            met = {name: memory.ints(name).tolist() for name in self.meetings}
            if memory.number(PUNCTUATION) < LATEST or met == told:
                return made
            told = met

    def _step(
        self, memory: Memory, batches: Mapping[str, pa.RecordBatch], punctuation: int | Mapping[str, int]
    ) -> Step:
        marks = self._marks(memory, punctuation)
        before = memory.number(PUNCTUATION, EARLIEST)
        span = Span(before, max(before, min(marks.values())))
        memory.put(PUNCTUATION, span.now)
        taken = self._taken(memory, batches, marks, span)
        log, span = self._told(memory, self.query.root, taken, span, "")
        if self.net:
            log = compressed(log, span.now)
        by_input = [(self._input(source), each) for source, each in taken.items()]
        late = {name: each.late for name, each in reversed(by_input)}
        refused = {name: each.refused for name, each in reversed(by_input)}
        return Step(memory.state(), self._written(log), late, refused, log)

    def _taken(
        self, memory: Memory, batches: Mapping[str, pa.RecordBatch], marks: Mapping[str, int], span: Span
    ) -> dict[str | int, Taken]:
        """What the batch comes to, by the name of a stream, then by the node of a chain."""
        taken: dict[str | int, Taken] = {}
        streams = [(name, reader) for name, reader in self.readers.items() if name in self.read]
        sources: list[tuple[str | int, Reader | ChainReader]] = [*streams, *self.chains.items()]
        for source, reader in sources:
            name = self._input(source)
            none = pa.RecordBatch.from_pylist([], self.query.inputs[name].schema)
            taken[source] = reader.step(memory, batches.get(name, none), span, marks[name])
        return taken

    def _told(
        self, memory: Memory, root: Node, taken: Mapping[str | int, Taken], span: Span, name: str
    ) -> tuple[Log, Span]:
        """The changelog of a part of the tree, down to what is piped, and the stretch of time that it is about."""
        own: dict[str | int, Taken] = {}
        for leaf in leaves(root):
            if isinstance(leaf, Piped):
                within = f"{name}{self.names[id(leaf)]}."
                log, known = self._told(memory, leaf.child, taken, span, within)
                piped = self.pipes[id(leaf)].step(memory, log, known)
                own[id(leaf)] = piped._replace(upto=min(piped.upto, known.now))
            else:
                source = leaf.input if isinstance(leaf, Source) else id(leaf)
                own[source] = taken[source]
        if self.slotted:
            own, span = self._settled(memory, own, span, name)
        return self._log(memory, root, {source: each.log for source, each in own.items()}, span), span

    def _settled(
        self, memory: Memory, taken: dict[str | int, Taken], span: Span, part: str
    ) -> tuple[dict[str | int, Taken], Span]:
        """What all inputs have told, and the stretch of time that it is about: that of the slowest."""
        before = memory.number(f"{part}{SETTLED}", EARLIEST)
        now = max(before, min(span.now, *(each.upto for each in taken.values())))
        memory.put(f"{part}{SETTLED}", now)
        told: dict[str | int, Taken] = {}
        for source, each in taken.items():
            name = source if isinstance(source, str) else f"{self.names[source]}."
            told[source] = each._replace(log=Waiting(f"{part}waiting.{name}").step(memory, each.log, now))
        return told, Span(before, now)

    def _input(self, source: str | int) -> str:
        """The input that a stream or a chain reads."""
        return source if isinstance(source, str) else self.chain_inputs[source]

    def _written(self, log: Log) -> pa.RecordBatch:
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

    def _log(self, memory: Memory, node: Node, taken: Mapping[str | int, Log], span: Span) -> Log:
        """The changelog of an operator for a stretch of time."""
        match node:
            case Source(input=name, numbered=numbered):
                return numbering(taken[name]) if numbered else taken[name]
            case Chained() | Piped() | Turn():
                return taken[id(node)]
            case Turns(child=child):
                streams = list(turns_of(child))
                logs = [self._log(memory, each.child, taken, span) for each in streams]
                turned, times, turns = self.turns[id(node)].step(memory, logs)
                own: dict[str | int, Log] = {id(each): log for each, log in zip(streams, turned, strict=True)}
                return by_time(self._log(memory, child, own, turns), times, turns)
            case Union() | Join() | Minus():
                logs = [self._log(memory, each, taken, span) for each in (node.left, node.right)]
            case _:
                logs = [self._log(memory, node.child, taken, span)]
        return self._applied(memory, node, logs, span)

    def _applied(self, memory: Memory, node: Node, logs: list[Log], span: Span) -> Log:
        if isinstance(node, Streamed | Read):
            self._meet(memory, node, logs[0], span)
        match node:
            case Window(range=length):
                return windowed(logs[0], length)
            case Streamed(lifetime=lifetime):
                return streamed(logs[0], lifetime)
            case Placed(child=child):
                return placed(logs[0], self.query.inputs[child.input].arrival)
            case Numbered():
                return renumbered(memory, f"{self.names[id(node)]}.rows", logs[0])
            case Filter(condition=condition):
                return filtered(logs[0], condition)
            case Project(items=items):
                return projected(logs[0], items)
            case Union():
                return united(*logs)
        match self.operators[id(node)]:
            case Grouped() as grouped:
                return grouped.step(memory, logs[0], span)
            case InOrder() as ordered:
                return ordered.step(memory, logs[0])
            case CountedWindow() | ReadAt() as window:
                return window.step(memory, logs[0], span)
            case Joined() as joined:
                return joined.step(memory, logs[0], logs[1], span)
            case without:
                return without.step(memory, logs, span)

    def _meet(self, memory: Memory, node: Streamed | Read, log: Log, span: Span) -> None:
        """Answers of a subquery are told to what they are read together with."""
        slide = node.slide if isinstance(node, Read) else node.lifetime
        if node.meeting is not None and slide is not None:
            Meeting(node.meeting, slide).next(memory, log.born.start, span)

    def _compiled(self, node: Node) -> Tuples:
        """Makes the operators below and at a node; says what it yields, by trying it out on no tuples."""
        if isinstance(node, Source):
            sample = self.readers[node.input].sample
            return numbering(of_tuples(sample)).born if node.numbered else sample
        if isinstance(node, Chained):
            self.chains[id(node)] = ChainReader(
                self.names[id(node)], parse_chain(node.chain), node.lifetime, node.meeting
            )
            self.chain_inputs[id(node)] = node.input
            return self.chains[id(node)].sample
        if isinstance(node, Piped):
            below = self._compiled(node.child)
            pipe = Pipe(self.names[id(node)], node.steps, node.lifetime, below, node.meeting)
            self.pipes[id(node)] = pipe
            return pipe.reader.sample
        if isinstance(node, Turn):
            return self._compiled(node.child)
        if isinstance(node, Turns):
            self.turns[id(node)] = Turning(self.names[id(node)], [each.range for each in turns_of(node.child)])
            return self._compiled(node.child)
        inputs = (node.left, node.right) if isinstance(node, Union | Join | Minus) else (node.child,)
        samples = [self._compiled(each) for each in inputs]
        name = self.names[id(node)]
        levels = [each.edge.level for each in inputs]
        match node:
            case Aggregate(group=group, calls=calls):
                self.operators[id(node)] = Grouped(name, group, calls, samples[0], levels[0])
            case Counted(range=length, every=every, by=by, count_by=count_by, numbered=numbered):
                self.operators[id(node)] = CountedWindow(name, length, every, by, count_by, samples[0], numbered)
            case Ordered(by=by):
                self.operators[id(node)] = InOrder(f"{name}.rows", by)
            case Read(slide=slide):
                self.operators[id(node)] = ReadAt(name, slide)
            case Distinct() | Minus():
                self.operators[id(node)] = Without(name, samples[0], levels)
            case Join(columns=columns, on=on, condition=condition):
                both = (samples[0], samples[1]), (levels[0], levels[1])
                self.operators[id(node)] = Joined(name, columns, on, condition, *both)
        logs = [of_tuples(sample) for sample in samples]
        return self._applied(Memory(State()), node, logs, Span(EARLIEST, EARLIEST)).born


def leaves(node: Node) -> Iterator[Source | Chained | Piped]:
    """Where a part of the tree begins: what it reads, and what is piped to it."""
    if isinstance(node, Source | Chained | Piped):
        yield node
    else:
        for each in children(node):
            yield from leaves(each)


def refuse_marks(root: Node) -> None:
    """Of the marks of an instant a tuple with a lifetime has its start, `row_time`, and no other."""
    for node in walk(root):
        match node:
            case Filter(condition=tree):
                trees = [tree]
            case Project(items=items):
                trees = [item.tree for item in items]
            case Aggregate(group=group, calls=calls):
                trees = [item.tree for item in group] + [tree for call in calls for tree in call.arguments]
            case Join(on=on, condition=condition):
                trees = [tree for pair in on for tree in pair] + ([] if condition is None else [condition])
            case _:
                continue
        named = set().union(*map(marks_of, trees)) - (set() if isinstance(node, Join) else {ROW_TIME})
        if named:
            raise QueryError(
                "SW-361",
                f"'{sorted(named)[0]}' has no meaning for rows that may still change",
                expected="row_time, or the columns of the input",
                hint="use the event time column instead",
            )
