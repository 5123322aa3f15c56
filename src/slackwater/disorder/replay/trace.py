"""A recorded stream as a table in order of arrival."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from slackwater.errors import InputError, nearest

TIMESTAMP = pa.timestamp("us", "UTC")
UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1}
"""Microseconds per unit of a time that is written as a number."""
RAW = "__slackwater_raw"
"""The column with the text of a malformed line; NULL for other rows."""
State: TypeAlias = tuple[str, int, int]
"""A file, its modification time and its size, which together identify one version of the file."""
AUTO = "auto"
"""Choose the unit that puts the largest number of a column between the years 1973 and 5138."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The place of a recording (a file or a folder of files), and the columns with its clocks.

    A line of a CSV file with too few or too many values is an error. If lines may be `set_aside`, such lines come last,
    as text only.
    """

    path: str
    event: str
    arrival: str | None
    unit: str
    set_aside: bool = False

    def table(self) -> pa.Table:
        """Return all rows in order of arrival, with both clocks as timestamps. Cached until the files change."""
        try:
            states = tuple(_states(Path(self.path)))
        except OSError as cause:
            raise InputError("SW-446", f"there is no trace {self.path}", hint="check the option path") from cause
        return _loaded(self, states)


def _states(path: Path) -> Iterator[State]:
    """Return the file, or all files of a folder that Spark would read.

    Empty files and names that begin with _ or . are skipped.
    """
    if not path.is_dir():
        yield str(path), path.stat().st_mtime_ns, path.stat().st_size
        return
    for each in sorted(path.rglob("*")):
        hidden = any(part.startswith(("_", ".")) for part in each.relative_to(path).parts)
        if not hidden and each.is_file() and (status := each.stat()).st_size:
            yield str(each), status.st_mtime_ns, status.st_size


@lru_cache(maxsize=4)
def _loaded(trace: Trace, files: tuple[State, ...]) -> pa.Table:
    tables = [_reader(trace, path)(path) for path, *_ in files]
    if not tables:
        raise InputError("SW-446", f"there are no files in {trace.path}", hint="give a folder with data, or a file")
    table = tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="permissive")
    for name in (trace.event, trace.arrival):
        if name is not None:
            place = place_of(table, name)
            table = table.set_column(place, table.column_names[place], timestamps(table.column(place), trace.unit))
    if trace.arrival is None:
        return table.combine_chunks()
    arrival = pc.fill_null_forward(table.column(place_of(table, trace.arrival)))
    return table.take(pc.sort_indices(arrival)).combine_chunks()


def timestamps(column: pa.ChunkedArray, unit: str) -> pa.ChunkedArray:
    """Return numbers of a unit, texts or timestamps as timestamps in microseconds; NULL for unreadable values."""
    if pa.types.is_timestamp(column.type):
        return column.cast(TIMESTAMP, safe=False)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return _ticks(column, _unit(column, unit)).cast(TIMESTAMP)
    if pa.types.is_date(column.type):
        return column.cast(pa.timestamp("us")).cast(TIMESTAMP)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type) or pa.types.is_null(column.type)):
        raise InputError(
            "SW-461",
            f"the trace has values of type {column.type} where times are wanted",
            expected="timestamps, dates, ISO 8601 texts, or numbers of a unit",
            hint="name the column that has the times",
        )
    return pa.chunked_array([_texts(chunk, unit) for chunk in column.chunks], TIMESTAMP)


def _ticks(column: pa.ChunkedArray, unit: str) -> pa.ChunkedArray:
    """Return numbers of a unit as microseconds. Raise if they overflow, as nanoseconds read as `ms` do."""
    try:
        if pa.types.is_integer(column.type):
            return pc.multiply_checked(column.cast(pa.int64()), UNITS[unit])
        return pc.floor(pc.multiply(column, float(UNITS[unit]))).cast(pa.int64())
    except pa.ArrowInvalid as cause:
        limits = pc.min_max(column)
        raise InputError(
            "SW-460",
            f"the trace has times from {limits['min']} to {limits['max']}, which are no times in '{unit}'",
            expected="times of the option unit: " + ", ".join(UNITS),
            hint="state the unit that they have; of nanoseconds make microseconds",
        ) from cause


def _unit(column: pa.ChunkedArray, unit: str) -> str:
    if unit != AUTO:
        return unit
    largest = pc.max(column).as_py() or 0
    return "s" if largest < 10**11 else "ms" if largest < 10**14 else "us"


def _texts(texts: pa.Array, unit: str) -> pa.Array:
    """Return dates in ISO 8601, in UTC if they name no zone. A text that is no date becomes NULL.

    If the texts hold more numbers than dates, the numbers are read in the unit and the dates become NULL.
    """
    for kind in (TIMESTAMP, pa.timestamp("us")):
        try:
            return texts.cast(kind).cast(TIMESTAMP)
        except pa.ArrowInvalid:
            continue
    given = texts.to_pandas()
    numbers = pd.to_numeric(given, errors="coerce")
    parsed = pd.to_datetime(given, format="ISO8601", utc=True, errors="coerce")
    if numbers.notna().sum() > parsed[numbers.isna()].notna().sum():
        return timestamps(pa.chunked_array([pa.array(numbers, pa.float64(), from_pandas=True)]), unit).combine_chunks()
    return pa.array(parsed, TIMESTAMP, from_pandas=True)


def _reader(trace: Trace, path: str) -> Callable[[str], pa.Table]:
    kinds: dict[str, Callable[[str], pa.Table]] = {
        ".csv": _read_lines if trace.set_aside else pyarrow.csv.read_csv,
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


def _read_lines(path: str) -> pa.Table:
    """Read a CSV file.

    Lines with too few or too many values come last, each as its text only; missing values are NULL.
    """
    aside: list[str] = []

    def set_aside(row: pyarrow.csv.InvalidRow) -> str:
        aside.append(row.text)
        return "skip"

    parsing = pyarrow.csv.ParseOptions(invalid_row_handler=set_aside)
    converting = pyarrow.csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
    table = pyarrow.csv.read_csv(path, parse_options=parsing, convert_options=converting)
    return pa.concat_tables([table, pa.table({RAW: aside})], promote_options="default") if aside else table


def _read_json(path: str) -> pa.Table:
    try:
        with pa.input_stream(path, compression="detect") as stream:
            return pyarrow.json.read_json(stream)
    except pa.ArrowInvalid as cause:
        raise InputError(
            "SW-448",
            f"the trace {path} has a line that is no JSON: {cause}",
            expected="one JSON object a line",
            hint="mend the line, or read the file as a stream: USING json sets such rows aside",
        ) from cause


def place_of(table: pa.Table, name: str) -> int:
    """Return the position of the column with this name, or else of the one that differs only in case."""
    names = table.column_names
    found = [place for place, each in enumerate(names) if each == name]
    found = found or [place for place, each in enumerate(names) if each.lower() == name.lower()]
    if len(found) > 1:
        raise InputError("SW-445", f"the trace has {len(found)} columns '{name}'", hint="give each a name of its own")
    if not found:
        raise InputError("SW-445", f"the trace has no column '{name}'", hint=nearest(name, names))
    return found[0]
