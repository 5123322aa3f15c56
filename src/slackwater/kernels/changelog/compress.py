"""The net change of a batch: what of its changelog still matters when the batch is over, and nothing else.

What lived before the batch and is ended in it must be told, unless its bound has come anyway; what begins in it must
be told, if it still lives at its end. A result that is ended and comes back with the same bound is no change. One pass
over columns; no smaller changelog leaves the same tuples alive with the same bounds, for a change is of one tuple.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from slackwater.kernels.arrays import Bools, Ints, joined
from slackwater.kernels.changelog.log import Log, Tuples, located
from slackwater.kernels.keys import dense, normal

ODD = np.int64(0x9E3779B97F4A7C15 - (1 << 64))
"""Spreads neighbouring numbers far apart."""


def compressed(log: Log, now: int) -> Log:
    """The changelog that leaves the same tuples alive at the end of the batch, when the punctuation is `now`."""
    of = located(log.born.ids, log.ended.ids) if log.of is None else log.of
    lives = log.born.end >= now
    lives[of[of >= 0]] = False
    told = np.flatnonzero((of < 0) & (log.ended.end >= now))
    born, ended, at = log.born.at(np.flatnonzero(lives)), log.ended.at(told), log.at[told]
    line = np.sort(np.concatenate([_mixed(born), _mixed(ended)]))
    if (line[1:] == line[:-1]).any():
        came, gone = _different(born, ended)
        born, ended, at = born.at(came), ended.at(gone), at[gone]
    return Log(born, ended, at, np.full(len(at), -1))


def _different(born: Tuples, ended: Tuples) -> tuple[Bools, Bools]:
    """Which of either have no counterpart with the same columns and the same bound among the other."""
    came, gone = np.ones(len(born), np.bool_), np.ones(len(ended), np.bool_)
    one, two = _mixed(born), _mixed(ended)
    some, others = np.isin(one, two), np.isin(two, one)
    if not some.any():
        return came, gone
    born, ended = born.at(some), ended.at(others)
    code = _same(born, ended)
    one, two = code[: len(born)], code[len(born) :]
    size = int(code.max()) + 1
    cancel = np.minimum(np.bincount(one, minlength=size), np.bincount(two, minlength=size))
    came[np.flatnonzero(some)[_ordinal(one) < cancel[one]]] = False
    gone[np.flatnonzero(others)[_ordinal(two) < cancel[two]]] = False
    return came, gone


def _mixed(tuples: Tuples) -> Ints:
    """The bound and the numbers of each row in one number: what differs here is not equal, and need not be compared."""
    mixed = tuples.end.copy()
    with np.errstate(over="ignore"):
        for column in tuples.rows.columns:
            if pa.types.is_integer(column.type):
                numbers = column if not column.null_count else column.fill_null(0)
                mixed = mixed * ODD + numbers.to_numpy()
    return mixed


def _same(born: Tuples, ended: Tuples) -> Ints:
    """A number for each row and bound."""
    pairs = zip(born.rows.columns, ended.rows.columns, strict=True)
    columns = [normal(joined([one, two])) for one, two in pairs]
    bound = pa.array(np.concatenate([born.end, ended.end]))
    return dense([*columns, bound])[0]


def _ordinal(code: Ints) -> Ints:
    """Which of its kind each is, from 0 on."""
    order = np.argsort(code, kind="stable")
    line = code[order]
    first = np.append(True, line[1:] != line[:-1])
    begin = np.maximum.accumulate(np.where(first, np.arange(len(line)), 0))
    found = np.empty(len(code), np.int64)
    found[order] = np.arange(len(line)) - begin
    return found
