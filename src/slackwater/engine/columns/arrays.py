"""Arrays of Arrow and NumPy: conversions, Spark's types, sort orders, and searches in sorted entries.

Times and counts are int64 arrays; columns with NULLs stay in Arrow. Orders are found by counting where the range of
values allows it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from slackwater.errors import QueryError

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Index = npt.NDArray[np.intp]

EARLIEST = int(np.iinfo(np.int64).min)
"""The punctuation before the first row."""
LATEST = int(np.iinfo(np.int64).max)
"""The punctuation of a flush, and the exit of an entry that never leaves."""
NO_INTS: Ints = np.empty(0, np.int64)


def ints(column: pa.Array) -> Ints:
    """Return a column without NULLs as int64; timestamps as microseconds.

    >>> ints(pa.array([1, 2], pa.timestamp("ms"))).tolist()
    [1000, 2000]
    """
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
    array: Ints = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return array


def column(batch: pa.RecordBatch, name: str) -> Ints:
    """Return an int64 column without NULLs as an array."""
    values: Ints = batch.column(name).to_numpy()
    return values


def moments(times: Ints, known: Bools | None = None) -> pa.Array:
    """Return microseconds as a column of timestamps, NULL where `known` is false."""
    column = pa.array(times, pa.int64(), mask=None if known is None else ~known)
    return column.cast(pa.timestamp("us", "UTC"))


def valid(column: pa.Array) -> Bools:
    """Return a mask of the values that are not NULL."""
    if not column.null_count:
        return np.ones(len(column), np.bool_)
    known: Bools = column.is_valid().to_numpy(zero_copy_only=False)
    return known


def true(column: pa.Array) -> Bools:
    """Return a mask of the rows for which a condition is true, neither false nor NULL.

    >>> true(pa.array([True, None, False])).tolist()
    [True, False, False]
    """
    held: Bools = pc.fill_null(column, False).to_numpy(zero_copy_only=False)
    return held


def joined(columns: Sequence[pa.Array]) -> pa.Array:
    """Return the concatenation of columns of one type."""
    return columns[0] if len(columns) == 1 else pa.concat_arrays(columns)


def table(columns: Mapping[str, Any]) -> pa.RecordBatch:
    """Return a record batch of named columns. NumPy arrays are not copied."""
    arrays = [each if isinstance(each, pa.Array) else pa.array(each) for each in columns.values()]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def stacked(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Return the concatenation of record batches of one schema."""
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def picked(batch: pa.RecordBatch, index: Index | Ints | Bools | slice) -> pa.RecordBatch:
    """Return the rows at these places. A mask that is true throughout returns the batch itself."""
    if isinstance(index, slice):
        start, stop, _ = index.indices(batch.num_rows)
        return batch.slice(start, max(0, stop - start))
    if index.dtype == np.bool_:
        return batch if index.all() else batch.filter(pa.array(index))
    return batch.take(pa.array(index))


def scattered(values: npt.NDArray[Any], order: Index) -> npt.NDArray[Any]:
    """Return the values at the places from which `order` took them: the inverse of `values[order]`."""
    back = np.empty_like(values)
    back[order] = values
    return back


TYPES: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "interval": pa.duration("us"),
    "void": pa.null(),
}
DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")


def known_type(name: str) -> pa.DataType | None:
    """Return the Arrow type of a Spark type, or None if only evaluating the expression tells its type."""
    return None if name == "unknown" else arrow_type(name)


def type_name(kind: pa.DataType) -> str:
    """Return the Spark type of an Arrow type.

    >>> type_name(pa.decimal128(10, 2)), type_name(pa.int64())
    ('decimal(10,2)', 'bigint')
    """
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    return next(name for name, each in TYPES.items() if each == kind)


def arrow_type(name: str) -> pa.DataType:
    """Return the Arrow type of a Spark type.

    >>> arrow_type("decimal(10,2)"), arrow_type("int")
    (Decimal128Type(decimal128(10, 2)), DataType(int32))
    """
    if found := DECIMAL.fullmatch(name):
        return pa.decimal128(int(found[1]), int(found[2]))
    if name not in TYPES:
        raise QueryError(
            "SW-350",
            f"a column of type {name} cannot pass through the fused operator",
            expected=", ".join(TYPES),
            hint="leave the column out of the query, or declare it as STRING",
        )
    return TYPES[name]


FITS = 1 << 62
"""A product below this limit can be used as one int64 sort key."""


def counted(key: Ints) -> Index:
    """Return the stable sort order of keys >= 0: a radix sort of 16 bits at a time, the lowest first.

    >>> counted(np.array([2, 0, 2, 1])).tolist()
    [1, 3, 0, 2]
    """
    order = np.argsort(key.astype(np.uint16), kind="stable")  # NumPy uses a radix sort for 16 bits
    most = int(key.max(initial=0))
    for shift in range(16, most.bit_length(), 16):
        order = order[np.argsort((key >> shift).astype(np.uint16)[order], kind="stable")]
    return order


def ascending(values: Ints) -> bool:
    """Return whether no value is smaller than its predecessor."""
    return bool((values[1:] >= values[:-1]).all())


def stable(key: Ints) -> Index:
    """Return the stable sort order of any integers: by counting if their range is small, else by comparing."""
    if ascending(key):
        return np.arange(len(key))
    least, most = int(key.min()), int(key.max())
    return counted(key - least) if most - least < 1 << 48 else np.argsort(key, kind="stable")


def sorted_within(code: Ints, *values: Ints) -> Index:
    """Return the stable sort order by code >= 0, then by one value and the next.

    >>> sorted_within(np.array([1, 0, 1]), np.array([5, 2, 3])).tolist()
    [1, 2, 0]
    """
    order = stable(values[-1])
    for value in reversed(values[:-1]):
        order = order[stable(value[order])]
    return order[counted(code[order])]


def last_of_each(code: Ints, *values: Ints) -> Index:
    """Return the place of the greatest row of each code, by one value and then the next; of equal ones the last."""
    order = sorted_within(code, *values)
    _, ends = bounds(firsts(code[order]))
    return order[ends - 1]


def in_sequence(time: Ints, arrival: Ints | None, position: Ints) -> Index | None:
    """Return the sequence order: event time, then arrival, then position in the source (language.md, "Streams").

    None if the rows are already in this order. If a stable sort by event time alone gives it, no second key is sorted.
    """
    order = None if ascending(time) else stable(time)
    t, came = (time, position) if order is None else (time.take(order), position.take(order))
    behind = came[1:] >= came[:-1]
    if arrival is not None:
        arrived = arrival if order is None else arrival.take(order)
        behind = (arrived[1:] > arrived[:-1]) | ((arrived[1:] == arrived[:-1]) & behind)
    if (behind | (t[1:] > t[:-1])).all():
        return order
    return np.lexsort((position, time) if arrival is None else (position, arrival, time))


def firsts(*sorted_columns: Ints) -> Bools:
    """Return a mask of the rows at which a new run begins, in rows sorted by these columns.

    >>> firsts(np.array([1, 1, 2]), np.array([5, 5, 5])).tolist()
    [True, False, True]
    """
    begins = np.ones(len(sorted_columns[0]), np.bool_)
    if len(begins) > 1:
        begins[1:] = sorted_columns[0][1:] != sorted_columns[0][:-1]
        for column in sorted_columns[1:]:
            begins[1:] |= column[1:] != column[:-1]
    return begins


def bounds(begins: Bools) -> tuple[Index, Index]:
    """Return the start and the end of each run, from the mask of their first rows."""
    starts = np.flatnonzero(begins)
    return starts, np.append(starts, len(begins))[1:]


def positions(code: Ints, value: Ints, at_code: Ints, at: Ints) -> Index:
    """Return for each point the end of the entries with its code whose value is at most `at`.

    Entries are sorted by code, then value; points by code. The result is an index into all entries.

    >>> positions(np.array([0, 0, 1]), np.array([3, 7, 4]), np.array([0, 0, 1]), np.array([2, 7, 9])).tolist()
    [0, 2, 3]
    """
    if not len(at) or not len(code):
        return np.zeros(len(at), np.intp)
    least, most = int(at.min()), int(at.max())
    if (most - least + 3) * (int(max(code[-1], at_code.max())) + 1) >= FITS:
        marks = np.unique(at)
        value, at = np.searchsorted(marks, value), np.searchsorted(marks, at)  # ranks are smaller
        least, most = 0, len(marks)
    spread = most - least + 3
    inside = np.clip(value, least - 1, most + 1) - (least - 1)
    return np.searchsorted(code * spread + inside, at_code * spread + (at - (least - 1)), side="right")
