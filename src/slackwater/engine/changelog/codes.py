"""Codes of keys. A key keeps its code as long as a tuple with the key lives; then the code may be reused."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import Ints
from slackwater.engine.columns.keys import Keys
from slackwater.engine.columns.state import Memory


class Codes:
    """The codes of one set of key columns, and the number of live tuples of each."""

    def __init__(self, name: str, types: Sequence[pa.DataType]) -> None:
        self.name = name
        self.keys = Keys(name, types)

    def size(self, memory: Memory) -> int:
        """Return the number of codes."""
        return self.keys.size(memory)

    def counts(self, memory: Memory) -> Ints:
        """Return for each code the number of live tuples."""
        counts = np.zeros(self.size(memory), np.int64)
        known = memory.ints(f"{self.name}.living")[: len(counts)]
        counts[: len(known)] = known
        return counts

    def encode(self, memory: Memory, columns: Sequence[pa.Array], size: int) -> Ints:
        """Return the codes of `size` rows with these key columns."""
        if not columns or not size:
            return np.zeros(size, np.int64)
        return self.keys.encode(memory, columns, self.counts(memory) > 0)

    def columns(self, memory: Memory, code: Ints) -> list[pa.Array]:
        """Return the keys of codes."""
        return [column.take(pa.array(code)) for column in self.keys.columns(memory)]

    def settle(self, memory: Memory, counts: Ints) -> int:
        """Store the number of live tuples of each code after a step. Return the number of codes that remain."""
        size = self.keys.trim(memory, counts > 0)
        memory.put(f"{self.name}.living", counts[:size])
        return size
