"""The result rows of instants: every group in their windows, sorted by key, or every row in their windows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import EARLIEST, Bools, Index, Ints, picked
from slackwater.engine.columns.keys import dense, ranked
from slackwater.engine.columns.order import firsts, stable
from slackwater.engine.columns.rows import INSTANT, Rows, packed, unpacked
from slackwater.engine.columns.segments import aligned
from slackwater.engine.columns.state import Memory
from slackwater.engine.numbers.tally import ROWS
from slackwater.engine.operators.aggregates import SUMS, Fresh
from slackwater.engine.operators.entries import AT, ENTER, Shelf, column, part_of
from slackwater.engine.operators.grouping import Grouping
from slackwater.engine.operators.instants import Schedule, changes, repeated, spread


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
        return grouping.nothing(schedule.marks(np.empty(0, np.int64)))
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

    def step(self, memory: Memory, schedule: Schedule, new: pa.RecordBatch) -> tuple[Rows, Ints, Ints | None]:
        """Return each row once for every instant whose window contains it, with the instant's ordinal and the part.

        The rows are in sequence order.
        """
        shelf = Shelf(memory, self.name, schedule.clock)
        pieces = shelf.with_new(new)
        every = aligned([piece.select(_kept(new)) for piece in pieces])
        enter = np.full(every.num_rows, EARLIEST)
        enter[every.num_rows - new.num_rows :] = column(new, ENTER)
        part = part_of(every)
        first, end = schedule.bounds(part, every.num_rows)
        start = np.clip(enter, first, end)
        stop = np.clip(schedule.clock.exits(every), start, end)
        place, ordinal = spread(start, stop - start)
        shelf.keep(shelf.live(new), new)
        return unpacked(picked(every, place)), ordinal, None if part is None else part[place]


def _kept(new: pa.RecordBatch) -> list[str]:
    return [name for name in new.schema.names if name not in (ENTER, AT)]
