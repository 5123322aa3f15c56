"""Windows that are evaluated at instants: the points at which a group changes, and the result rows of each instant.

Instants have ordinals. Between two changes of a group its result stays the same, so it is computed once and repeated
for every instant up to the next change. An instant with an empty window yields no row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import EARLIEST, LATEST, NO_INTS, Bools, Index, Ints, column, picked
from slackwater.engine.columns.keys import dense, ranked
from slackwater.engine.columns.order import FITS, counted, firsts, stable
from slackwater.engine.columns.rows import INSTANT, Rows, packed, unpacked
from slackwater.engine.columns.segments import aligned
from slackwater.engine.columns.state import Memory
from slackwater.engine.numbers.tally import ROWS
from slackwater.engine.operators.aggregates import SUMS, Fresh
from slackwater.engine.operators.entries import AT, CODE, ENTER, ExitClock, Points, Shelf, part_of
from slackwater.engine.operators.groups import Grouping
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
    seen = [(live, np.full(len(live), EARLIEST))]
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


def emit_groups(memory: Memory, grouping: Grouping, schedule: Schedule, known: Bools, fresh: Fresh) -> Rows:
    """Return the result rows of the instants of a batch; `known` says which codes had entries before the batch."""
    groups, aggregates, clock = grouping.groups, grouping.aggregates, schedule.clock
    parts = groups.parts(memory)
    gone = aggregates.expire(memory, clock)
    points = changes(schedule, np.flatnonzero(known), parts, gone, fresh[SUMS])
    sums, others = aggregates.step(memory, clock, gone, fresh, points, groups.keys.size(memory))
    keys = groups.keys.columns(memory)
    groups.trim(memory, clock.now)
    if not len(points):
        return grouping.nothing(mark_instants(schedule, NO_INTS, NO_INTS))
    place, ordinal = repeated(schedule, points, parts, sums[ROWS], _ranks(keys, points.code))
    order = stable(schedule.order(ordinal))
    place, ordinal = place[order], ordinal[order]
    code = points.code[place]
    calls = [column.take(pa.array(place)) for column in aggregates.calls.columns(sums, others)]
    part = dense(keys[: len(grouping.by)])[0][code] if grouping.by else np.zeros(len(code), np.int64)
    instants = mark_instants(schedule, ordinal, part)
    return grouping.result([key.take(pa.array(code)) for key in keys], calls, instants)


def mark_instants(schedule: Schedule, ordinal: Ints, part: Ints) -> Rows:
    """Return the time and marks of result rows as rows without columns, with a number for each instant."""
    number = np.cumsum(firsts(schedule.order(ordinal), part), dtype=np.int64)
    return schedule.marks(ordinal).marked(INSTANT, number)


def order_by_instant(order: Ints, rank: Ints) -> Index:
    """Return the order of rows by the place of their instant, then by rank."""
    by_rank = stable(rank)
    return by_rank[stable(order[by_rank])]


def _ranks(keys: list[pa.Array], code: Ints) -> Ints:
    """Return for each code in `code` the rank of its key among the keys of these codes; 0 for other codes."""
    if not keys:
        return np.zeros(1, np.int64)
    rank = np.zeros(len(keys[0]), np.int64)
    used = np.zeros(len(rank), np.bool_)
    used[code] = True
    places = np.flatnonzero(used)
    rank[places] = ranked([key.take(pa.array(places)) for key in keys])
    return rank


# Windows without an aggregate at instants: every row in the window is emitted.
#
# Kept: the rows that are in the window of a later instant, with all their columns.


class WindowRelation:
    """The rows of windows, under a name in the state."""

    def __init__(self, name: str) -> None:
        self.name = name

    def entries(self, base: pa.RecordBatch, rows: Rows) -> pa.RecordBatch:
        kept = packed(rows)
        names = [*base.schema.names, *kept.schema.names]
        return pa.RecordBatch.from_arrays([*base.columns, *kept.columns], names=names)

    def step(self, memory: Memory, schedule: Schedule, new: pa.RecordBatch) -> tuple[Rows, Ints]:
        """Return each row once for every instant whose window contains it, with the instant's ordinal.

        The rows are in sequence order.
        """
        shelf = Shelf(memory, self.name, schedule.clock)
        pieces = shelf.with_new(new)
        every = aligned([piece.select(_kept(new)) for piece in pieces])
        enter = np.full(every.num_rows, EARLIEST)
        enter[every.num_rows - new.num_rows :] = column(new, ENTER)
        first, end = schedule.bounds(part_of(every), every.num_rows)
        start = np.clip(enter, first, end)
        stop = np.clip(schedule.clock.exits(every), start, end)
        place, ordinal = spread(start, stop - start)
        shelf.put(shelf.live(new), new)
        return unpacked(picked(every, place)), ordinal


def _kept(new: pa.RecordBatch) -> list[str]:
    return [name for name in new.schema.names if name not in (ENTER, AT)]
