"""Codes: small integers for the values of key columns, computed for all rows of a batch at once.

A key keeps its code as long as it is in use. Afterwards the code may be given to another key.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slackwater.engine.columns.arrays import (
    LATEST,
    Bools,
    Index,
    Ints,
    bounds,
    counted,
    firsts,
    ints,
    joined,
    scattered,
    valid,
)
from slackwater.engine.columns.state import Memory
from slackwater.engine.numbers.limbs import Floats


class Codes:
    """The codes of one set of key columns, and a count for each, kept under a name in the state.

    The count is that of the live tuples with the key. A code without any is unused.
    """

    counter = "living"

    def __init__(self, name: str, types: Sequence[pa.DataType]) -> None:
        self.name = name
        self.types = list(types)

    def columns(self, memory: Memory, code: Ints | None = None) -> list[pa.Array]:
        """Return the keys of codes, or the key columns indexed by code. Rows of unused codes hold old keys."""
        stored = [memory.column(f"{self.name}.{place}") for place in range(len(self.types))]
        pairs = zip(stored, self.types, strict=True)
        every = [pa.array([], kind) if column is None else column for column, kind in pairs]
        return every if code is None else [column.take(pa.array(code)) for column in every]

    def size(self, memory: Memory) -> int:
        """Return the number of codes. Without key columns there is only code 0."""
        return memory.number(f"{self.name}.size") if self.types else 1

    def counts(self, memory: Memory) -> Ints:
        """Return the count of each code, 0 for new codes."""
        return memory.sized(f"{self.name}.{self.counter}", self.size(memory))

    def encode(self, memory: Memory, columns: Sequence[pa.Array], size: int, in_use: Bools | None = None) -> Ints:
        """Return the codes of `size` rows. New keys take unused codes first, then additional ones.

        If the codes are not counted, `in_use` says which are in use.
        """
        if not columns or not size:
            return np.zeros(size, np.int64)
        columns = [normal(column) for column in columns]
        known = self.columns(memory)
        code = found(known, columns)
        unknown = np.flatnonzero(code < 0)
        if len(unknown):
            fresh = [column.take(pa.array(unknown)) for column in columns]
            number, first = dense(fresh)
            free = ~in_use if in_use is not None else self.counts(memory) == 0
            free[code[code >= 0]] = False
            place = self._place(memory, [column.take(pa.array(first)) for column in fresh], np.flatnonzero(free))
            code[unknown] = place[number]
        return code

    def _place(self, memory: Memory, fresh: list[pa.Array], free: Index) -> Ints:
        """Write new keys to free places, then to additional ones. Return the place of each."""
        known = self.columns(memory)
        size, count = len(known[0]), len(fresh[0])
        place = np.append(free[:count], np.arange(size, size + max(0, count - len(free))))
        source = np.arange(max(size, size + count - len(free)))
        source[place] = size + np.arange(count)
        for number, (old, new) in enumerate(zip(known, fresh, strict=True)):
            memory.put(f"{self.name}.{number}", joined([old, new]).take(pa.array(source)))
        memory.put(f"{self.name}.size", len(source))
        return place

    def trim(self, memory: Memory, in_use: Bools) -> int:
        """Drop the codes after the last one in use. Return how many remain."""
        if not self.types:
            return 1
        used = np.flatnonzero(in_use)
        left = int(used[-1]) + 1 if len(used) else 0
        if left < memory.number(f"{self.name}.size"):
            for place, column in enumerate(self.columns(memory)):
                memory.put(f"{self.name}.{place}", column.slice(0, left))
            memory.put(f"{self.name}.size", left)
        return left

    def settle(self, memory: Memory, counts: Ints) -> int:
        """Store the count of each code after a step. Return the number of codes that remain."""
        size = self.trim(memory, counts > 0)
        memory.put(f"{self.name}.{self.counter}", counts[:size])
        return size


class Parts(Codes):
    """The parts of a stream and the number of their rows, modulo `cycle` if given."""

    counter = "count"

    def __init__(self, name: str, types: Sequence[pa.DataType], cycle: int | None = None) -> None:
        super().__init__(name, types)
        self.cycle = cycle

    def number(self, memory: Memory, part: Ints) -> Ints:
        """Return the number of each row in its part, counted from 1, or from the count within the cycle."""
        counts = self.counts(memory)
        numbers = numbered_within(part, counts)
        counts += np.bincount(part, minlength=len(counts))
        self.settle(memory, counts % self.cycle if self.cycle else counts)
        return numbers


def numbered_within(code: Ints, before: Ints) -> Ints:
    """Return the number of each row among those of its code, from 1 on, after `before` rows of each code.

    >>> numbered_within(np.array([0, 1, 0]), np.array([4, 0])).tolist()
    [5, 1, 6]
    """
    if len(before) == 1:
        return np.arange(1, len(code) + 1) + int(before[0])
    order = counted(code)
    starts, ends = bounds(firsts(code[order]))
    first = np.repeat(starts - before[code[order[starts]]], ends - starts)
    numbers: Ints = scattered(np.arange(1, len(code) + 1) - first, order)
    return numbers


def normal(column: pa.Array) -> pa.Array:
    """Return floats as GROUP BY compares them: -0.0 becomes 0.0, and all NaNs are equal."""
    if not pa.types.is_floating(column.type):
        return column
    values = column.to_numpy(zero_copy_only=False) + 0.0
    return pa.array(np.where(np.isnan(values), np.nan, values), column.type, mask=~valid(column))


def ordinals(column: pa.Array) -> Ints:
    """Return integers that sort as the floats do, NaN last. The integers of NULLs are arbitrary.

    >>> from_ordinals(np.sort(ordinals(pa.array([np.nan, -1.5, 2.0, -np.inf])))).tolist()
    [-inf, -1.5, 2.0, nan]
    """
    bits: Ints = normal(column).cast(pa.float64()).to_numpy(zero_copy_only=False).view(np.int64)
    return np.where(bits < 0, bits ^ LATEST, bits)


def from_ordinals(numbers: Ints) -> Floats:
    """Return the floats whose ordinals these are."""
    return np.where(numbers < 0, numbers ^ LATEST, numbers).view(np.float64)


def found(known: Sequence[pa.Array], columns: Sequence[pa.Array]) -> Ints:
    """Return the place of each key among the known keys, which are distinct; -1 if it is not there."""
    size = len(known[0])
    if not size:
        return np.full(len(columns[0]), -1)
    if len(columns) == 1 and pa.types.is_integer(columns[0].type):
        quick = _found_by_value(known[0], columns[0])
        if quick is not None:
            return quick
    code = dense([joined([old, new]) for old, new in zip(known, columns, strict=True)])[0][size:]
    return np.where(code < size, code, -1)


def _found_by_value(known: pa.Array, column: pa.Array) -> Ints | None:
    """Return the result of `found` for integers by one lookup table, or None if their range is too wide for it."""
    if not len(column) or known.null_count or column.null_count:
        return None
    have, want = ints(known), ints(column)
    least, most = min(int(have.min()), int(want.min())), max(int(have.max()), int(want.max()))
    if most - least > 4 * (len(have) + len(want)) + 65_536:
        return None
    place = np.full(most - least + 1, -1)
    place[have - least] = np.arange(len(have))
    return place.take(want - least)


def dense(columns: Sequence[pa.Array]) -> tuple[Ints, Index]:
    """Return a code for each row, numbered by first appearance, and the first row of each code. NULL equals NULL."""
    code = _coded(columns[0])
    for column in columns[1:]:
        other = _coded(column)
        code = _coded(pa.array(code * (int(other.max(initial=0)) + 1) + other))
    first = np.empty(int(code.max(initial=-1)) + 1, np.intp)
    first[code[::-1]] = np.arange(len(code) - 1, -1, -1)  # the last write wins, which is the first row
    return code, first


def _coded(column: pa.Array) -> Ints:
    indices = column.dictionary_encode(null_encoding="encode").indices
    codes: Ints = indices.to_numpy().astype(np.int64)
    return codes


def ranked(columns: Sequence[pa.Array]) -> Ints:
    """Return the rank of each row in the order of the columns: NULL first, NaN after every number."""
    keys = [each for column in columns for each in (pc.is_valid(column).cast(pa.int8()), _sortable(column))]
    names = [f"c{place}" for place in range(len(keys))]
    batch = pa.RecordBatch.from_arrays(keys, names=names)
    order = pc.sort_indices(batch, sort_keys=[(name, "ascending") for name in names])
    rank = np.empty(batch.num_rows, np.int64)
    rank[order.to_numpy()] = np.arange(batch.num_rows)
    return rank


def _sortable(column: pa.Array) -> pa.Array:
    """Return floats as integers of the same order, because Arrow sorts NaN next to NULL; booleans as 0 and 1."""
    if pa.types.is_boolean(column.type):
        return column.cast(pa.int8())
    if not pa.types.is_floating(column.type):
        return column
    return pa.array(ordinals(column), mask=~valid(column))
