"""A chain of operators as one kernel, in one call per batch for all keys.

    kernel = ChainKernel(chain)
    state = kernel.init()
    state, output = kernel.step(state, batch, punctuation)

A nested query whose inner grouping refines the outer one needs only one kernel: the outer query reads the output of the
inner one in the same call.

Otherwise a chain can be cut into stages, each with a kernel and buckets of its own: a stage takes in the output of the
stage before, in the same batch and with the same punctuation. All rows of a stage's output lie between the punctuations
of the batch, and none comes later, so that the next stage has nothing to wait for. It only has to sort the rows of many
buckets into sequence order. For this, every row is marked (`ORDER`) with the place of the row that caused it or, at a
boundary, with the key of its group.

Where a chain is cut because Spark computes columns between two stages (`Compute`), rows stay in their bucket and in
their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from slackwater.engine import plan as ops
from slackwater.engine.columns.arrays import EARLIEST, Ints, ints, moments, picked, scattered, stable, table, valid
from slackwater.engine.columns.keys import ranked
from slackwater.engine.columns.rows import INSTANT, ROW_NUMBER, Rows, no_rows, ordering, packed, unpacked
from slackwater.engine.columns.state import Memory, State
from slackwater.engine.expressions import marks_of
from slackwater.engine.operators.hold import HOLD, Cycle, RowHold, cast_columns, enter_rows
from slackwater.engine.operators.instants import order_by_instant
from slackwater.engine.operators.steps import (
    AtMultiples,
    Computed,
    EveryNth,
    LastOfSlots,
    Renumber,
    RowOperator,
    RowWise,
    Span,
    Unique,
    apply_steps,
)
from slackwater.engine.operators.windows import RowStream, RowWindow, WindowGroups, WindowRows
from slackwater.errors import QueryError

START = Span(0, 0)
PUNCTUATION = "punctuation"
EVENT_TIME = "_row_time"
"""The column of the output with the event time of a result row, beside the columns of the query."""
BATCH, PLACE = "__batch", "__place"
"""Additional columns of the stream of a first stage whose rows go on to other buckets: the batch of a row, and its
place in the batch among the rows of all buckets."""


@dataclass(frozen=True, slots=True)
class Border:
    """A border after an operator: the numbers of operators and steps before it, and a sample of their output.

    The sample has columns and no rows.
    """

    operators: int
    steps: int
    sample: Rows


@dataclass(frozen=True, slots=True)
class Compiled:
    """The operators of a chain in order, and the borders after each."""

    operators: tuple[RowOperator, ...]
    borders: tuple[Border, ...]


def compiled(chain: ops.Chain, *, ordered: bool = False, came: bool = False, upto: int | None = None) -> Compiled:
    """Return the operators of a chain. Each makes a step over no rows, from which the types of its output are known.

    With `ordered`, rows are marked with their order among rows of the same time, as far as the operators know it. With
    `came`, they are marked with the arrival of the row that caused them. With `upto`, only that many steps are
    compiled: the types of the columns that Spark computes after them are not known yet.
    """
    steps = list(chain.steps[:upto])
    numbered = any(ROW_NUMBER in marks_of(tree) for step in chain.steps for tree in ops.trees_of(step))
    operators: list[RowOperator] = []
    sample = no_rows(chain.input.schema)
    if ordered:
        sample = sample.placed(*(np.empty(0, np.int64) for _ in range(3)))
    borders: list[Border] = []
    if chain.computed and not chain.cuts:
        raise not_in_one(step for step in chain.steps if isinstance(step, ops.Compute))
    if _first_extent(steps) is None:
        operators.append(RowHold(HOLD, numbered, _cycle(steps), came))
        borders.append(Border(1, 0, sample))
    while steps:
        taken = _count_steps(steps)
        operator = _operator(f"{len(operators)}", steps[:taken], sample, numbered)
        steps = steps[taken:]
        operators.append(operator)
        sample, _ = operator.step(Memory(State()), sample, START)
        borders.append(Border(len(operators), len(chain.steps[:upto]) - len(steps), sample))
    return Compiled(tuple(operators), tuple(borders))


def not_in_one(steps: Iterable[ops.Compute]) -> QueryError:
    """Return the error that says that Spark would have to compute a column in the middle of an operator."""
    return QueryError(
        "SW-352",
        f"'{next(iter(steps)).items[0].tree[1][:80]}' cannot be evaluated in the fused operator",
        hint="simplify it, or compute it in the query that reads this",
    )


def is_extent(window: ops.WindowStep) -> bool:
    return window.every.is_time and not window.strict and window.range.is_time


def at_every_row(window: ops.WindowStep) -> bool:
    return window.every == ops.Size(1, is_time=False)


def _cycle(steps: Sequence[ops.Step]) -> Cycle | None:
    """Return the rows of the stream that the first window needs if it is shorter than its jumps, else None."""
    match steps:
        case [
            ops.WindowStep(
                range=ops.Size(last, False), every=ops.Size(every, False), count_by=(), strict=False
            ) as window,
            *_,
        ]:
            return Cycle(every, last) if last < every and not window.by else None
    return None


def _first_extent(steps: Sequence[ops.Step]) -> ops.WindowStep | None:
    """Return the first window if it has extents and only filters and projections before it: it needs no held rows."""
    for step in steps:
        match step:
            case ops.FilterStep() | ops.ProjectStep():
                continue
            case ops.WindowStep() if is_extent(step):
                return step
            case _:
                return None
    return None


def _count_steps(steps: Sequence[ops.Step]) -> int:
    """Return the number of steps of the next operator: a window up to its aggregate, or filters and projections."""
    row_wise = 0
    rest = steps[1:] if isinstance(steps[0], ops.WindowStep) else steps
    while row_wise < len(rest) and isinstance(rest[row_wise], ops.FilterStep | ops.ProjectStep):
        row_wise += 1
    if not isinstance(steps[0], ops.WindowStep):
        return max(1, row_wise)
    if row_wise < len(rest) and isinstance(rest[row_wise], ops.AggregateStep):
        return row_wise + 2
    marked = [any(map(marks_of, ops.trees_of(step))) for step in rest[:row_wise]]
    if row_wise < len(rest) and isinstance(rest[row_wise], ops.DistinctStep) and not any(marked):
        return row_wise + 2
    return 1 + (marked.index(True) if any(marked) else row_wise)  # a mark is of a window's output


def _operator(name: str, steps: Sequence[ops.Step], sample: Rows, numbered: bool) -> RowOperator:
    match steps:
        case [ops.WindowStep() as window, *inner, ops.AggregateStep() | ops.DistinctStep() as last]:
            aggregate = last if isinstance(last, ops.AggregateStep) else _of_all_columns(inner, sample)
            if at_every_row(window):
                return RowWindow(name, window, inner, aggregate, sample, numbered)
            return WindowGroups(name, window, inner, aggregate, sample)
        case [ops.WindowStep() as window, *inner]:
            if at_every_row(window):
                return RowStream(name, window, inner, sample, numbered)
            return WindowRows(name, window, inner, sample)
        case [ops.FilterStep() | ops.ProjectStep(), *_]:
            return RowWise(steps)
        case [ops.FrequencyStep(strict=True) as frequency]:
            return AtMultiples(frequency)
        case [ops.FrequencyStep() as frequency]:
            return LastOfSlots(name, frequency) if frequency.every.is_time else EveryNth(name, frequency, sample)
        case [ops.DistinctStep(instant=instant)]:
            return Unique(instant)
        case [ops.SubqueryStep()]:
            return Renumber(name)
        case [ops.Compute(items=items)]:
            return Computed(items)
    raise QueryError(
        "SW-356",
        "an aggregate has no window below it",
        expected="a window, then filters and projections, then the aggregate",
        hint="add RANGE, or use EMIT CHANGES",
    )


def _of_all_columns(inner: Sequence[ops.Step], sample: Rows) -> ops.AggregateStep:
    """Return DISTINCT over a window as an aggregate: grouped by all columns, without calls."""
    schema = apply_steps(inner, sample).batch.schema
    return ops.AggregateStep(tuple(ops.NamedTree(name, ("column", name)) for name in schema.names), ())


class ChainStep(NamedTuple):
    """The result of a step: the next state, and result rows."""

    state: State
    output: pa.RecordBatch


class ChainKernel:
    """The kernel of a chain, or of one of its stages if it has cuts; stages count from 0. None is the whole chain.

    Batches of the stream are in order of arrival; any split of the input with the punctuations between the same rows
    gives the same output. The input of a later stage comes from many buckets, in any order.

    `output` has the columns of the last step and the event time of its rows, `_row_time`. Rows without an event time
    are left out, because they have no place in the sequence. `nothing` is an empty batch of the input.
    """

    def __init__(self, chain: ops.Chain, stage: int | None = None) -> None:
        self.chain = chain
        self.moves = stage is not None and bool(chain.cuts) and not chain.computed
        upto = None if stage is None else (*chain.cuts, None)[stage]
        whole = compiled(chain, ordered=self.moves, upto=upto)
        self.end = None if upto is None else whole.borders[-1].sample
        self.before: tuple[RowOperator, ...] = ()
        self.operators = whole.operators
        self.first = not stage
        if not stage:
            placed = [pa.field(BATCH, pa.int64()), pa.field(PLACE, pa.int64())] if self.moves else []
            self.nothing = pa.RecordBatch.from_pylist([], pa.schema([*chain.input.schema, *placed]))
            return
        begin = next(border for border in whole.borders if border.steps == chain.cuts[stage - 1])
        self.before, self.operators = whole.operators[: begin.operators], whole.operators[begin.operators :]
        sample = begin.sample if self.moves else self.operators[0].step(Memory(State()), begin.sample, START)[0]
        self.nothing = self._hand_on(sample, sample)

    def init(self) -> State:
        return State()

    def step(self, state: State, batch: pa.RecordBatch, punctuation: int) -> ChainStep:
        memory = Memory(state)
        span = Span.until(memory.number(PUNCTUATION, EARLIEST), punctuation)
        memory.put(PUNCTUATION, span.now)
        for operator in self.before:  # their rows come only when a slot has passed
            span = span.slotted(operator.every) if isinstance(operator, LastOfSlots) else span
        rows = self._from_stream(memory, batch) if self.first else self._from_stage(batch)
        for operator in self.operators:
            rows, span = operator.step(memory, rows, span)
        return ChainStep(memory.state(), answers(rows) if self.end is None else self._hand_on(rows, self.end))

    def _from_stream(self, memory: Memory, batch: pa.RecordBatch) -> Rows:
        rows = enter_rows(memory, self.chain.input, batch)
        if not self.moves:
            return rows
        known = valid(batch.column(self.chain.input.time))
        places = [ints(picked(batch.select([name]), known).column(0)) for name in (BATCH, PLACE)]
        return rows.placed(rows.marks["arrival"].to_numpy(), *places)

    def _from_stage(self, batch: pa.RecordBatch) -> Rows:
        rows = unpacked(cast_columns(batch, self.nothing.schema))
        return in_order(rows) if self.moves else rows

    def _hand_on(self, rows: Rows, sample: Rows) -> pa.RecordBatch:
        """Return rows with their time and marks, for the next stage. If rows move to other buckets, INSTANT is dropped.

        Instants are numbered per bucket.
        """
        rows = rows if len(rows) else sample
        marks = {name: mark for name, mark in rows.marks.items() if not self.moves or name != INSTANT}
        return packed(replace(rows, marks=marks))


def answers(rows: Rows) -> pa.RecordBatch:
    """Return rows as the result of a query, with their event time."""
    names = dict(zip(rows.batch.schema.names, rows.batch.columns, strict=True))
    return table({**names, EVENT_TIME: moments(rows.time)})


def in_order(rows: Rows) -> Rows:
    """Return rows in sequence order.

    Rows that are equal in this order belong to one instant: they come from one bucket, already in order.
    """
    if len(rows) < 2:
        return rows
    order = stable(rows.time)
    time = rows.time[order]
    if not (time[1:] > time[:-1]).all():
        order = order_by_instant(rows.time, _rank(list(ordering(rows).values())))
    return rows.at(order)


def _rank(keys: list[pa.Array]) -> Ints:
    """Return the rank of each row by the keys; equal keys keep their order."""
    if not all(pa.types.is_integer(key.type) and not key.null_count for key in keys):
        return ranked(keys)
    order = np.lexsort([key.to_numpy() for key in reversed(keys)])
    return scattered(np.arange(len(order)), order)
