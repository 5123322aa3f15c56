"""Pack rows into blobs on their way to and from the operator: Arrow in binary columns.

One row of Spark holds all rows of a bucket and partition. The shuffle and the transport to Python move a few large
values instead of many small ones, and no column changes its type on the way (pandas has no integers with NULLs).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from slackwater.engine.chain import BATCH, PLACE
from slackwater.engine.changelog.log import BLOB
from slackwater.spark.batches import current_batch

BUCKET = "__bucket"
BUCKETS = (12, 6, 5, 1, 25, 15, 2, 0)
"""The keys of the buckets. Their number is part of every checkpoint and must not depend on the machine. Spark hashes
these values to 8 different partitions of 8, and so to equal shares of 4, 2 and 1."""
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
"""Rows of a blob. A larger value may exceed 2 GB, the limit of a binary value; a smaller one makes more blobs."""
Mapped = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def to_blobs(name: str, buckets: Sequence[int], *, placed: bool = False) -> Mapped:
    """Return a function for `mapInArrow` that packs rows with a column BUCKET into a few blobs for each bucket.

    Rows keep their order. Every bucket gets at least an empty blob, so that it sees every punctuation from the first
    batch on. With `placed`, rows also get the number of the batch and their place in it, among all buckets.
    """

    def mapped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        part = context.partitionId() if context is not None else 0
        before = 0
        if part == 0:
            yield _blobs(name, part, -1, ((bucket, None) for bucket in buckets))
        for piece, rows in enumerate(in_large_batches(batches)):
            own = with_places(rows, current_batch(context), part, before) if placed else rows
            before += rows.num_rows
            yield _blobs(name, part, piece, by_bucket(own))

    return mapped


def _blobs(name: str, part: int, piece: int, own: Iterable[tuple[int, pa.RecordBatch | None]]) -> pa.RecordBatch:
    """Return a batch with one blob for each bucket and its rows."""
    made = [
        (bucket, name, part, piece, 0, b"") if rows is None else (bucket, name, part, piece, rows.num_rows, ipc(rows))
        for bucket, rows in own
    ]
    return pa.RecordBatch.from_pylist([dict(zip(ARROW.names, each, strict=True)) for each in made], ARROW)


def with_places(rows: pa.RecordBatch, batch: int, part: int, before: int) -> pa.RecordBatch:
    """Return rows with the number of the batch and their place in it: by partition, then in the order of the rows."""
    place = (part << 40) + before + np.arange(rows.num_rows)
    placed = rows.append_column(BATCH, pa.array(np.full(rows.num_rows, batch)))
    return placed.append_column(PLACE, pa.array(place))


def from_blobs(schema: pa.Schema) -> Mapped:
    """Return a function for `mapInArrow` that unpacks the rows of every blob, with the columns of a schema.

    The column BUCKET, if the schema has it, is the bucket of the blob.
    """

    def mapped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for place, body in enumerate(batch.column("body")):
                for rows in read(body.as_buffer()):
                    if BUCKET in schema.names:
                        numbers = pa.repeat(batch.column("bucket")[place], rows.num_rows)
                        rows = rows.append_column(BUCKET, numbers)  # noqa: PLW2901
                    yield rows.select(schema.names).cast(schema)

    return mapped


def structs_of(schema: pa.Schema) -> Mapped:
    """Return a function for `mapInArrow` that unpacks the rows of each output as structs into the column of its name.

    The other columns are NULL.
    """

    def mapped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        numbers = count()
        for batch in batches:
            for name, body in zip(batch.column("output").to_pylist(), batch.column("body"), strict=True):
                number = next(numbers)
                yield from (
                    _in_column(name, _with_blob_number(rows, number), schema) for rows in read(body.as_buffer())
                )

    return mapped


def _with_blob_number(rows: pa.RecordBatch, number: int) -> pa.RecordBatch:
    """Return rows of a changelog with the number of their blob, because tuples are numbered within a blob."""
    place = rows.schema.get_field_index(BLOB)
    return rows if place < 0 else rows.set_column(place, BLOB, pa.array(np.full(rows.num_rows, number)))


def _in_column(name: str, rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return rows as structs in the column `name` of a schema; the other columns are NULL."""
    own = pa.StructArray.from_arrays(rows.columns, names=rows.schema.names).cast(schema.field(name).type)
    columns = [own if field.name == name else pa.nulls(rows.num_rows, field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def in_large_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Return the same rows in batches of ROWS_PER_PIECE rows or more; the last may be smaller."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= ROWS_PER_PIECE:
            yield pa.concat_batches(waiting)
            waiting = []
    if sum(each.num_rows for each in waiting):
        yield pa.concat_batches(waiting)


def by_bucket(rows: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Return the rows of each bucket, in their order."""
    own = rows.drop_columns([BUCKET])
    buckets = rows.column(BUCKET).to_numpy()
    for bucket in np.unique(buckets).tolist():
        mask = buckets == bucket
        yield bucket, own if mask.all() else pc.take(own, pa.array(np.flatnonzero(mask)))


def ipc(rows: pa.RecordBatch) -> bytes:
    """Return a batch as Arrow IPC."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_batch(rows)
    body: bytes = sink.getvalue().to_pybytes()
    return body


def read(body: bytes | pa.Buffer) -> list[pa.RecordBatch]:
    """Return the batches of a blob."""
    return list(pa.ipc.open_stream(body))


def read_all(bodies: Sequence[bytes]) -> pa.RecordBatch:
    """Return the rows of several blobs, one after the other."""
    return pa.concat_batches([batch for body in bodies for batch in read(body)])
