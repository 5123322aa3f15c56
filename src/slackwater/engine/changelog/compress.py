"""The net change of a batch: only the changes that still matter at its end.

The end of a tuple that lived before the batch is written, unless its bound has passed anyway. The beginning of a tuple
is written if it still lives at the end of the batch. A tuple that ends and begins again with the same bound is no
change. No smaller changelog leaves the same tuples alive with the same bounds, because a change is about one tuple.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.log import TupleLog, Tuples, located
from slackwater.engine.columns.arrays import Index, Ints, joined
from slackwater.engine.columns.keys import dense, normal

ODD = np.int64(0x9E3779B97F4A7C15 - (1 << 64))
"""The multiplier of the hash in `_mixed`: spreads neighbouring numbers far apart."""


def compressed(log: TupleLog, now: int | Ints) -> TupleLog:
    """Return the smallest changelog that leaves the same tuples alive at the end of the batch, at punctuation `now`.

    If the changelogs of several steps are concatenated, `now` has the punctuation of each tuple, ended tuples first.
    """
    ended = len(log.at)
    until_ended, until_born = (now, now) if isinstance(now, int) else (now[:ended], now[ended:])
    of = located(log.born.ids, log.ended.ids) if log.of is None else log.of
    before = of < 0
    lives = log.born.end >= until_born
    lives[of[~before]] = False
    begun, told = np.flatnonzero(lives), np.flatnonzero(before & (log.ended.end >= until_ended))
    if _meet(log.born, begun, log.ended, told):
        begun, told = _different(log.born, begun, log.ended, told)
    return TupleLog(log.born.at(begun), log.ended.at(told), log.at[told], of[told])


def _meet(born: Tuples, begun: Index, ended: Tuples, told: Index) -> bool:
    """Return whether a begun and an ended tuple may be equal, by a hash of the bound and one column. Mostly none is."""
    line = np.concatenate([_mixed(born, begun, 1), _mixed(ended, told, 1)])
    line.sort()
    return bool((line[1:] == line[:-1]).any())


def _different(born: Tuples, begun: Index, ended: Tuples, told: Index) -> tuple[Index, Index]:
    """Return the begun and the ended tuples that have no equal counterpart, in columns and bound, on the other side."""
    width = born.rows.num_columns
    one, two = _mixed(born, begun, width), _mixed(ended, told, width)
    some, others = np.flatnonzero(np.isin(one, two)), np.flatnonzero(np.isin(two, one))
    if not len(some):
        return begun, told
    code = _same(born.at(begun[some]), ended.at(told[others]))
    one, two = code[: len(some)], code[len(some) :]
    size = int(code.max()) + 1
    cancel = np.minimum(np.bincount(one, minlength=size), np.bincount(two, minlength=size))
    came, gone = some[_ordinal(one) < cancel[one]], others[_ordinal(two) < cancel[two]]
    return np.delete(begun, came), np.delete(told, gone)


def _mixed(tuples: Tuples, places: Index, most: int) -> Ints:
    """Return a hash of the bound and the last `most` integer columns of each row. Equal tuples have equal hashes."""
    mixed: Ints = tuples.end[places]
    for place in range(tuples.rows.num_columns - 1, -1, -1):
        if not most:
            break
        column = tuples.rows.column(place)
        if pa.types.is_integer(column.type):
            numbers = column if not column.null_count else column.fill_null(0)
            mixed *= ODD  # integer arrays wrap silently, as intended here
            mixed += numbers.to_numpy()[places]
            most -= 1
    return mixed


def _same(born: Tuples, ended: Tuples) -> Ints:
    """Return a number for each distinct pair of row and bound."""
    pairs = zip(born.rows.columns, ended.rows.columns, strict=True)
    columns = [normal(joined([one, two])) for one, two in pairs]
    bound = pa.array(np.concatenate([born.end, ended.end]))
    return dense([*columns, bound])[0]


def _ordinal(code: Ints) -> Ints:
    """Return for each value its number among the equal values, from 0 on."""
    order = np.argsort(code, kind="stable")
    line = code[order]
    first = np.append(True, line[1:] != line[:-1])
    begin = np.maximum.accumulate(np.where(first, np.arange(len(line)), 0))
    found = np.empty(len(code), np.int64)
    found[order] = np.arange(len(line)) - begin
    return found
