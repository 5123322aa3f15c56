"""Write a changelog after Spark has changed its columns: compress it to its net change, and apply a profile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.log import LOG_COLUMNS, SIGN, compressed, log_of
from slackwater.engine.changelog.profiles import written
from slackwater.spark.operator.blobs import Mapped


def to_profile(
    schema: pa.Schema, names: Sequence[str], profile: str, key: Sequence[str] | None, net: bool, upserts: bool
) -> Mapped:
    """Return a function for `mapInArrow` that turns rows of changelogs into structs in the columns of a profile.

    The input has the columns LOG_COLUMNS and `names`. `schema` is that of the result: the column of structs first, then
    those of other outputs, whose rows pass unchanged.
    """

    def mapped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        given = list(batches)
        if not given:
            return
        rows = pa.concat_batches(given)
        ours = rows.column(SIGN).is_valid()
        own = rows.filter(ours).select([*LOG_COLUMNS, *names])
        log, now = log_of(own)
        lines = written(compressed(log, now) if net else log, profile, key, net, upserts)
        yield _beside(pa.StructArray.from_arrays(lines.columns, names=lines.schema.names), schema)
        others = rows.filter(pa.compute.invert(ours))
        if others.num_rows:
            columns = [pa.nulls(others.num_rows, schema.field(0).type)]
            columns += [others.column(each.name).cast(each.type) for each in list(schema)[1:]]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return mapped


def _beside(structs: pa.StructArray, schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch with the column of the changelog; all other columns are NULL."""
    nulls = [pa.nulls(len(structs), each.type) for each in list(schema)[1:]]
    return pa.RecordBatch.from_arrays([structs.cast(schema.field(0).type), *nulls], schema=schema)


def profile_schema(columns: pa.Schema, profile: str, key: Sequence[str] | None, net: bool, upserts: bool) -> pa.Schema:
    """Return the columns of a changelog in a profile."""
    none = pa.RecordBatch.from_arrays(
        [*(pa.array(np.empty(0, np.int64)) for _ in LOG_COLUMNS), *(pa.array([], each.type) for each in columns)],
        names=[*LOG_COLUMNS, *columns.names],
    )
    return written(log_of(none)[0], profile, key, net, upserts).schema
