"""Windows without an aggregate at instants: every row that the window holds is emitted.

Kept: the rows that are in the window of an instant to come, with all their columns.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import EARLIEST, Ints, picked
from slackwater.engine.columns.rows import Rows, packed, unpacked
from slackwater.engine.columns.segments import aligned
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.entries import AT, ENTER, Shelf, column, part_of
from slackwater.engine.operators.instants import Schedule, spread


class Relation:
    """The rows of windows, under a name in the state."""

    def __init__(self, name: str) -> None:
        self.name = name

    def entries(self, base: pa.RecordBatch, rows: Rows) -> pa.RecordBatch:
        kept = packed(rows)
        names = [*base.schema.names, *kept.schema.names]
        return pa.RecordBatch.from_arrays([*base.columns, *kept.columns], names=names)

    def step(self, memory: Memory, schedule: Schedule, new: pa.RecordBatch) -> tuple[Rows, Ints, Ints | None]:
        """Each row once for every instant that holds it: the rows, the ordinals, the parts; in sequence order."""
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
