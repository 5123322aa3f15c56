"""Rows on their way to and from the operator, as Arrow in binary columns.

One row of Spark's carries all rows of a bucket and partition: the shuffle and the transport to Python see a few large
values instead of many small ones, and no column changes its type on the way (pandas has no integers with NULLs).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from slackwater.engine.changelog.log import BLOB
from slackwater.engine.stages import BATCH, PLACE

BUCKET = "__bucket"
BUCKETS = (12, 6, 5, 1, 25, 15, 2, 0)
"""The keys of the buckets. Their number is part of every checkpoint, whatever machine goes on with it; these values are
hashed by Spark to 8 different partitions of 8, and so to equal shares of 4, 2 and 1."""
BATCH_ID = "streaming.sql.batchId"
"""Under which Spark tells its tasks which batch they work for."""
SCHEMA = "bucket int, input string, part int, piece int, rows long, body binary"
ARROW = pa.schema(
    [
        ("bucket", pa.int32()),
        ("input", pa.string()),
        ("part", pa.int32()),
        ("piece", pa.int32()),
        ("rows", pa.int64()),
        ("body", pa.binary()),
    ]
)
ROWS_PER_PIECE = 1 << 19
"""A binary value ends at 2 GB; so many rows are far below that, and few pieces."""
Mapped = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def to_blobs(name: str, buckets: Sequence[int], *, placed: bool = False) -> Mapped:
    """For `mapInArrow`: rows with a column BUCKET become blobs, a few for each bucket, in the order of the rows.

    Every bucket gets one, if only of no rows, so that it knows of every punctuation from the first batch on. `placed`
    rows have also the batch and their place in it, which holds for all buckets together.
    """

    def mapped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        part = context.partitionId() if context is not None else 0
        before = 0
        if part == 0:
            yield _blobs(name, part, -1, ((bucket, None) for bucket in buckets))
        for piece, rows in enumerate(gathered(batches)):
            own = with_places(rows, _batch(context), part, before) if placed else rows
            before += rows.num_rows
            yield _blobs(name, part, piece, by_bucket(own))

    return mapped


def _blobs(name: str, part: int, piece: int, own: Iterable[tuple[int, pa.RecordBatch | None]]) -> pa.RecordBatch:
    made = [
        (bucket, name, part, piece, 0, b"") if rows is None else (bucket, name, part, piece, rows.num_rows, ipc(rows))
        for bucket, rows in own
    ]
    return pa.RecordBatch.from_pylist([dict(zip(ARROW.names, each, strict=True)) for each in made], ARROW)


def _batch(context: TaskContext | None) -> int:
    told = context.getLocalProperty(BATCH_ID) if context is not None else None
    return int(told or 0)


def with_places(rows: pa.RecordBatch, batch: int, part: int, before: int) -> pa.RecordBatch:
    """Rows with the batch and their place in it: by partition, then as they come."""
    place = (part << 40) + before + np.arange(rows.num_rows)
    placed = rows.append_column(BATCH, pa.array(np.full(rows.num_rows, batch)))
    return placed.append_column(PLACE, pa.array(place))


def from_blobs(schema: pa.Schema) -> Mapped:
    """For `mapInArrow`: the rows of every blob, in batches of that schema."""

    def mapped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for body in batch.column("body"):
                yield from (rows.select(schema.names).cast(schema) for rows in read(body.as_buffer()))

    return mapped


def structs_of(schema: pa.Schema) -> Mapped:
    """For `mapInArrow`: the rows of every blob in the column that its output names; the other columns are NULL."""

    def mapped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        numbers = count()
        for batch in batches:
            for name, body in zip(batch.column("output").to_pylist(), batch.column("body"), strict=True):
                number = next(numbers)
                yield from (_tagged(name, _numbered(rows, number), schema) for rows in read(body.as_buffer()))

    return mapped


def _numbered(rows: pa.RecordBatch, number: int) -> pa.RecordBatch:
    """Rows of a changelog with the number of their blob: the numbers of their tuples count within it."""
    place = rows.schema.get_field_index(BLOB)
    return rows if place < 0 else rows.set_column(place, BLOB, pa.array(np.full(rows.num_rows, number)))


def _tagged(name: str, rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    own = pa.StructArray.from_arrays(rows.columns, names=rows.schema.names).cast(schema.field(name).type)
    columns = [own if field.name == name else pa.nulls(rows.num_rows, field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches put together to large ones."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= ROWS_PER_PIECE:
            yield pa.concat_batches(waiting)
            waiting = []
    if sum(each.num_rows for each in waiting):
        yield pa.concat_batches(waiting)


def by_bucket(rows: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows of each bucket, in their order."""
    own = rows.drop_columns([BUCKET])
    buckets = rows.column(BUCKET).to_numpy()
    for bucket in np.unique(buckets).tolist():
        mask = buckets == bucket
        yield bucket, own if mask.all() else pc.take(own, pa.array(np.flatnonzero(mask)))


def ipc(rows: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_batch(rows)
    body: bytes = sink.getvalue().to_pybytes()
    return body


def read(body: bytes | pa.Buffer) -> list[pa.RecordBatch]:
    return list(pa.ipc.open_stream(body))


def joined(bodies: Sequence[bytes]) -> pa.RecordBatch:
    """The rows of several blobs, one after the other."""
    return pa.concat_batches([batch for body in bodies for batch in read(body)])
