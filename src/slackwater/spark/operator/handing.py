"""What a stage of a chain hands on to the buckets of the next, as blobs again."""

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
from slackwater.spark.operator.blobs import BUCKET, BUCKETS, SCHEMA, by_bucket, ipc
from slackwater.spark.operator.kernel import RESULT, Batches

HANDED = f"{SCHEMA}, clock timestamp"
"""Blobs again. Their clock is NULL, so that none is late to Spark, whose watermark is said to be of that column."""
COLUMNS = ("bucket", "input", "part", "piece", "rows", "body")


def handed(made: Batches, by: Sequence[str], part: int, *, first: bool) -> pd.DataFrame:
    """The results of a step, for the buckets of the next stage.

    The first time every bucket gets something, if only no rows: it has to know of the punctuation from the start.
    """
    rows: list[tuple[object, ...]] = []
    for bucket, own in split(made[RESULT], by):
        rows.append((bucket, RESULT, part, 0, own.num_rows, ipc(own)))
    if first:
        rows += [(bucket, RESULT, part, 0, 0, b"") for bucket in (BUCKETS if by else BUCKETS[:1])]
    return pd.DataFrame(rows, columns=list(COLUMNS)).assign(clock=pd.Series(dtype="datetime64[ns]"))


def split(rows: pa.RecordBatch, by: Sequence[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows of each bucket."""
    if not rows.num_rows:
        return
    if not by:
        yield BUCKETS[0], rows
        return
    number = hashed([normal(rows.column(f"{COLUMN}{name}")) for name in by]) % len(BUCKETS)
    yield from by_bucket(rows.append_column(BUCKET, pa.array(np.array(BUCKETS, np.int32)[number])))


def hashed(columns: Sequence[pa.Array]) -> npt.NDArray[np.uint64]:
    """A number for each row that depends on its values alone, the same in every process and on every machine.

    >>> hashed([pa.array([1, None, 1])]).tolist()[0] == hashed([pa.array([1])]).tolist()[0]
    True
    """
    return reduce(lambda one, two: one * np.uint64(31) + two, map(_hashed, columns))


def _hashed(column: pa.Array) -> npt.NDArray[np.uint64]:
    coded = column.dictionary_encode(null_encoding="encode")
    values = coded.dictionary
    if pa.types.is_temporal(values.type):
        values = values.cast(pa.int64() if values.type.bit_width == 64 else pa.int32())
    written = pc.fill_null(values.cast(pa.string()), "NULL").to_numpy(zero_copy_only=False)
    found: npt.NDArray[np.uint64] = pd.util.hash_array(written, categorize=False)
    of: npt.NDArray[np.int64] = coded.indices.to_numpy()
    return found.take(of)
