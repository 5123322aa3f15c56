"""Make the operators of a chain from its steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from slackwater.engine.columns.rows import ROW_NUMBER, Rows, no_rows
from slackwater.engine.columns.state import Memory, State
from slackwater.engine.expressions.evaluate import marks_of
from slackwater.engine.operators.hold import HOLD, Cycle, RowHold
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
from slackwater.engine.plan import (
    AggregateStep,
    Chain,
    Compute,
    DistinctStep,
    FilterStep,
    FrequencyStep,
    NamedTree,
    ProjectStep,
    Size,
    Step,
    SubqueryStep,
    WindowStep,
    trees_of,
)
from slackwater.errors import QueryError

START = Span(0, 0)


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


def compiled(chain: Chain, *, ordered: bool = False, came: bool = False, upto: int | None = None) -> Compiled:
    """Return the operators of a chain. Each makes a step over no rows, from which the types of its output are known.

    With `ordered`, rows are marked with their order among rows of the same time, as far as the operators know it. With
    `came`, they are marked with the arrival of the row that caused them. With `upto`, only that many steps are
    compiled: the types of the columns that Spark computes after them are not known yet.
    """
    steps = list(chain.steps[:upto])
    numbered = any(ROW_NUMBER in marks_of(tree) for step in chain.steps for tree in trees_of(step))
    operators: list[RowOperator] = []
    sample = no_rows(chain.input.schema)
    if ordered:
        sample = sample.placed(*(np.empty(0, np.int64) for _ in range(3)))
    borders: list[Border] = []
    if chain.computed and not chain.cuts:
        raise not_in_one(step for step in chain.steps if isinstance(step, Compute))
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


def not_in_one(steps: Iterable[Compute]) -> QueryError:
    """Return the error that says that Spark would have to compute a column in the middle of an operator."""
    return QueryError(
        "SW-352",
        f"'{next(iter(steps)).items[0].tree[1][:80]}' cannot be evaluated in the fused operator",
        hint="simplify it, or compute it in the query that reads this",
    )


def is_extent(window: WindowStep) -> bool:
    return window.every.is_time and not window.strict and window.range.is_time


def at_every_row(window: WindowStep) -> bool:
    return window.every == Size(1, is_time=False)


def _cycle(steps: Sequence[Step]) -> Cycle | None:
    """Return the rows of the stream that the first window needs if it is shorter than its jumps, else None."""
    match steps:
        case [WindowStep(range=Size(last, False), every=Size(every, False), count_by=(), strict=False) as window, *_]:
            return Cycle(every, last) if last < every and not window.by else None
    return None


def _first_extent(steps: Sequence[Step]) -> WindowStep | None:
    """Return the first window if it has extents and only filters and projections before it: it needs no held rows."""
    for step in steps:
        match step:
            case FilterStep() | ProjectStep():
                continue
            case WindowStep() if is_extent(step):
                return step
            case _:
                return None
    return None


def _count_steps(steps: Sequence[Step]) -> int:
    """Return the number of steps of the next operator: a window up to its aggregate, or filters and projections."""
    row_wise = 0
    rest = steps[1:] if isinstance(steps[0], WindowStep) else steps
    while row_wise < len(rest) and isinstance(rest[row_wise], FilterStep | ProjectStep):
        row_wise += 1
    if not isinstance(steps[0], WindowStep):
        return max(1, row_wise)
    if row_wise < len(rest) and isinstance(rest[row_wise], AggregateStep):
        return row_wise + 2
    marked = [any(map(marks_of, trees_of(step))) for step in rest[:row_wise]]
    if row_wise < len(rest) and isinstance(rest[row_wise], DistinctStep) and not any(marked):
        return row_wise + 2
    return 1 + (marked.index(True) if any(marked) else row_wise)  # a mark is of a window's output


def _operator(name: str, steps: Sequence[Step], sample: Rows, numbered: bool) -> RowOperator:
    match steps:
        case [WindowStep() as window, *inner, AggregateStep() | DistinctStep() as last]:
            aggregate = last if isinstance(last, AggregateStep) else _of_all_columns(inner, sample)
            if at_every_row(window):
                return RowWindow(name, window, inner, aggregate, sample, numbered)
            return WindowGroups(name, window, inner, aggregate, sample)
        case [WindowStep() as window, *inner]:
            if at_every_row(window):
                return RowStream(name, window, inner, sample, numbered)
            return WindowRows(name, window, inner, sample)
        case [FilterStep() | ProjectStep(), *_]:
            return RowWise(steps)
        case [FrequencyStep(strict=True) as frequency]:
            return AtMultiples(frequency)
        case [FrequencyStep() as frequency]:
            return LastOfSlots(name, frequency) if frequency.every.is_time else EveryNth(name, frequency, sample)
        case [DistinctStep(instant=instant)]:
            return Unique(instant)
        case [SubqueryStep()]:
            return Renumber(name)
        case [Compute(items=items)]:
            return Computed(items)
    raise QueryError(
        "SW-356",
        "an aggregate has no window below it",
        expected="a window, then filters and projections, then the aggregate",
        hint="add RANGE, or use EMIT CHANGES",
    )


def _of_all_columns(inner: Sequence[Step], sample: Rows) -> AggregateStep:
    """Return DISTINCT over a window as an aggregate: grouped by all columns, without calls."""
    schema = apply_steps(inner, sample).batch.schema
    return AggregateStep(tuple(NamedTree(name, ("column", name)) for name in schema.names), ())
