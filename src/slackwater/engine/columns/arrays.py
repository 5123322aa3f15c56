"""Conversions between Arrow and NumPy. Times and counts are int64 arrays; columns with NULLs stay in Arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

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


def where(mask: pa.Array, column: pa.Array) -> pa.Array:
    """Return the column with NULL where the mask is not true.

    >>> where(pa.array([True, False]), pa.array([1, 2])).to_pylist()
    [1, None]
    """
    return pc.if_else(mask, column, pa.scalar(None, column.type))


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
