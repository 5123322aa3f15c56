"""Windows that are evaluated at instants: the points at which a group changes, and the result rows of each instant.

Instants have ordinals. Between two changes of a group its result stays the same, so it is computed once and repeated
for every instant up to the next change. An instant with an empty window yields no row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import LATEST, Index, Ints
from slackwater.engine.columns.order import FITS, counted, firsts, stable
from slackwater.engine.columns.rows import Rows
from slackwater.engine.operators.entries import CODE, ENTER, ExitClock, Points, column
from slackwater.errors import RunError

MOST = 1 << 28
"""The most result rows of a batch. With a larger value, a batch may take more memory of the worker before it fails."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The instants of a batch, and the clock by which entries leave.

    The ordinals go from `first` up to `end`, each one number or one per part. `order` returns the place of an instant
    among all parts; `marks` returns the time and the marks of its result rows, as rows without columns.
    """

    clock: ExitClock
    first: int | Ints
    end: int | Ints
    order: Callable[[Ints], Ints]
    marks: Callable[[Ints], Rows]
    disjoint: bool = False
    """Whether windows do not overlap: an entry is only in the window of the instant at which it enters."""

    @property
    def any(self) -> bool:
        return bool(np.any(np.asarray(self.end) > np.asarray(self.first)))

    def bounds(self, part: Ints | None, size: int) -> tuple[Ints, Ints]:
        """Return the first ordinal and the end for entries of these parts."""
        if isinstance(self.first, int) or isinstance(self.end, int):
            return np.full(size, self.first), np.full(size, self.end)
        of = np.zeros(size, np.int64) if part is None else part
        return self.first[of], self.end[of]


def changes(schedule: Schedule, live: Ints, parts: Ints, gone: pa.RecordBatch | None, new: pa.RecordBatch) -> Points:
    """Return the points at which the result of a group may change: its first instant, and where entries enter or leave.

    `live` are the codes of groups that had entries before; `parts` has the part of each code.
    """
    if schedule.disjoint:
        return _windows(schedule, gone, new)
    seen = [(live, np.full(len(live), np.iinfo(np.int64).min))]
    seen += [(column(new, CODE), column(new, ENTER)), (column(new, CODE), schedule.clock.exits(new))]
    if gone is not None:
        seen.append((column(gone, CODE), schedule.clock.exits(gone)))
    code = np.concatenate([each for each, _ in seen])
    ordinal = np.concatenate([each for _, each in seen])
    first, end = schedule.bounds(parts[code] if len(parts) else None, len(code))
    ordinal = np.maximum(ordinal, first)
    within = ordinal < end
    code, ordinal = _sorted(code[within], ordinal[within])
    new_one = firsts(code, ordinal)
    return Points(code[new_one], ordinal[new_one], ordinal[new_one])


def _windows(schedule: Schedule, gone: pa.RecordBatch | None, new: pa.RecordBatch) -> Points:
    """Return one point per group and window that has an entry of it. Entries from before are in the first window."""
    code, ordinal = column(new, CODE), column(new, ENTER)
    came = ordinal < LATEST
    code, ordinal = code[came], ordinal[came]
    if gone is not None:
        code = np.concatenate([column(gone, CODE), code])
        ordinal = np.concatenate([np.zeros(gone.num_rows, np.int64), ordinal])
        order = counted(code)  # the entries of a group are already in order
        code, ordinal = code.take(order), ordinal.take(order)
    first = firsts(code, ordinal)
    return Points(code[first], ordinal[first], ordinal[first], alone=True)


def _sorted(code: Ints, ordinal: Ints) -> tuple[Ints, Ints]:
    if not len(code):
        return code, ordinal
    least, spread = int(ordinal.min()), int(ordinal.max()) - int(ordinal.min()) + 1
    if (int(code.max()) + 1) * spread < FITS:
        key = np.sort(code * spread + (ordinal - least))
        return key // spread, key % spread + least
    order = np.lexsort((ordinal, code))
    return code[order], ordinal[order]


def repeated(schedule: Schedule, points: Points, parts: Ints, rows: Ints, rank: Ints) -> tuple[Index, Ints]:
    """Return for each result row its point and the ordinal of its instant; groups in the order of `rank`."""
    if points.alone:
        count = (rows > 0).astype(np.int64)
    else:
        _, end = schedule.bounds(parts[points.code] if len(parts) else None, len(points))
        same = points.code[1:] == points.code[:-1]
        end[:-1][same] = points.enter[1:][same]
        count = np.where(rows > 0, end - points.enter, 0)
    order = stable(rank[points.code])
    place, ordinal = spread(points.enter[order], count[order])
    return order[place], ordinal


def spread(start: Ints, count: Ints) -> tuple[Index, Ints]:
    """Return each place `count` times, and numbers that count from its `start`.

    >>> [each.tolist() for each in spread(np.array([5, 9]), np.array([2, 1]))]
    [[0, 0, 1], [5, 6, 9]]
    """
    total = float(count.sum(dtype=np.float64))
    if total > MOST:
        raise RunError(
            "SW-552",
            f"one batch would yield {total:.3g} rows",
            hint="use a larger SLIDE or FREQUENCY, or let the punctuation advance in smaller steps",
        )
    place = np.repeat(np.arange(len(count)), count)
    ends = np.cumsum(count)
    return place, start[place] + np.arange(len(place)) - np.repeat(ends - count, count)
