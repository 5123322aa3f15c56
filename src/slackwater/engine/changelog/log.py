"""Tuples with lifetimes, and a changelog: what begins and what is ended in one stretch of time.

A tuple has an identity, one or more integers. A negative carries the tuple that it ends whole, so that an operator
which looks at one tuple at a time need not remember any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import NO_INTS, Bools, Index, Ints, joined, picked, stacked, table
from slackwater.engine.columns.keys import dense
from slackwater.engine.columns.order import ascending, stable
from slackwater.engine.columns.rows import Rows


@dataclass(frozen=True, slots=True)
class Tuples:
    """Rows that hold from `start`, at the latest until `end`."""

    rows: pa.RecordBatch
    start: Ints
    end: Ints
    ids: tuple[Ints, ...]

    def __len__(self) -> int:
        return len(self.start)

    def at(self, index: Index | Ints | Bools) -> Tuples:
        """The tuples at these places, or where the mask is true."""
        if index.dtype == np.bool_ and index.all():
            return self
        ids = tuple(each[index] for each in self.ids)
        return Tuples(picked(self.rows, index), self.start[index], self.end[index], ids)

    def seen(self) -> Rows:
        """As rows: what an expression is evaluated over."""
        return Rows(self.rows, self.start)

    def holding(self, rows: pa.RecordBatch) -> Tuples:
        """The same tuples with other columns."""
        return replace(self, rows=rows)


def no_tuples(schema: pa.Schema, ids: int) -> Tuples:
    """No tuples of these columns."""
    return Tuples(pa.RecordBatch.from_pylist([], schema), NO_INTS, NO_INTS, (NO_INTS,) * ids)


@dataclass(frozen=True, slots=True)
class TupleLog:
    """Tuples that begin, by their start, and tuples that are ended `at` a point before their bound, by that point.

    `of` is the place of an ended tuple among those that begin here, -1 if it began before; None where nobody knows.
    """

    born: Tuples
    ended: Tuples
    at: Ints
    of: Ints | None = None


def of_tuples(born: Tuples) -> TupleLog:
    """Nothing is ended."""
    return TupleLog(born, born.at(NO_INTS), NO_INTS, NO_INTS)


def together(one: Tuples, two: Tuples) -> Tuples:
    """Tuples of one kind, one lot after the other."""
    if not len(one) or not len(two):
        return one if len(one) else two
    ids = tuple(np.concatenate(each) for each in zip(one.ids, two.ids, strict=True))
    ends = np.concatenate([one.end, two.end])
    return Tuples(stacked([one.rows, two.rows]), np.concatenate([one.start, two.start]), ends, ids)


def in_order(log: TupleLog) -> TupleLog:
    """Both parts by time."""
    if not ascending(log.born.start):
        log = arranged(log, stable(log.born.start))
    ended, at, of = log.ended, log.at, log.of
    if not ascending(at):
        order = stable(at)
        ended, at = ended.at(order), at[order]
        of = None if of is None else of[order]
    return TupleLog(log.born, ended, at, of)


def arranged(log: TupleLog, order: Index) -> TupleLog:
    """The same with what begins in another order."""
    of = log.of
    if of is not None:
        back = np.empty(len(order) + 1, np.int64)
        back[order], back[-1] = np.arange(len(order)), -1
        of = back[of]
    return TupleLog(log.born.at(order), log.ended, log.at, of)


SIGN, START, END, BORN, NOW, BLOB = LOG_COLUMNS = ("#sign", "#start", "#end", "#born", "#now", "#blob")
"""The columns of a changelog that travels as rows: what is ended (0) or begins (1), from when to when; the number of
the tuple among those that begin, which what is ended in the same stretch refers to; the end of the stretch; and which
of several changelogs that travel together it is."""


def rows_of(log: TupleLog, now: int) -> pa.RecordBatch:
    """A changelog as rows, tuples that are ended first, so that others can add or change columns."""
    of = located(log.born.ids, log.ended.ids) if log.of is None else log.of
    rows = stacked([log.ended.rows, log.born.rows])
    ended, born = len(log.at), len(log.born)
    columns = {
        SIGN: np.repeat([0, 1], [ended, born]),
        START: np.concatenate([log.at, log.born.start]),
        END: np.concatenate([log.ended.end, log.born.end]),
        BORN: np.concatenate([of, np.arange(born)]),
        NOW: np.full(ended + born, now),
        BLOB: np.zeros(ended + born, np.int64),
    }
    return table({**columns, **dict(zip(rows.schema.names, rows.columns, strict=True))})


def log_of(rows: pa.RecordBatch) -> tuple[TupleLog, Ints]:
    """The changelog of rows that were made so, of which a filter may have left out some, and the ends of stretches."""
    sign, start, end, born, now, blob = (rows.column(name).to_numpy() for name in LOG_COLUMNS)
    own = rows.drop_columns(list(LOG_COLUMNS))
    gone, come = np.flatnonzero(sign == 0), np.flatnonzero(sign == 1)
    tuples = Tuples(picked(own, come), start[come], end[come], (blob[come], born[come]))
    ended = Tuples(picked(own, gone), start[gone], end[gone], (blob[gone], born[gone]))
    of = np.where(born[gone] < 0, -1, located(tuples.ids, ended.ids))
    return TupleLog(tuples, ended, start[gone], of), np.concatenate([now[gone], now[come]])


def located(ids: Sequence[Ints], wanted: Sequence[Ints]) -> Ints:
    """Where each of the wanted identities stands among the others; -1 where it does not.

    >>> located((np.array([4, 9, 5]),), (np.array([5, 7]),)).tolist()
    [2, -1]
    """
    size = len(ids[0])
    if not size or not len(wanted[0]):
        return np.full(len(wanted[0]), -1)
    columns = [joined([pa.array(each), pa.array(other)]) for each, other in zip(ids, wanted, strict=True)]
    code, _ = dense(columns)
    place = np.full(int(code.max()) + 1, -1)
    place[code[:size]] = np.arange(size)
    found: Ints = place[code[size:]]
    return found
