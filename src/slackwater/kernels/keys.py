"""Values of key columns as small numbers, all rows of a batch at once.

A key has the same code for as long as it is in use; the code of a key that is not may go to another.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slackwater.kernels.arrays import Bools, Index, Ints, joined, valid
from slackwater.kernels.state import Memory


class Keys:
    """The codes of one set of columns, kept under a name in the state."""

    def __init__(self, name: str, types: Sequence[pa.DataType]) -> None:
        self.name = name
        self.types = list(types)

    def columns(self, memory: Memory) -> list[pa.Array]:
        """The key columns by code; the rows of codes that are not in use are leftovers."""
        names = [f"{self.name}.{place}" for place in range(len(self.types))]
        return [
            pa.array([], kind) if (found := memory.column(name)) is None else found
            for name, kind in zip(names, self.types, strict=True)
        ]

    def size(self, memory: Memory) -> int:
        """How many codes there are; without key columns the one code 0."""
        return memory.number(f"{self.name}.size") if self.types else 1

    def encode(self, memory: Memory, columns: Sequence[pa.Array], in_use: Bools) -> Ints:
        """The code of each row's key. New keys take codes that are not in use, then new ones."""
        if not columns:
            return np.zeros(len(in_use), np.int64)
        known = self.columns(memory)
        size = len(known[0])
        together = [joined([old, normal(new)]) for old, new in zip(known, columns, strict=True)]
        code, first = dense(together)
        if len(first) > size:
            code = self._place(memory, together, code, first, size, in_use)
        return code[size:]

    def _place(
        self, memory: Memory, together: list[pa.Array], code: Ints, first: Index, size: int, in_use: Bools
    ) -> Ints:
        """Codes from `size` on are new: give each a place, and write its key there."""
        seen = np.zeros(size, np.bool_)
        seen[code[size:][code[size:] < size]] = True
        free = np.flatnonzero(~(in_use[:size] | seen))
        count = len(first) - size
        place = np.append(free[:count], np.arange(size, size + max(0, count - len(free))))
        after = max(size, size + count - len(free))
        source = np.arange(after)
        source[place] = first[size:]
        for number, column in enumerate(together):
            memory.put(f"{self.name}.{number}", column.take(pa.array(source)))
        memory.put(f"{self.name}.size", after)
        return np.append(np.arange(size), place)[code]

    def trim(self, memory: Memory, in_use: Bools) -> int:
        """Forget the codes after the last that is in use; says how many are left."""
        if not self.types:
            return 1
        used = np.flatnonzero(in_use)
        left = int(used[-1]) + 1 if len(used) else 0
        if left < memory.number(f"{self.name}.size"):
            for place, column in enumerate(self.columns(memory)):
                memory.put(f"{self.name}.{place}", column.slice(0, left))
            memory.put(f"{self.name}.size", left)
        return left


def normal(column: pa.Array) -> pa.Array:
    """Floats as GROUP BY compares them: one zero, one NaN."""
    if not pa.types.is_floating(column.type):
        return column
    values = column.to_numpy(zero_copy_only=False) + 0.0
    return pa.array(np.where(np.isnan(values), np.nan, values), column.type, mask=~valid(column))


def dense(columns: Sequence[pa.Array]) -> tuple[Ints, Index]:
    """Codes of distinct keys in the order of their first row, and which row that is; NULL is a key as any other."""
    code = _coded(columns[0])
    for column in columns[1:]:
        other = _coded(column)
        code = _coded(pa.array(code * (int(other.max(initial=0)) + 1) + other))
    first = np.empty(int(code.max(initial=-1)) + 1, np.intp)
    first[code[::-1]] = np.arange(len(code) - 1, -1, -1)  # the last written stays: the first row
    return code, first


def _coded(column: pa.Array) -> Ints:
    indices = column.dictionary_encode(null_encoding="encode").indices
    codes: Ints = indices.to_numpy().astype(np.int64)
    return codes


def ranked(columns: Sequence[pa.Array]) -> Ints:
    """The place of each row in the order of its columns: NULL first, NaN after every number."""
    keys = [each for column in columns for each in (pc.is_valid(column).cast(pa.int8()), _sortable(column))]
    names = [f"c{place}" for place in range(len(keys))]
    batch = pa.RecordBatch.from_arrays(keys, names=names)
    order = pc.sort_indices(batch, sort_keys=[(name, "ascending") for name in names])
    rank = np.empty(batch.num_rows, np.int64)
    rank[order.to_numpy()] = np.arange(batch.num_rows)
    return rank


def _sortable(column: pa.Array) -> pa.Array:
    """Floats as integers of the same order, for Arrow would put NaN beside NULL; booleans as 0 and 1."""
    if pa.types.is_boolean(column.type):
        return column.cast(pa.int8())
    if not pa.types.is_floating(column.type):
        return column
    bits = normal(column).cast(pa.float64()).to_numpy(zero_copy_only=False).view(np.int64)
    return pa.array(np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits), mask=~valid(column))
