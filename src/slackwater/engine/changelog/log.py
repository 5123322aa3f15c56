"""Tuples with lifetimes, the changelog of one step, and the net change of a batch.

A changelog has the tuples that begin and the tuples that are ended. A tuple has an identity, one or more integers. A
negative carries the whole tuple that it ends, so that an operator over single tuples need not remember any.

The net change (`compressed`) has only the changes that still matter at the end of the batch. The end of a tuple that
lived before the batch is written, unless its bound has passed anyway. The beginning of a tuple is written if it still
lives at the end of the batch. A tuple that ends and begins again with the same bound is no change. No smaller changelog
leaves the same tuples alive with the same bounds, because a change is about one tuple.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import (
    NO_INTS,
    Bools,
    Index,
    Ints,
    ascending,
    joined,
    picked,
    stable,
    stacked,
    table,
)
from slackwater.engine.columns.keys import dense, normal, numbered_within
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
        """Return the tuples at these places, or where the mask is true."""
        if index.dtype == np.bool_ and index.all():
            return self
        ids = tuple(each[index] for each in self.ids)
        return Tuples(picked(self.rows, index), self.start[index], self.end[index], ids)

    def seen(self) -> Rows:
        """Return the tuples as rows, over which expressions are evaluated."""
        return Rows(self.rows, self.start)

    def holding(self, rows: pa.RecordBatch) -> Tuples:
        """Return the same tuples with other columns."""
        return replace(self, rows=rows)


def no_tuples(schema: pa.Schema, ids: int) -> Tuples:
    """Return an empty set of tuples with these columns and so many numbers of identity."""
    return Tuples(pa.RecordBatch.from_pylist([], schema), NO_INTS, NO_INTS, (NO_INTS,) * ids)


@dataclass(frozen=True, slots=True)
class TupleLog:
    """The tuples that begin, sorted by start, and those that are ended `at` a time before their bound, sorted by it.

    `of` is the place of an ended tuple among those that begin here, -1 if it began before.
    """

    born: Tuples
    ended: Tuples
    at: Ints
    of: Ints

    def only(self, born: Bools | None, ended: Bools) -> TupleLog:
        """Return the tuples that begin and that are ended for which the masks are true; None keeps all that begin."""
        of = self.of[ended]
        if born is None:
            return TupleLog(self.born, self.ended.at(ended), self.at[ended], of)
        place = np.append(np.where(born, np.cumsum(born) - 1, -1), -1)
        return TupleLog(self.born.at(born), self.ended.at(ended), self.at[ended], place[of])


def of_tuples(born: Tuples) -> TupleLog:
    """Return a changelog in which these tuples begin and none is ended."""
    return TupleLog(born, born.at(NO_INTS), NO_INTS, NO_INTS)


def located(born: Tuples, ended: Tuples, at: Ints) -> TupleLog:
    """Return a changelog whose ended tuples are found by their identities among those that begin."""
    return TupleLog(born, ended, at, locate(born.ids, ended.ids))


def together(one: Tuples, two: Tuples) -> Tuples:
    """Return the tuples of both, those of `one` first."""
    if not len(one) or not len(two):
        return one if len(one) else two
    ids = tuple(np.concatenate(each) for each in zip(one.ids, two.ids, strict=True))
    ends = np.concatenate([one.end, two.end])
    return Tuples(stacked([one.rows, two.rows]), np.concatenate([one.start, two.start]), ends, ids)


def in_order(log: TupleLog) -> TupleLog:
    """Return a changelog with both parts sorted by time."""
    if not ascending(log.born.start):
        log = reorder(log, stable(log.born.start))
    ended, at, of = log.ended, log.at, log.of
    if not ascending(at):
        order = stable(at)
        ended, at = ended.at(order), at[order]
        of = of[order]
    return TupleLog(log.born, ended, at, of)


def reorder(log: TupleLog, order: Index) -> TupleLog:
    """Return a changelog with the tuples that begin in another order."""
    back = np.empty(len(order) + 1, np.int64)
    back[order], back[-1] = np.arange(len(order)), -1
    return TupleLog(log.born.at(order), log.ended, log.at, back[log.of])


SIGN, START, END, BORN, NOW, BLOB = LOG_COLUMNS = ("#sign", "#start", "#end", "#born", "#now", "#blob")
"""The columns of a changelog as rows: whether the tuple is ended (0) or begins (1); its start or the time of its end;
its bound; its number among the tuples that begin, to which its end in the same step refers; the end of the step; and
the number of the changelog, if several are sent together."""


def rows_of(log: TupleLog, now: int) -> pa.RecordBatch:
    """Return a changelog as rows, ended tuples first, so that Spark can add or change columns."""
    size = len(log.at) + len(log.born)
    born = np.concatenate([log.of, np.arange(len(log.born))])
    return _as_rows(log, {BORN: born, NOW: np.full(size, now), BLOB: np.zeros(size, np.int64)})


def _as_rows(log: TupleLog, besides: dict[str, Ints]) -> pa.RecordBatch:
    """Return a changelog as rows with sign, start, end and other numbers, ended tuples first."""
    rows = stacked([log.ended.rows, log.born.rows])
    columns = {
        SIGN: np.repeat([0, 1], [len(log.at), len(log.born)]),
        START: np.concatenate([log.at, log.born.start]),
        END: np.concatenate([log.ended.end, log.born.end]),
    }
    return table({**columns, **besides, **dict(zip(rows.schema.names, rows.columns, strict=True))})


def log_of(rows: pa.RecordBatch) -> tuple[TupleLog, Ints]:
    """Return the changelog of rows that `rows_of` made, and the end of the step of each tuple, ended tuples first.

    A filter may have removed some of the rows.
    """
    sign, start, end, born, now, blob = (rows.column(name).to_numpy() for name in LOG_COLUMNS)
    own = rows.drop_columns(list(LOG_COLUMNS))
    gone, come = np.flatnonzero(sign == 0), np.flatnonzero(sign == 1)
    tuples = Tuples(own, start, end, (blob, born))
    begun, ended = tuples.at(come), tuples.at(gone)
    of = np.where(born[gone] < 0, -1, locate(begun.ids, ended.ids))
    return TupleLog(begun, ended, start[gone], of), np.concatenate([now[gone], now[come]])


IDENTITY = "#id"
"""The names of the columns with the identity of a tuple begin with this, in a changelog for another operator."""


def handed_rows(log: TupleLog) -> pa.RecordBatch:
    """Return a changelog as rows for another operator, with the identities of its tuples, ended tuples first."""
    both = enumerate(zip(log.ended.ids, log.born.ids, strict=True))
    return _as_rows(log, {f"{IDENTITY}{number}": np.concatenate(each) for number, each in both})


def handed_log(rows: pa.RecordBatch, ids: int) -> TupleLog:
    """Return the changelog of rows that `handed_rows` made."""
    names = [SIGN, START, END, *(f"{IDENTITY}{number}" for number in range(ids))]
    sign, start, end, *own = (rows.column(name).to_numpy() for name in names)
    ended, born = np.flatnonzero(sign == 0), np.flatnonzero(sign == 1)
    tuples = Tuples(rows.drop_columns(names), start, end, tuple(own))
    return located(tuples.at(born), tuples.at(ended), start[ended])


def locate(ids: Sequence[Ints], wanted: Sequence[Ints]) -> Ints:
    """Return the place of each wanted identity in `ids`, -1 if it is not there.

    >>> locate((np.array([4, 9, 5]),), (np.array([5, 7]),)).tolist()
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


ODD = np.int64(0x9E3779B97F4A7C15 - (1 << 64))
"""The multiplier of the hash in `_mixed`: spreads neighbouring numbers far apart."""


def compressed(log: TupleLog, now: int | Ints) -> TupleLog:
    """Return the smallest changelog that leaves the same tuples alive at the end of the batch, at punctuation `now`.

    If the changelogs of several steps are concatenated, `now` has the punctuation of each tuple, ended tuples first.
    """
    ended = len(log.at)
    until_ended, until_born = (now, now) if isinstance(now, int) else (now[:ended], now[ended:])
    before = log.of < 0
    lives = log.born.end >= until_born
    lives[log.of[~before]] = False
    begun, told = np.flatnonzero(lives), np.flatnonzero(before & (log.ended.end >= until_ended))
    begun, told = _different(log.born, begun, log.ended, told)
    return TupleLog(log.born.at(begun), log.ended.at(told), log.at[told], log.of[told])


def _different(born: Tuples, begun: Index, ended: Tuples, told: Index) -> tuple[Index, Index]:
    """Return the begun and the ended tuples that have no equal counterpart, in columns and bound, on the other side."""
    one, two = _mixed(born, begun), _mixed(ended, told)
    some = np.flatnonzero(np.isin(one, two))
    if not len(some):
        return begun, told
    others = np.flatnonzero(np.isin(two, one))
    code = _same(born.at(begun[some]), ended.at(told[others]))
    one, two = code[: len(some)], code[len(some) :]
    size = int(code.max()) + 1
    cancel = np.minimum(np.bincount(one, minlength=size), np.bincount(two, minlength=size))
    none = np.zeros(size, np.int64)
    came = some[numbered_within(one, none) <= cancel[one]]
    gone = others[numbered_within(two, none) <= cancel[two]]
    return np.delete(begun, came), np.delete(told, gone)


def _mixed(tuples: Tuples, places: Index) -> Ints:
    """Return a hash of the bound and the integer columns of each row. Equal tuples have equal hashes."""
    mixed: Ints = tuples.end[places]
    for column in tuples.rows.columns:
        if pa.types.is_integer(column.type):
            mixed *= ODD  # integer arrays wrap silently, as intended here
            mixed += column.fill_null(0).to_numpy()[places]
    return mixed


def _same(born: Tuples, ended: Tuples) -> Ints:
    """Return a number for each distinct pair of row and bound."""
    pairs = zip(born.rows.columns, ended.rows.columns, strict=True)
    columns = [normal(joined([one, two])) for one, two in pairs]
    bound = pa.array(np.concatenate([born.end, ended.end]))
    return dense([*columns, bound])[0]
