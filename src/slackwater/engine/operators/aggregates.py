"""The aggregate calls of a window, in the structures that compute them: sums, extremes, ends and distinct values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from slackwater.engine.columns.arrays import table
from slackwater.engine.columns.rows import Rows
from slackwater.engine.columns.state import Memory
from slackwater.engine.numbers.tally import Tally
from slackwater.engine.operators.calls import Calls, DistinctValues, EndValue, ExtremeValue, Found, ValueSource
from slackwater.engine.operators.distinct import DistinctCounts
from slackwater.engine.operators.ends import Ends
from slackwater.engine.operators.entries import ARRIVAL, POSITION, TIME, ExitClock, Merge, Points
from slackwater.engine.operators.extremes import Extremes
from slackwater.engine.operators.sums import WindowSums
from slackwater.engine.plan import Call

SUMS = "sums"
Fresh = dict[str, pa.RecordBatch]
"""New entries for each structure, by its name."""
STRUCTURES: dict[type[ValueSource], Any] = {ExtremeValue: Extremes, EndValue: Ends, DistinctValues: DistinctCounts}


class Aggregates:
    """All calls of one aggregate. `sample` has the columns of its input and no rows.

    With `partial`, windows are evaluated at instants, and rows that enter and leave together are kept as one entry.
    Otherwise they are evaluated at rows: every point is a row. `mixed` says that rows may not come in sequence.
    """

    def __init__(self, name: str, calls: Sequence[Call], sample: Rows, partial: bool, mixed: bool = False) -> None:
        self.partial = partial
        self.calls = Calls(calls, sample)
        self.others = {
            source: STRUCTURES[type(source)](f"{name}.{source.name}", source, mixed) for source in self.calls.sources
        }
        self.sums = (
            WindowSums(f"{name}.sums", list(self.calls.counted.values()), partial, mixed)
            if partial or self.calls.sums
            else None
        )

    def evaluated(self, rows: Rows) -> pa.RecordBatch:
        """Return the arguments of all calls; for FIRST and LAST also the columns of the sequence order, if known."""
        columns: dict[str, Any] = self.calls.evaluated(rows)
        if any(isinstance(source, EndValue) for source in self.calls.sources):
            columns |= {name: rows.marks[name] for name in (TIME, ARRIVAL, POSITION) if name in rows.marks}
        return table(columns or {TIME: rows.time})

    def entries(self, base: pa.RecordBatch, arguments: pa.RecordBatch) -> Fresh:
        """Return new entries for all structures."""
        fresh = {} if self.sums is None else {SUMS: self.sums.entries(base, arguments)}
        for other in self.others.values():
            entries = other.entries(base, arguments)
            fresh[other.name] = other.merged(entries) if self.partial else entries
        return fresh

    def merger(self, name: str) -> Merge:
        """Return the function that merges the entries of a structure that enter and leave together."""
        merge: Merge = {SUMS: self.sums, **{other.name: other for other in self.others.values()}}[name].merged
        return merge

    def expire(self, memory: Memory, clock: ExitClock) -> pa.RecordBatch | None:
        """Remove the entries that leave from the sums and return them."""
        return None if self.sums is None else self.sums.expire(memory, clock)

    def step(
        self, memory: Memory, clock: ExitClock, gone: pa.RecordBatch | None, fresh: Fresh, points: Points, size: int
    ) -> tuple[Tally, Found]:
        """Return the sums and other values at the points, and keep the new entries. `size` is the number of codes."""
        sums = {} if self.sums is None else self.sums.step(memory, clock, gone, fresh[SUMS], points, size)
        others = self.others.items()
        return sums, {source: other.step(memory, clock, fresh[other.name], points) for source, other in others}
