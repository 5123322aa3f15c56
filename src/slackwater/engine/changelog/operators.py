"""Check a tree, make the operators of its nodes, and apply them to the changelogs of their children.

Range window, filter, map and union are here: each tuple of their result comes from one tuple of an input, and they keep
no state. They pass a negative tuple on only if it ends its tuple before the bound that the window gave it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.aggregate import GroupedAggregate
from slackwater.engine.changelog.chained import ChainReader, Meeting, Pipe
from slackwater.engine.changelog.counted import Counted as CountedWindow
from slackwater.engine.changelog.counted import TurnStreams as Turning
from slackwater.engine.changelog.counted import by_time
from slackwater.engine.changelog.inputs import OrderedStream as InOrder
from slackwater.engine.changelog.inputs import ReadAt, placed
from slackwater.engine.changelog.join import Joined
from slackwater.engine.changelog.log import TupleLog, Tuples, in_order, of_tuples, together
from slackwater.engine.changelog.minus import Without
from slackwater.engine.columns.arrays import EARLIEST, LATEST, Bools, Ints, table, true
from slackwater.engine.columns.rows import ROW_TIME
from slackwater.engine.columns.state import Memory, State
from slackwater.engine.columns.types import arrow_type
from slackwater.engine.expressions.evaluate import evaluate, marks_of
from slackwater.engine.operators.steps import Span, project_items
from slackwater.engine.plan import (
    NUMBERED,
    AggregateStep,
    Chained,
    Compute,
    DistinctStep,
    EnginePlan,
    FilterStep,
    JoinLogs,
    MinusLogs,
    NamedTree,
    Node,
    Numbered,
    Ordered,
    Over,
    Piped,
    Placed,
    ProjectStep,
    Read,
    Source,
    Streamed,
    Tree,
    Turn,
    Turns,
    UnionLogs,
    WindowStep,
    ends,
    slots_of,
    trees_of,
    turns_of,
)
from slackwater.errors import QueryError


def check(query: EnginePlan) -> EnginePlan:
    """Return the query, or raise a QueryError that says what is wrong with it."""
    for node in query.nodes:
        if isinstance(node, Source | Chained) and node.input not in query.inputs:
            raise malformed(f"there is no input {node.input!r}")
        if ends(node, query.inputs) and node.edge.level < 4:
            raise malformed(f"tuples of a {name_of(node)} may be ended, but its class is not 4")
        match node:
            case Over(step=WindowStep() as window) if not window.is_range and node.child.edge.level != 1:
                raise malformed("only the rows of a stream can be counted")
    refuse_marks(query.nodes)
    return query


def name_of(node: Node) -> str:
    """Return the name of an operator in errors."""
    kind = type(node.step if isinstance(node, Over) else node)
    return kind.__name__.removesuffix("Step").removesuffix("Logs").lower()


def malformed(what: str) -> QueryError:
    return QueryError("SW-360", f"the tree of operators is not well formed: {what}", hint="let the planner make it")


def refuse_marks(nodes: Sequence[Node]) -> None:
    """Raise an error if a mark other than `row_time` is used: a tuple with a lifetime has a start, but no instant."""
    for node in nodes:
        trees = trees_of(node.step if isinstance(node, Over) else node) if isinstance(node, Over | JoinLogs) else []
        named = set().union(*map(marks_of, trees)) - (set() if isinstance(node, JoinLogs) else {ROW_TIME})
        if named:
            raise QueryError(
                "SW-361",
                f"'{sorted(named)[0]}' has no meaning for rows that may still change",
                expected="row_time, or the columns of the input",
                hint="use the event time column instead",
            )


def limit_lifetimes(log: TupleLog, length: int) -> TupleLog:
    """Return the tuples with lifetimes of at most `length`: [t, t + length)."""
    born, ended = _shortened(log.born, length), _shortened(log.ended, length)
    return _only(TupleLog(born, ended, log.at, log.of), None, log.at < ended.end)


def _shortened(tuples: Tuples, length: int) -> Tuples:
    last = np.minimum(tuples.start, LATEST - length) + length
    return Tuples(tuples.rows, tuples.start, np.minimum(tuples.end, last), tuples.ids)


def as_stream(log: TupleLog, lifetime: int | None) -> TupleLog:
    """Return the tuples that begin as rows of a stream, which live for `lifetime` or for ever. Ends are ignored."""
    start = log.born.start
    end = np.full(len(start), LATEST) if lifetime is None else np.minimum(start, LATEST - lifetime) + lifetime
    return of_tuples(replace(log.born, end=end))


def filter_log(log: TupleLog, condition: Tree) -> TupleLog:
    """Return the tuples for which the condition is true, and the negatives of those."""
    return _only(log, _holds(log.born, condition), _holds(log.ended, condition))


def _holds(tuples: Tuples, condition: Tree) -> Bools:
    return true(evaluate(condition, tuples.seen()))


def _only(log: TupleLog, born: Bools | None, ended: Bools) -> TupleLog:
    """Return the tuples that begin and that are ended for which the masks are true; None keeps all that begin."""
    of = None if log.of is None else log.of[ended]
    if born is None:
        return TupleLog(log.born, log.ended.at(ended), log.at[ended], of)
    if of is not None and not born.all():
        place = np.append(np.cumsum(born) - 1, -1)
        of = place[of]
    return TupleLog(log.born.at(born), log.ended.at(ended), log.at[ended], of)


def project_log(log: TupleLog, items: Sequence[NamedTree]) -> TupleLog:
    """Return the same tuples with the columns of `items`."""
    return TupleLog(project_tuples(log.born, items), project_tuples(log.ended, items), log.at, log.of)


def compute_nothing(log: TupleLog, items: Sequence[NamedTree]) -> TupleLog:
    """Add the columns that Spark computes to a changelog without tuples: a plan runs only after it was cut there."""
    assert not len(log.born) and not len(log.ended)  # noqa: S101
    columns = dict(zip(log.born.rows.schema.names, log.born.rows.columns, strict=True))
    none = table({**columns, **{item.name: pa.array([], arrow_type(item.type)) for item in items}})
    return of_tuples(log.born.holding(none))


def project_tuples(tuples: Tuples, items: Sequence[NamedTree]) -> Tuples:
    return tuples.holding(project_items(items, tuples.seen()))


def unite(left: TupleLog, right: TupleLog) -> TupleLog:
    """Return the tuples of both inputs, columns by position. The side becomes part of the identity of each tuple."""
    width = max(len(left.born.ids), len(right.born.ids))
    born = together(_sided(left.born, 0, width, left.born), _sided(right.born, 1, width, left.born))
    ended = together(_sided(left.ended, 0, width, left.born), _sided(right.ended, 1, width, left.born))
    of = None
    if left.of is not None and right.of is not None:
        of = np.concatenate([left.of, np.where(right.of < 0, -1, right.of + len(left.born))])
    return in_order(TupleLog(born, ended, np.concatenate([left.at, right.at]), of))


def _sided(tuples: Tuples, side: int, width: int, like: Tuples) -> Tuples:
    fields = zip(like.rows.schema, tuples.rows.columns, strict=True)
    rows = table({field.name: column.cast(field.type) for field, column in fields})
    spare: Ints = np.full(len(tuples), -1)
    ids = (np.full(len(tuples), side), *tuples.ids, *(spare,) * (width - len(tuples.ids)))
    return Tuples(rows, tuples.start, tuples.end, ids)


# Row numbers, from 1 on, as a column of tuples.


def number_input(log: TupleLog) -> TupleLog:
    """Add the row numbers of an input, whose identities count from 0."""
    return replace(log, born=_with(log.born, log.born.ids[0] + 1), ended=_with(log.ended, log.ended.ids[0] + 1))


def number_stream(memory: Memory, name: str, log: TupleLog) -> TupleLog:
    """Add row numbers to a stream whose rows come in sequence. Kept: their count."""
    first = memory.number(name) + 1
    memory.put(name, first - 1 + len(log.born))
    return of_tuples(_with(log.born, np.arange(first, first + len(log.born))))


def _with(tuples: Tuples, number: Ints) -> Tuples:
    return tuples.holding(tuples.rows.append_column(NUMBERED, pa.array(number)))


Operator = GroupedAggregate | Joined | Without | CountedWindow | ReadAt | InOrder


class Operators:
    """The operators of a query. `samples` has the columns of each input and no tuples.

    `names` has the name of each operator in the state, `inputs` the input of each chain, and `sample` the columns of
    the result.
    """

    def __init__(self, query: EnginePlan, samples: Mapping[str, Tuples]) -> None:
        self.query, self.samples = query, samples
        self.chains: dict[int, ChainReader] = {}
        self.inputs: dict[int, str] = {}
        self.pipes: dict[int, Pipe] = {}
        self.turns: dict[int, Turning] = {}
        self.made: dict[int, Operator] = {}
        nodes = query.nodes
        self.names = {id(node): str(len(nodes) - place) for place, node in enumerate(nodes)}
        self.sample, *_ = (self._compile(each) for each in (query.root, *query.beside))
        self.slotted = any(slots_of(each, query.inputs) for each in (query.root, *query.beside))

    def log(self, memory: Memory, node: Node, taken: Mapping[str | int, TupleLog], span: Span) -> TupleLog:
        """Return the changelog of an operator for a span of time."""
        match node:
            case Source(input=name, numbered=numbered):
                return number_input(taken[name]) if numbered else taken[name]
            case Chained() | Piped() | Turn():
                return taken[id(node)]
            case Turns(child=child):
                streams = list(turns_of(child))
                logs = [self.log(memory, each.child, taken, span) for each in streams]
                turned, times, turns = self.turns[id(node)].step(memory, logs)
                own: dict[str | int, TupleLog] = {id(each): log for each, log in zip(streams, turned, strict=True)}
                return by_time(self.log(memory, child, own, turns), times, turns)
            case UnionLogs() | JoinLogs() | MinusLogs():
                logs = [self.log(memory, each, taken, span) for each in (node.left, node.right)]
            case _:
                logs = [self.log(memory, node.child, taken, span)]
        return self._apply(memory, node, logs, span)

    def _apply(self, memory: Memory, node: Node, logs: list[TupleLog], span: Span) -> TupleLog:
        if isinstance(node, Streamed | Read):
            self._meet(memory, node, logs[0], span)
        match node:
            case Over(step=WindowStep(range=length) as window) if window.is_range:
                return limit_lifetimes(logs[0], length.amount)
            case Streamed(lifetime=lifetime):
                return as_stream(logs[0], lifetime)
            case Placed(child=child):
                return placed(logs[0], self.query.inputs[child.input].arrival)
            case Numbered():
                return number_stream(memory, f"{self.names[id(node)]}.rows", logs[0])
            case Over(step=FilterStep(condition=condition)):
                return filter_log(logs[0], condition)
            case Over(step=ProjectStep(items=items)):
                return project_log(logs[0], items)
            case Over(step=Compute(items=items)):
                return compute_nothing(logs[0], items)
            case UnionLogs():
                return unite(*logs)
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
        """Add the boundaries of a subquery's answers to its meeting, so that the other windows are evaluated there."""
        slide = node.slide if isinstance(node, Read) else node.lifetime
        if node.meeting is not None and slide is not None:
            Meeting(node.meeting, slide).next(memory, log.born.start, span)

    def _compile(self, node: Node) -> Tuples:
        """Make the operators at and below a node; return an empty sample of its result, by a step over no tuples."""
        if isinstance(node, Source):
            sample = self.samples[node.input]
            return number_input(of_tuples(sample)).born if node.numbered else sample
        if isinstance(node, Chained):
            self.chains[id(node)] = ChainReader(self.names[id(node)], node.chain, node.lifetime, node.meeting)
            self.inputs[id(node)] = node.input
            return self.chains[id(node)].sample
        if isinstance(node, Piped):
            below = self._compile(node.child)
            pipe = Pipe(self.names[id(node)], node.steps, node.lifetime, below, node.meeting)
            self.pipes[id(node)] = pipe
            return pipe.reader.sample
        if isinstance(node, Turn):
            return self._compile(node.child)
        if isinstance(node, Turns):
            self.turns[id(node)] = Turning(self.names[id(node)], [each.range for each in turns_of(node.child)])
            return self._compile(node.child)
        inputs = (node.left, node.right) if isinstance(node, UnionLogs | JoinLogs | MinusLogs) else (node.child,)
        samples = [self._compile(each) for each in inputs]
        name = self.names[id(node)]
        levels = [each.edge.level for each in inputs]
        match node:
            case Over(step=AggregateStep(group=group, calls=calls)):
                self.made[id(node)] = GroupedAggregate(name, group, calls, samples[0], levels[0])
            case Over(step=WindowStep() as window, numbered=numbered) if not window.is_range:
                self.made[id(node)] = CountedWindow(name, window, samples[0], numbered)
            case Ordered(by=by):
                self.made[id(node)] = InOrder(f"{name}.rows", by)
            case Read(slide=slide):
                self.made[id(node)] = ReadAt(name, slide)
            case Over(step=DistinctStep()) | MinusLogs():
                self.made[id(node)] = Without(name, samples[0], levels)
            case JoinLogs(columns=columns, on=on, condition=condition):
                both = (samples[0], samples[1]), (levels[0], levels[1])
                self.made[id(node)] = Joined(name, columns, on, condition, *both)
        logs = [of_tuples(sample) for sample in samples]
        return self._apply(Memory(State()), node, logs, Span(EARLIEST, EARLIEST)).born
