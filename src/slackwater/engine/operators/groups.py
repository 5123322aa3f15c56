"""Groups and parts: the codes of their keys, the time at which a group ends, and the number of rows of each part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import EARLIEST, Bools, Ints
from slackwater.engine.columns.keys import Keys
from slackwater.engine.columns.order import bounds, counted, firsts
from slackwater.engine.columns.state import Memory


class Groups:
    """Groups that live as long as one of their entries. Afterwards their codes are reused.

    With `parts`, every part of the stream is a group and its code is that of the part.
    """

    def __init__(self, name: str, types: Sequence[pa.DataType], parts: Keys | None = None) -> None:
        self.keys = parts or Keys(name, types)
        self.name = name
        self.own = parts is None

    def encode(
        self, memory: Memory, columns: Sequence[pa.Array], size: int, before: int | Ints, part: Ints | None
    ) -> Ints:
        """Return the codes of `size` rows. Codes of groups whose last entry left before this batch may be reused."""
        if part is not None and not self.own:
            return part
        if not columns:
            return np.zeros(size, np.int64)
        return self.keys.encode(memory, columns, self.live(memory, before))

    def live(self, memory: Memory, clock: int | Ints) -> Bools:
        """Return for each code whether the group has an entry that leaves after `clock`."""
        last, part = memory.ints(f"{self.name}.last"), memory.ints(f"{self.name}.part")
        live: Bools = last > (clock if isinstance(clock, int) else clock[part])
        return live

    def parts(self, memory: Memory) -> Ints:
        """Return for each code the part that the group belongs to."""
        return memory.ints(f"{self.name}.part")

    def note(self, memory: Memory, code: Ints, exits: Ints, part: Ints | None, before: int | Ints) -> None:
        """Record the latest exit, and the part, of the groups of new entries."""
        live = self.live(memory, before)
        last = np.full(self.keys.size(memory), EARLIEST)
        last[: len(live)][live] = memory.ints(f"{self.name}.last")[live]
        np.maximum.at(last, code, exits)
        memory.put(f"{self.name}.last", last)
        if part is not None:
            of = np.zeros(len(last), np.int64)
            of[: len(live)] = memory.ints(f"{self.name}.part")
            of[code] = part
            memory.put(f"{self.name}.part", of)

    def trim(self, memory: Memory, now: int | Ints) -> None:
        """Drop the codes after the last one in use."""
        if not self.own:
            return
        size = self.keys.trim(memory, self.live(memory, now))
        for name in (f"{self.name}.last", f"{self.name}.part"):
            if len(memory.ints(name)) > size:
                memory.put(name, memory.ints(name)[:size])


class Parts:
    """Parts of a stream with their counts, modulo `cycle` if given. A part with count 0 is forgotten then."""

    def __init__(self, name: str, types: Sequence[pa.DataType], cycle: int | None = None) -> None:
        self.keys = Keys(name, types)
        self.name = name
        self.cycle = cycle

    def encode(self, memory: Memory, columns: Sequence[pa.Array], size: int) -> Ints:
        if not columns:
            return np.zeros(size, np.int64)
        counts = memory.ints(f"{self.name}.count")
        return self.keys.encode(memory, columns, counts > 0 if self.cycle else np.ones(len(counts), np.bool_))

    def counts(self, memory: Memory) -> Ints:
        """Return for each code the number of rows that the part has had, 0 for new codes."""
        counts = np.zeros(self.keys.size(memory), np.int64)
        kept = memory.ints(f"{self.name}.count")
        counts[: len(kept)] = kept
        return counts

    def number(self, memory: Memory, part: Ints) -> Ints:
        """Return the number of each row in its part, counted from 1, or from the count within the cycle."""
        counts = self.counts(memory)
        numbers = np.empty(len(part), np.int64)
        if len(counts) == 1:
            numbers[:] = np.arange(1, len(part) + 1) + counts[0]
            counts[0] += len(part)
        else:
            order = counted(part)
            starts, ends = bounds(firsts(part[order]))
            within = np.arange(len(part)) - np.repeat(starts, ends - starts)
            numbers[order] = within + 1 + counts[part[order]]
            counts[part[order][starts]] += ends - starts
        self.put(memory, counts)
        return numbers

    def put(self, memory: Memory, counts: Ints) -> None:
        if self.cycle:
            counts = counts % self.cycle
            counts = counts[: self.keys.trim(memory, counts > 0)]
        memory.put(f"{self.name}.count", counts)
