"""From the description of a chain to its operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slackwater.engine.columns.rows import ROW_NUMBER, Rows, no_rows
from slackwater.engine.columns.state import Memory, State
from slackwater.engine.expressions.evaluate import marks_of
from slackwater.engine.operators.extents import ExtentGroups, ExtentRows
from slackwater.engine.operators.hold import HOLD, Cycle, RowHold
from slackwater.engine.operators.jump_window import JumpGroups, JumpRows
from slackwater.engine.operators.row_window import RowStream, RowWindow
from slackwater.engine.operators.steps import (
    AtMultiples,
    EveryNth,
    LastOfSlots,
    Renumber,
    RowOperator,
    RowWise,
    Span,
    Unique,
    applied,
)
from slackwater.engine.plan import (
    Aggregate,
    Chain,
    Distinct,
    Filter,
    Frequency,
    Item,
    Length,
    Project,
    Step,
    Subquery,
    Window,
    trees_of,
)
from slackwater.errors import QueryError

START = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Border:
    """Between two operators: how many of them and of the steps come before, and no rows of what leaves them."""

    operators: int
    steps: int
    sample: Rows


@dataclass(frozen=True, slots=True)
class Compiled:
    """The operators of a chain in order, and what is between them."""

    operators: tuple[RowOperator, ...]
    borders: tuple[Border, ...]


def compiled(chain: Chain, *, ordered: bool = False, came: bool = False) -> Compiled:
    """The operators; the rows that leave each are tried out on no rows, so that all types are known.

    With `ordered`, rows carry what puts those of one time in order, for as long as the operators know it; with `came`,
    when the row that caused them arrived.
    """
    steps = list(chain.steps)
    numbered = any(ROW_NUMBER in marks_of(tree) for step in steps for tree in trees_of(step))
    operators: list[RowOperator] = []
    sample = no_rows(chain.input.schema)
    if ordered:
        sample = sample.placed(*(np.empty(0, np.int64) for _ in range(3)))
    borders: list[Border] = []
    if _first_extent(steps) is None:
        operators.append(RowHold(HOLD, numbered, _cycle(steps), came))
    while steps:
        taken = _taken(steps)
        operator = _operator(f"{len(operators)}", steps[:taken], sample, numbered)
        steps = steps[taken:]
        operators.append(operator)
        sample, _ = operator.step(Memory(State()), sample, START)
        borders.append(Border(len(operators), len(chain.steps) - len(steps), sample))
    return Compiled(tuple(operators), tuple(borders))


def is_extent(window: Window) -> bool:
    return window.every.is_time and not window.strict and window.range.is_time


def at_every_row(window: Window) -> bool:
    return window.every == Length(1, is_time=False)


def _cycle(steps: Sequence[Step]) -> Cycle | None:
    """Which rows of the stream a first window that is shorter than its jumps needs."""
    match steps:
        case [Window(range=Length(last, False), every=Length(every, False), count_by=(), strict=False) as window, *_]:
            return Cycle(every, last) if last < every and not window.by else None
    return None


def _first_extent(steps: Sequence[Step]) -> Window | None:
    """The extents that take in rows as they come, if only filters and projections stand before them."""
    for step in steps:
        match step:
            case Filter() | Project():
                continue
            case Window() if is_extent(step):
                return step
            case _:
                return None
    return None


def _taken(steps: Sequence[Step]) -> int:
    """How many steps make the next operator: a window with what stands up to its aggregate; filters and projections."""
    row_wise = 0
    rest = steps[1:] if isinstance(steps[0], Window) else steps
    while row_wise < len(rest) and isinstance(rest[row_wise], Filter | Project):
        row_wise += 1
    if not isinstance(steps[0], Window):
        return max(1, row_wise)
    if row_wise < len(rest) and isinstance(rest[row_wise], Aggregate):
        return row_wise + 2
    marked = [any(map(marks_of, trees_of(step))) for step in rest[:row_wise]]
    if row_wise < len(rest) and isinstance(rest[row_wise], Distinct) and not any(marked):
        return row_wise + 2
    return 1 + (marked.index(True) if any(marked) else row_wise)  # a mark is of what the instant yields


def _operator(name: str, steps: Sequence[Step], sample: Rows, numbered: bool) -> RowOperator:
    match steps:
        case [Window() as window, *inner, Aggregate() as aggregate]:
            return _grouped(name, window, inner, aggregate, sample, numbered)
        case [Window() as window, *inner, Distinct()]:
            return _grouped(name, window, inner, _of_all_columns(inner, sample), sample, numbered)
        case [Window() as window, *inner]:
            return _rows(name, window, inner, sample, numbered)
        case [Filter() | Project(), *_]:
            return RowWise(steps)
        case [Frequency(strict=True) as frequency]:
            return AtMultiples(frequency)
        case [Frequency() as frequency]:
            return LastOfSlots(name, frequency) if frequency.every.is_time else EveryNth(name, frequency, sample)
        case [Distinct()]:
            return Unique()
        case [Subquery()]:
            return Renumber(name)
    raise QueryError(
        "SW-356",
        "an aggregate has no window below it",
        expected="a window, then filters and projections, then the aggregate",
        hint="add RANGE, or use EMIT CHANGES",
    )


def _of_all_columns(inner: Sequence[Step], sample: Rows) -> Aggregate:
    """DISTINCT of what a window holds: every row is a group, and there is nothing to compute."""
    schema = applied(inner, sample).batch.schema
    return Aggregate(tuple(Item(name, ("column", name)) for name in schema.names), ())


def _grouped(
    name: str, window: Window, inner: Sequence[Step], aggregate: Aggregate, sample: Rows, numbered: bool
) -> RowOperator:
    if is_extent(window):
        return ExtentGroups(name, window, inner, aggregate, sample)
    if at_every_row(window):
        return RowWindow(name, window, inner, aggregate, sample, numbered)
    return JumpGroups(name, window, inner, aggregate, sample)


def _rows(name: str, window: Window, inner: Sequence[Step], sample: Rows, numbered: bool) -> RowOperator:
    if is_extent(window):
        return ExtentRows(name, window, inner)
    if at_every_row(window):
        return RowStream(name, window, inner, sample, numbered)
    return JumpRows(name, window, inner, sample)
