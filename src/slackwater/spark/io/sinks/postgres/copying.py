"""Fast writes into a table: Arrow to CSV to COPY, without a Python loop over rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.csv
from psycopg import Connection, sql
from psycopg.sql import Composed, Identifier

PIECE = 1 << 16
"""The rows that are converted to text at a time. Larger: fewer writes, but more memory."""
WRITTEN = pyarrow.csv.WriteOptions(include_header=False, quoting_style="needed")
"""Quotes all texts, so that an empty text is not read as NULL."""


def copy(connection: Connection[Any], table: Composed | Identifier, rows: pa.Table) -> None:
    """Append rows to a table, with columns matched by name."""
    if not rows.num_rows:
        return
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT csv)").format(table, names(rows.column_names))
    with connection.cursor() as cursor, cursor.copy(statement) as stream:
        for start in range(0, rows.num_rows, PIECE):
            buffer = pa.BufferOutputStream()
            pyarrow.csv.write_csv(_in_utc(rows.slice(start, PIECE)), buffer, WRITTEN)
            stream.write(buffer.getvalue().to_pybytes())


def names(columns: Sequence[str]) -> Composed:
    """Return column names as a quoted SQL list."""
    return sql.SQL(", ").join(map(Identifier, columns))


def _in_utc(rows: pa.Table) -> pa.Table:
    """Return rows with times in UTC (the zone of the connection) but no zone: Arrow writes these 10 times faster."""
    for place, column in enumerate(rows.schema):
        if pa.types.is_timestamp(column.type) and column.type.tz:
            ticks = rows.column(place).cast(pa.timestamp("us", "UTC")).cast(pa.int64())
            rows = rows.set_column(place, column.name, ticks.cast(pa.timestamp("us")))
    return rows
