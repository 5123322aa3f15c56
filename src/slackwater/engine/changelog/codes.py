"""Keys as small numbers, for as long as something with the key lives; then the number may go to another key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import Ints
from slackwater.engine.columns.keys import Keys
from slackwater.engine.columns.state import Memory


class Codes:
    """The codes of one set of key columns, and how many tuples live under each."""

    def __init__(self, name: str, types: Sequence[pa.DataType]) -> None:
        self.name = name
        self.keys = Keys(name, types)

    def size(self, memory: Memory) -> int:
        """How many codes there are."""
        return self.keys.size(memory)

    def counts(self, memory: Memory) -> Ints:
        """By code, how many tuples live."""
        counts = np.zeros(self.size(memory), np.int64)
        known = memory.ints(f"{self.name}.living")[: len(counts)]
        counts[: len(known)] = known
        return counts

    def encode(self, memory: Memory, columns: Sequence[pa.Array], size: int) -> Ints:
        """The codes of `size` rows, which `columns` are the keys of."""
        if not columns or not size:
            return np.zeros(size, np.int64)
        return self.keys.encode(memory, columns, self.counts(memory) > 0)

    def columns(self, memory: Memory, code: Ints) -> list[pa.Array]:
        """The keys that codes stand for."""
        return [column.take(pa.array(code)) for column in self.keys.columns(memory)]

    def settle(self, memory: Memory, counts: Ints) -> int:
        """After a step: how many live now. Says how many codes are left."""
        size = self.keys.trim(memory, counts > 0)
        memory.put(f"{self.name}.living", counts[:size])
        return size
