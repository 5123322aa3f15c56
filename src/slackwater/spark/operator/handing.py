"""Pack the output of a stage of a chain into blobs for the buckets of the next stage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from slackwater.engine.columns.keys import normal
from slackwater.engine.columns.rows import COLUMN
from slackwater.spark.operator.blobs import ARROW, BUCKET, BUCKETS, SCHEMA, by_bucket, ipc
from slackwater.spark.operator.kernel import RESULT, Batches

HANDED = f"{SCHEMA}, clock timestamp"
"""The columns of blobs, and a clock, the column of the watermark. It is NULL, so that no blob is late to Spark."""
HERE = ("#bucket",)
"""Stands for the columns of buckets if rows stay in their bucket, because Spark computes columns of them."""


def next_blobs(made: Batches, by: Sequence[str], part: int, *, first: bool) -> pd.DataFrame:
    """Return the results of a step as blobs for the buckets of the next stage.

    The first time, every bucket gets at least an empty blob, because it has to see the punctuation from the start.
    Rows that stay HERE, in the bucket `part`, are packed again before the next stage, which does the same.
    """
    parts = ((part, made[RESULT]),) if by == HERE else split_by_bucket(made[RESULT], by)
    rows = [(bucket, RESULT, part, 0, own.num_rows, ipc(own)) for bucket, own in parts]
    if first and by != HERE:
        rows += [(bucket, RESULT, part, 0, 0, b"") for bucket in (BUCKETS if by else BUCKETS[:1])]
    return pd.DataFrame(rows, columns=ARROW.names).assign(clock=pd.Series(dtype="datetime64[ns]"))


def split_by_bucket(rows: pa.RecordBatch, by: Sequence[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Return the rows of each bucket; without columns `by`, all rows are in one bucket."""
    if not rows.num_rows:
        return
    if not by:
        yield BUCKETS[0], rows
        return
    number = hash_rows([normal(rows.column(f"{COLUMN}{name}")) for name in by]) % len(BUCKETS)
    yield from by_bucket(rows.append_column(BUCKET, pa.array(np.array(BUCKETS, np.int32)[number])))


def hash_rows(columns: Sequence[pa.Array]) -> npt.NDArray[np.uint64]:
    """Return a hash of each row. It is the same in every process and on every machine.

    >>> hash_rows([pa.array([1, None, 1])]).tolist()[0] == hash_rows([pa.array([1])]).tolist()[0]
    True
    """
    return reduce(lambda one, two: one * np.uint64(31) + two, map(_hash_column, columns))


def _hash_column(column: pa.Array) -> npt.NDArray[np.uint64]:
    """Return a hash of each value, by its text."""
    coded = column.dictionary_encode(null_encoding="encode")
    values = coded.dictionary
    if pa.types.is_temporal(values.type):
        values = values.cast(pa.int64() if values.type.bit_width == 64 else pa.int32())
    written = pc.fill_null(values.cast(pa.string()), "NULL").to_numpy(zero_copy_only=False)
    found: npt.NDArray[np.uint64] = pd.util.hash_array(written, categorize=False)
    of: npt.NDArray[np.int64] = coded.indices.to_numpy()
    return found.take(of)
