"""A recorded stream as a table in order of arrival."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from slackwater.errors import InputError, nearest

TIMESTAMP = pa.timestamp("us", "UTC")
UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1}
"""Ticks in one unit of a time that is written as a number."""
AUTO = "auto"
"""The unit that puts the largest number of a column between 1973 and 5138."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Where a recording is, and which of its columns are its clocks."""

    path: str
    event: str
    arrival: str | None
    unit: str

    def table(self) -> pa.Table:
        """All rows in order of arrival, both clocks as timestamps; kept for as long as the file is the same."""
        try:
            status = Path(self.path).stat()
        except OSError as cause:
            raise InputError("SW-446", f"there is no trace {self.path}", hint="check the option path") from cause
        return _loaded(self, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4)
def _loaded(trace: Trace, modified: int, size: int) -> pa.Table:
    """`modified` and `size` tell one state of the file from another."""
    table = _reader(trace.path)(trace.path)
    for name in (trace.event, trace.arrival):
        if name is not None:
            place = _find(table, name)
            table = table.set_column(place, table.column_names[place], timestamps(table.column(place), trace.unit))
    if trace.arrival is None:
        return table.combine_chunks()
    arrival = pc.fill_null_forward(table.column(_find(table, trace.arrival)))
    return table.take(pc.sort_indices(arrival)).combine_chunks()


def timestamps(column: pa.ChunkedArray, unit: str) -> pa.ChunkedArray:
    """Numbers of a unit, texts or timestamps of any kind, as timestamps with microseconds; what is none is NULL."""
    if pa.types.is_timestamp(column.type):
        return column.cast(TIMESTAMP, safe=False)
    if pa.types.is_integer(column.type):
        return pc.multiply(column.cast(pa.int64()), UNITS[_unit(column, unit)]).cast(TIMESTAMP)
    if pa.types.is_floating(column.type):
        ticks = float(UNITS[_unit(column, unit)])
        return pc.floor(pc.multiply(column, ticks)).cast(pa.int64()).cast(TIMESTAMP)
    return pa.chunked_array([_texts(chunk) for chunk in column.chunks], TIMESTAMP)


def _unit(column: pa.ChunkedArray, unit: str) -> str:
    if unit != AUTO:
        return unit
    largest = pc.max(column).as_py() or 0
    return "s" if largest < 10**11 else "ms" if largest < 10**14 else "us"


def _texts(texts: pa.Array) -> pa.Array:
    """Dates as ISO 8601 writes them, in UTC where they name no zone; what is no date must not spoil the others."""
    for kind in (TIMESTAMP, pa.timestamp("us")):
        try:
            return texts.cast(kind).cast(TIMESTAMP)
        except pa.ArrowInvalid:
            continue
    parsed = pd.to_datetime(texts.to_pandas(), format="ISO8601", utc=True, errors="coerce")
    return pa.array(parsed, TIMESTAMP, from_pandas=True)


def _reader(path: str) -> Callable[[str], pa.Table]:
    kinds: dict[str, Callable[[str], pa.Table]] = {
        ".csv": pyarrow.csv.read_csv,
        ".parquet": pyarrow.parquet.read_table,
        ".json": _read_json,
        ".jsonl": _read_json,
        ".ndjson": _read_json,
    }
    suffix = Path(path.removesuffix(".gz")).suffix.lower()
    if suffix not in kinds:
        raise InputError(
            "SW-447",
            f"{path} is not a trace that can be read",
            expected="a file that ends with " + ", ".join(kinds) + ", perhaps gzipped",
        )
    return kinds[suffix]


def _read_json(path: str) -> pa.Table:
    with pa.input_stream(path, compression="detect") as stream:
        return pyarrow.json.read_json(stream)


def _find(table: pa.Table, name: str) -> int:
    found = [place for place, each in enumerate(table.column_names) if each.lower() == name.lower()]
    if not found:
        raise InputError("SW-445", f"the trace has no column '{name}'", hint=nearest(name, table.column_names))
    return found[0]
