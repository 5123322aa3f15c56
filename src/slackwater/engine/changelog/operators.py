"""The operators of a tree: made from its nodes, and applied to the changelogs of what they read."""

from __future__ import annotations

from collections.abc import Mapping

from slackwater.engine.changelog.aggregate import GroupedAggregate
from slackwater.engine.changelog.chained import ChainReader, Pipe
from slackwater.engine.changelog.counted import Counted as CountedWindow
from slackwater.engine.changelog.join import Joined
from slackwater.engine.changelog.log import TupleLog, Tuples, of_tuples
from slackwater.engine.changelog.meeting import Meeting
from slackwater.engine.changelog.minus import Without
from slackwater.engine.changelog.rowwise import filtered, numbering, projected, renumbered, streamed, united, windowed
from slackwater.engine.changelog.sequence import OrderedStream as InOrder
from slackwater.engine.changelog.sequence import placed
from slackwater.engine.changelog.turns import TurnStreams as Turning
from slackwater.engine.changelog.turns import by_time
from slackwater.engine.changelog.waiting import ReadAt
from slackwater.engine.columns.arrays import EARLIEST
from slackwater.engine.columns.state import Memory, State
from slackwater.engine.operators.steps import Span
from slackwater.engine.plan import (
    Aggregate,
    Chained,
    Distinct,
    Filter,
    Join,
    Minus,
    Node,
    Numbered,
    Ordered,
    Over,
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
    turns_of,
    walk,
)

Operator = GroupedAggregate | Joined | Without | CountedWindow | ReadAt | InOrder


class Operators:
    """Those of a query over inputs of which there are samples, no tuples of their columns.

    `names` has the name of each operator in the state, `inputs` what each chain reads, `sample` what the query yields.
    """

    def __init__(self, query: Query, samples: Mapping[str, Tuples]) -> None:
        self.query, self.samples = query, samples
        self.chains: dict[int, ChainReader] = {}
        self.inputs: dict[int, str] = {}
        self.pipes: dict[int, Pipe] = {}
        self.turns: dict[int, Turning] = {}
        self.made: dict[int, Operator] = {}
        nodes = list(walk(query.root))
        self.names = {id(node): str(len(nodes) - place) for place, node in enumerate(nodes)}
        self.sample = self._compiled(query.root)
        readers = [*self.chains.values(), *(pipe.reader for pipe in self.pipes.values())]
        self.slotted = any(reader.slotted for reader in readers)

    def log(self, memory: Memory, node: Node, taken: Mapping[str | int, TupleLog], span: Span) -> TupleLog:
        """The changelog of an operator for a stretch of time."""
        match node:
            case Source(input=name, numbered=numbered):
                return numbering(taken[name]) if numbered else taken[name]
            case Chained() | Piped() | Turn():
                return taken[id(node)]
            case Turns(child=child):
                streams = list(turns_of(child))
                logs = [self.log(memory, each.child, taken, span) for each in streams]
                turned, times, turns = self.turns[id(node)].step(memory, logs)
                own: dict[str | int, TupleLog] = {id(each): log for each, log in zip(streams, turned, strict=True)}
                return by_time(self.log(memory, child, own, turns), times, turns)
            case Union() | Join() | Minus():
                logs = [self.log(memory, each, taken, span) for each in (node.left, node.right)]
            case _:
                logs = [self.log(memory, node.child, taken, span)]
        return self._applied(memory, node, logs, span)

    def _applied(self, memory: Memory, node: Node, logs: list[TupleLog], span: Span) -> TupleLog:
        if isinstance(node, Streamed | Read):
            self._meet(memory, node, logs[0], span)
        match node:
            case Over(step=Window(range=length) as window) if window.is_range:
                return windowed(logs[0], length.amount)
            case Streamed(lifetime=lifetime):
                return streamed(logs[0], lifetime)
            case Placed(child=child):
                return placed(logs[0], self.query.inputs[child.input].arrival)
            case Numbered():
                return renumbered(memory, f"{self.names[id(node)]}.rows", logs[0])
            case Over(step=Filter(condition=condition)):
                return filtered(logs[0], condition)
            case Over(step=Project(items=items)):
                return projected(logs[0], items)
            case Union():
                return united(*logs)
        match self.made[id(node)]:
            case GroupedAggregate() as grouped:
                return grouped.step(memory, logs[0], span)
            case InOrder() as ordered:
                return ordered.step(memory, logs[0])
            case CountedWindow() | ReadAt() as waits:
                return waits.step(memory, logs[0], span)
            case Joined() as joined:
                return joined.step(memory, logs[0], logs[1], span)
            case without:
                return without.step(memory, logs, span)

    def _meet(self, memory: Memory, node: Streamed | Read, log: TupleLog, span: Span) -> None:
        """Answers of a subquery are told to what they are read together with."""
        slide = node.slide if isinstance(node, Read) else node.lifetime
        if node.meeting is not None and slide is not None:
            Meeting(node.meeting, slide).next(memory, log.born.start, span)

    def _compiled(self, node: Node) -> Tuples:
        """Makes the operators below and at a node; says what it yields, by trying it out on no tuples."""
        if isinstance(node, Source):
            sample = self.samples[node.input]
            return numbering(of_tuples(sample)).born if node.numbered else sample
        if isinstance(node, Chained):
            self.chains[id(node)] = ChainReader(self.names[id(node)], node.chain, node.lifetime, node.meeting)
            self.inputs[id(node)] = node.input
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
            case Over(step=Aggregate(group=group, calls=calls)):
                self.made[id(node)] = GroupedAggregate(name, group, calls, samples[0], levels[0])
            case Over(step=Window() as window, numbered=numbered) if not window.is_range:
                self.made[id(node)] = CountedWindow(name, window, samples[0], numbered)
            case Ordered(by=by):
                self.made[id(node)] = InOrder(f"{name}.rows", by)
            case Read(slide=slide):
                self.made[id(node)] = ReadAt(name, slide)
            case Over(step=Distinct()) | Minus():
                self.made[id(node)] = Without(name, samples[0], levels)
            case Join(columns=columns, on=on, condition=condition):
                both = (samples[0], samples[1]), (levels[0], levels[1])
                self.made[id(node)] = Joined(name, columns, on, condition, *both)
        logs = [of_tuples(sample) for sample in samples]
        return self._applied(Memory(State()), node, logs, Span(EARLIEST, EARLIEST)).born
