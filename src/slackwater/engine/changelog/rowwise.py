"""Range window, filter, map, union: each tuple of the result comes from one of the input, and nothing is kept.

A negative is sent on only if it ends its tuple before the bound that the window gave it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.log import TupleLog, Tuples, in_order, of_tuples, together
from slackwater.engine.columns.arrays import LATEST, Bools, Ints, table, true
from slackwater.engine.columns.state import Memory
from slackwater.engine.expressions.evaluate import evaluate
from slackwater.engine.operators.steps import projected as values_of
from slackwater.engine.plan import NUMBERED, Item, Tree


def windowed(log: TupleLog, length: int) -> TupleLog:
    """t -> [t, t + r): the lifetime is known at birth."""
    born, ended = _shortened(log.born, length), _shortened(log.ended, length)
    return _only(TupleLog(born, ended, log.at, log.of), None, log.at < ended.end)


def _shortened(tuples: Tuples, length: int) -> Tuples:
    last = np.minimum(tuples.start, LATEST - length) + length
    return Tuples(tuples.rows, tuples.start, np.minimum(tuples.end, last), tuples.ids)


def streamed(log: TupleLog, lifetime: int | None) -> TupleLog:
    """What begins as rows of a stream, whose end nothing before them says."""
    start = log.born.start
    end = np.full(len(start), LATEST) if lifetime is None else np.minimum(start, LATEST - lifetime) + lifetime
    return of_tuples(replace(log.born, end=end))


def filtered(log: TupleLog, condition: Tree) -> TupleLog:
    """The tuples for which the condition is true, and the negatives of those."""
    return _only(log, _holds(log.born, condition), _holds(log.ended, condition))


def _holds(tuples: Tuples, condition: Tree) -> Bools:
    return true(evaluate(condition, tuples.seen()))


def _only(log: TupleLog, born: Bools | None, ended: Bools) -> TupleLog:
    """Some of what begins (None: all) and some of what is ended."""
    of = None if log.of is None else log.of[ended]
    if born is None:
        return TupleLog(log.born, log.ended.at(ended), log.at[ended], of)
    if of is not None and not born.all():
        place = np.append(np.cumsum(born) - 1, -1)
        of = place[of]
    return TupleLog(log.born.at(born), log.ended.at(ended), log.at[ended], of)


def projected(log: TupleLog, items: Sequence[Item]) -> TupleLog:
    """Other columns for the same tuples."""
    return TupleLog(mapped(log.born, items), mapped(log.ended, items), log.at, log.of)


def mapped(tuples: Tuples, items: Sequence[Item]) -> Tuples:
    return tuples.holding(values_of(items, tuples.seen()))


def united(left: TupleLog, right: TupleLog) -> TupleLog:
    """The tuples of both, columns by position; their identities are kept apart by the side they came from."""
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


# The numbers of rows, from 1 on, as one more column of their tuples.


def numbering(log: TupleLog) -> TupleLog:
    """The rows of an input: their identity counts from 0."""
    return replace(log, born=_with(log.born, log.born.ids[0] + 1), ended=_with(log.ended, log.ended.ids[0] + 1))


def renumbered(memory: Memory, name: str, log: TupleLog) -> TupleLog:
    """The rows of a stream that come in their order. Kept, under a name: their count."""
    first = memory.number(name) + 1
    memory.put(name, first - 1 + len(log.born))
    return of_tuples(_with(log.born, np.arange(first, first + len(log.born))))


def _with(tuples: Tuples, number: Ints) -> Tuples:
    return tuples.holding(tuples.rows.append_column(NUMBERED, pa.array(number)))
