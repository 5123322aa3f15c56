"""Check a tree, make the operators of its nodes, and apply them to the changelogs of their children.

Range window, filter, map and union are here: each tuple of their result comes from one tuple of an input, and they keep
no state. They pass a negative tuple on only if it ends its tuple before the bound that the window gave it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from slackwater.engine import plan as ops
from slackwater.engine.changelog.aggregate import GroupedAggregate
from slackwater.engine.changelog.chained import ChainReader, Meeting, Pipe
from slackwater.engine.changelog.counted import Counted, TurnStreams, by_time
from slackwater.engine.changelog.inputs import OrderedStream, ReadAt, placed
from slackwater.engine.changelog.join import Joined
from slackwater.engine.changelog.log import TupleLog, Tuples, in_order, of_tuples, together
from slackwater.engine.changelog.minus import Without
from slackwater.engine.columns.arrays import EARLIEST, LATEST, Ints, arrow_type, table, true
from slackwater.engine.columns.rows import ROW_TIME
from slackwater.engine.columns.state import Memory, State
from slackwater.engine.expressions import evaluate, marks_of
from slackwater.engine.operators.steps import Span, project_items
from slackwater.errors import QueryError


def check(query: ops.EnginePlan) -> ops.EnginePlan:
    """Return the query, or raise a QueryError that says what is wrong with it."""
    for node in query.nodes:
        if isinstance(node, ops.Source | ops.Chained) and node.input not in query.inputs:
            raise malformed(f"there is no input {node.input!r}")
        if ops.ends(node, query.inputs) and node.edge.level < 4:
            raise malformed(f"tuples of a {name_of(node)} may be ended, but its class is not 4")
        match node:
            case ops.Over(step=ops.WindowStep() as window) if not window.is_range and node.child.edge.level != 1:
                raise malformed("only the rows of a stream can be counted")
    refuse_marks(query.nodes)
    return query


def name_of(node: ops.Node) -> str:
    """Return the name of an operator in errors."""
    kind = type(node.step if isinstance(node, ops.Over) else node)
    return kind.__name__.removesuffix("Step").removesuffix("Logs").lower()


def malformed(what: str) -> QueryError:
    return QueryError("SW-360", f"the tree of operators is not well formed: {what}", hint="let the planner make it")


def refuse_marks(nodes: Sequence[ops.Node]) -> None:
    """Raise an error if a mark other than `row_time` is used: a tuple with a lifetime has a start, but no instant."""
    for node in nodes:
        trees = (
            ops.trees_of(node.step if isinstance(node, ops.Over) else node)
            if isinstance(node, ops.Over | ops.JoinLogs)
            else []
        )
        named = set().union(*map(marks_of, trees)) - (set() if isinstance(node, ops.JoinLogs) else {ROW_TIME})
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
    return TupleLog(born, ended, log.at, log.of).only(None, log.at < ended.end)


def _shortened(tuples: Tuples, length: int) -> Tuples:
    last = np.minimum(tuples.start, LATEST - length) + length
    return Tuples(tuples.rows, tuples.start, np.minimum(tuples.end, last), tuples.ids)


def as_stream(log: TupleLog, lifetime: int | None) -> TupleLog:
    """Return the tuples that begin as rows of a stream, which live for `lifetime` or for ever. Ends are ignored."""
    start = log.born.start
    end = np.full(len(start), LATEST) if lifetime is None else np.minimum(start, LATEST - lifetime) + lifetime
    return of_tuples(replace(log.born, end=end))


def filter_log(log: TupleLog, condition: ops.Tree) -> TupleLog:
    """Return the tuples for which the condition is true, and the negatives of those."""
    return log.only(*(true(evaluate(condition, tuples.seen())) for tuples in (log.born, log.ended)))


def project_log(log: TupleLog, items: Sequence[ops.NamedTree]) -> TupleLog:
    """Return the same tuples with the columns of `items`."""
    return TupleLog(project_tuples(log.born, items), project_tuples(log.ended, items), log.at, log.of)


def compute_nothing(log: TupleLog, items: Sequence[ops.NamedTree]) -> TupleLog:
    """Add the columns that Spark computes to a changelog without tuples: a plan runs only after it was cut there."""
    assert not len(log.born) and not len(log.ended)  # noqa: S101
    columns = dict(zip(log.born.rows.schema.names, log.born.rows.columns, strict=True))
    none = table({**columns, **{item.name: pa.array([], arrow_type(item.type)) for item in items}})
    return of_tuples(log.born.holding(none))


def project_tuples(tuples: Tuples, items: Sequence[ops.NamedTree]) -> Tuples:
    return tuples.holding(project_items(items, tuples.seen()))


def unite(left: TupleLog, right: TupleLog) -> TupleLog:
    """Return the tuples of both inputs, columns by position. The side becomes part of the identity of each tuple."""
    width = max(len(left.born.ids), len(right.born.ids))
    born = together(_sided(left.born, 0, width, left.born), _sided(right.born, 1, width, left.born))
    ended = together(_sided(left.ended, 0, width, left.born), _sided(right.ended, 1, width, left.born))
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
    return of_tuples(_with(log.born, memory.next(name, len(log.born)) + 1))


def _with(tuples: Tuples, number: Ints) -> Tuples:
    return tuples.holding(tuples.rows.append_column(ops.NUMBERED, pa.array(number)))


Apply = Callable[..., TupleLog]
"""An operator: from a memory, a span and the changelogs of its inputs to its own changelog."""


class Operators:
    """The operators of a query. `samples` has the columns of each input and no tuples.

    `names` has the name of each operator in the state, `inputs` the input of each chain, and `sample` the columns of
    the result.
    """

    def __init__(self, query: ops.EnginePlan, samples: Mapping[str, Tuples]) -> None:
        self.query, self.samples = query, samples
        self.chains: dict[int, ChainReader] = {}
        self.inputs: dict[int, str] = {}
        self.pipes: dict[int, Pipe] = {}
        self.turns: dict[int, TurnStreams] = {}
        self.made: dict[int, Apply] = {}
        nodes = query.nodes
        self.names = {id(node): str(len(nodes) - place) for place, node in enumerate(nodes)}
        self.sample, *_ = (self._compile(each) for each in (query.root, *query.beside))
        self.slotted = any(ops.slots_of(each, query.inputs) for each in (query.root, *query.beside))

    def log(self, memory: Memory, node: ops.Node, taken: Mapping[str | int, TupleLog], span: Span) -> TupleLog:
        """Return the changelog of an operator for a span of time."""
        match node:
            case ops.Source(input=name, numbered=numbered):
                return number_input(taken[name]) if numbered else taken[name]
            case ops.Chained() | ops.Piped() | ops.Turn():
                return taken[id(node)]
            case ops.Turns(child=child):
                streams = list(ops.turns_of(child))
                logs = [self.log(memory, each.child, taken, span) for each in streams]
                turned, times, turns = self.turns[id(node)].step(memory, logs)
                own: dict[str | int, TupleLog] = {id(each): log for each, log in zip(streams, turned, strict=True)}
                return by_time(self.log(memory, child, own, turns), times, turns)
        logs = [self.log(memory, each, taken, span) for each in ops.children(node)]
        return self.made[id(node)](memory, span, *logs)

    def _compile(self, node: ops.Node) -> Tuples:
        """Make the operators at and below a node; return an empty sample of its result, by a step over no tuples."""
        samples, name = [self._compile(each) for each in ops.children(node)], self.names[id(node)]
        match node:
            case ops.Source(input=source, numbered=numbered):
                sample = self.samples[source]
                return number_input(of_tuples(sample)).born if numbered else sample
            case ops.Chained():
                reader = self.chains[id(node)] = ChainReader(name, node.chain, node.lifetime, node.meeting)
                self.inputs[id(node)] = node.input
                return reader.sample
            case ops.Piped():
                pipe = self.pipes[id(node)] = Pipe(name, node.steps, node.lifetime, samples[0], node.meeting)
                return pipe.reader.sample
            case ops.Turn():
                return samples[0]
            case ops.Turns(child=child):
                self.turns[id(node)] = TurnStreams(name, [each.range for each in ops.turns_of(child)])
                return samples[0]
        apply = self.made[id(node)] = self._operator(node, name, samples)
        return apply(Memory(State()), Span(EARLIEST, EARLIEST), *map(of_tuples, samples)).born

    def _operator(self, node: ops.Node, name: str, samples: list[Tuples]) -> Apply:
        levels = [each.edge.level for each in ops.children(node)]
        match node:
            case ops.Over(step=ops.FilterStep(condition=condition)):
                return lambda memory, span, log: filter_log(log, condition)
            case ops.Over(step=ops.ProjectStep(items=items)):
                return lambda memory, span, log: project_log(log, items)
            case ops.Over(step=ops.Compute(items=items)):
                return lambda memory, span, log: compute_nothing(log, items)
            case ops.Over(step=ops.WindowStep(range=length) as window) if window.is_range:
                return lambda memory, span, log: limit_lifetimes(log, length.amount)
            case ops.Over(step=ops.WindowStep() as window, numbered=numbered):
                return Counted(name, window, samples[0], numbered).step
            case ops.Over(step=ops.AggregateStep(group=group, calls=calls)):
                return GroupedAggregate(name, group, calls, samples[0], levels[0]).step
            case ops.Over(step=ops.DistinctStep()) | ops.MinusLogs():
                return Without(name, samples[0], levels).step
            case ops.JoinLogs():
                return Joined(name, node, samples, levels).step
            case ops.UnionLogs():
                return lambda memory, span, left, right: unite(left, right)
            case ops.Placed(child=child):
                return lambda memory, span, log: placed(log, self.query.inputs[child.input].arrival)
            case ops.Numbered():
                return lambda memory, span, log: number_stream(memory, f"{name}.rows", log)
            case ops.Ordered(by=by):
                return OrderedStream(f"{name}.rows", by).step
            case ops.Streamed(lifetime=lifetime):
                return _met(node, lifetime, lambda memory, span, log: as_stream(log, lifetime))
            case ops.Read(slide=slide):
                return _met(node, slide, ReadAt(name, slide).step)
        raise malformed(f"there is no operator for a {name_of(node)}")


def _met(node: ops.Streamed | ops.Read, slide: int | None, apply: Apply) -> Apply:
    """Return an operator that also tells its meeting the boundaries at which the other windows must be evaluated."""
    if node.meeting is None or slide is None:
        return apply
    meeting = Meeting(node.meeting, slide)

    def met(memory: Memory, span: Span, log: TupleLog) -> TupleLog:
        meeting.next(memory, log.born.start, span)
        return apply(memory, span, log)

    return met
