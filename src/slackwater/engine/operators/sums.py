"""COUNT, SUM, AVG, STDDEV and the bitwise functions: an entry is added when it enters and subtracted when it leaves.

Kept: for each group the tally of all entries in its window, and the entries, in order to subtract them later. A batch
reads only the entries that enter or leave in it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import column, table
from slackwater.engine.columns.state import Memory
from slackwater.engine.numbers.tally import ROWS, Argument, Tally, summed, tally, together
from slackwater.engine.operators.entries import (
    AT,
    CODE,
    ENTER,
    EXIT,
    PART,
    ExitClock,
    Layout,
    Points,
    dense_store,
    heads,
    runs_of,
)

BASE = (CODE, ENTER, EXIT, PART, AT)


class WindowSums:
    """Sums over the windows of groups.

    With `partial`, entries are tallies of rows that enter and leave together. Without, entries are rows with their
    arguments, which are smaller than tallies; they are tallied again when they leave.
    """

    def __init__(self, name: str, arguments: Sequence[Argument], partial: bool, mixed: bool) -> None:
        self.name, self.arguments, self.partial, self.mixed = name, arguments, partial, mixed

    def entries(self, base: pa.RecordBatch, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the entries of rows."""
        if not self.partial:
            names = list(dict.fromkeys(argument.name for argument in self.arguments))
            return table(_columns(base) | {name: rows.column(name) for name in names})
        return self.merged(table(_columns(base) | tally(rows, self.arguments)))

    def merged(self, entries: pa.RecordBatch) -> pa.RecordBatch:
        """Return entries with one entry in place of all that enter and leave together."""
        if not self.partial or not entries.num_rows:
            return entries
        order, starts = runs_of(entries)
        return table(heads(entries, order, starts) | summed(self._tally(entries), order, starts))

    def expire(self, memory: Memory, clock: ExitClock) -> pa.RecordBatch | None:
        """Remove the entries that leave from the state and return them."""
        gone, store = clock.expire(memory.store(self.name, EXIT))
        memory.put_store(self.name, store)
        return gone

    def step(
        self,
        memory: Memory,
        clock: ExitClock,
        gone: pa.RecordBatch | None,
        new: pa.RecordBatch,
        points: Points,
        size: int,
    ) -> Tally:
        """Return the sums at the points, and keep the new entries that stay. `size` is the number of codes."""
        pieces = [new] if gone is None else [gone, new]
        old = 0 if gone is None else gone.num_rows
        added = self._tally(new)
        if gone is not None:
            added = together(self._tally(gone), added, (old, new.num_rows))
        head = self._head(memory, added, size)
        if gone is not None:
            for name, values in added.items():
                np.subtract.at(head[name], column(gone, CODE), values[:old])
        found = _at(Layout.of(clock, pieces, self.mixed), added, head, points) if len(points) else {}
        self._keep(memory, clock, head, new, {name: values[old:] for name, values in added.items()})
        return found

    def _tally(self, entries: pa.RecordBatch) -> Tally:
        if self.partial:
            return {name: column(entries, name) for name in entries.schema.names if name not in BASE}
        return tally(entries, self.arguments)

    def _head(self, memory: Memory, added: Tally, size: int) -> Tally:
        prefix = f"{self.name}:"
        names = dict.fromkeys([*added, *(name[len(prefix) :] for name in memory.names(prefix))])
        return {name: memory.sized(prefix + name, size) for name in names}

    def _keep(self, memory: Memory, clock: ExitClock, head: Tally, new: pa.RecordBatch, added: Tally) -> None:
        stay = clock.is_live(new)
        code = column(new, CODE)[stay]
        for name, values in added.items():
            np.add.at(head[name], code, values[stay])
        for name, values in head.items():
            memory.put(f"{self.name}:{name}", values if name == ROWS or values.any() else None)
        kept = new.filter(pa.array(stay)).drop_columns([ENTER])
        store = memory.store(self.name, EXIT)
        if self.partial:
            dense_store(memory, self.name, store.add(self._dense(kept)), clock.is_live, self._dense)
        else:
            memory.put_store(self.name, store.add(kept))

    def _dense(self, kept: pa.RecordBatch) -> pa.RecordBatch:
        """Return entries with one entry in place of all that leave together, whenever they entered."""
        zeros = kept.append_column(ENTER, pa.array(np.zeros(kept.num_rows, np.int64)))
        return self.merged(zeros).drop_columns([ENTER])


def _at(layout: Layout, added: Tally, rest: Tally, points: Points) -> Tally:
    """Return the sums at the points: of the entries that stay throughout (`rest`), and of a range of the layout."""
    low, high = layout.apart() if points.alone else layout.windows(points)
    found: Tally = {}
    for name, rested in rest.items():
        found[name] = rested.take(points.code)
        if name == ROWS and points.own:
            found[name] += high - low
        elif name in added:
            running = np.zeros(len(layout.order) + 1, np.int64)
            np.cumsum(added[name].take(layout.order), out=running[1:])
            found[name] += running.take(high)
            found[name] -= running.take(low)
    return found


def _columns(batch: pa.RecordBatch) -> dict[str, pa.Array]:
    return {name: values for name, values in zip(batch.schema.names, batch.columns, strict=True) if name != AT}
