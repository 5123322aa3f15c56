"""Rows on their way to and from the operator, as Arrow in binary columns.

One row of Spark's carries all rows of a bucket and partition: the shuffle and the transport to Python see a few large
values instead of many small ones, and no column changes its type on the way (pandas has no integers with NULLs).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

BUCKET = "__bucket"
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


def to_blobs(name: str) -> Mapped:
    """For `mapInArrow`: rows with a column BUCKET become blobs, a few for each bucket, in the order of the rows."""

    def mapped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        part = context.partitionId() if context is not None else 0
        for piece, rows in enumerate(gathered(batches)):
            made = [
                {"bucket": bucket, "input": name, "part": part, "piece": piece, "rows": own.num_rows, "body": ipc(own)}
                for bucket, own in by_bucket(rows)
            ]
            yield pa.RecordBatch.from_pylist(made, ARROW)

    return mapped


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
        for batch in batches:
            for name, body in zip(batch.column("output").to_pylist(), batch.column("body"), strict=True):
                yield from (_tagged(name, rows, schema) for rows in read(body.as_buffer()))

    return mapped


def _tagged(name: str, rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    own = pa.StructArray.from_arrays(rows.columns, names=rows.schema.names)
    kinds = pa.repeat(pa.scalar(name), rows.num_rows)
    nothing = {field.name: pa.nulls(rows.num_rows, field.type) for field in schema}
    columns = nothing | {"output": kinds, name: own.cast(schema.field(name).type)}
    return pa.RecordBatch.from_arrays(list(columns.values()), schema=schema)


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
