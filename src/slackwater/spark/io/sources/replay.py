"""`USING replay`: a recorded stream, cut into micro-batches the same way every time."""

from __future__ import annotations

import time
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from slackwater.algebra.lengths import Length
from slackwater.disorder.replay.trace import RAW, UNITS, Trace
from slackwater.errors import InputError, nearest
from slackwater.spark.io.sources.cuts import Cuts
from slackwater.spark.io.sources.fitting import fit_to_schema
from slackwater.spark.options import Option, OptionKind, Options, OptionTable
from slackwater.spark.shim.reader import StreamReader
from slackwater.spark.shim.schema import arrow_schema

ROWS_PER_PARTITION = 100_000
"""The rows that one task reads. Larger: fewer tasks, each of which takes longer."""
TABLE = OptionTable(
    "replay",
    (
        Option("path", OptionKind.TEXT, None, "The file or the folder of the recording.", required=True),
        Option("event", OptionKind.TEXT, None, "The column with the event time.", required=True),
        Option(
            "arrival",
            OptionKind.TEXT,
            None,
            "The column with the arrival time; without it, rows arrived as they stand.",
        ),
        Option("unit", OptionKind.CHOICE, "ms", "The unit of times that are numbers.", tuple(UNITS)),
        Option(
            "pace", OptionKind.PACE, "max", "How many times as fast as real time it is; max does not wait.", least=0.001
        ),
        Option(
            "batch", OptionKind.LENGTH, None, "The arrival time or the rows of a micro-batch; 1 second, or 10000 rows."
        ),
    ),
)


class Replay(DataSource):
    """A source that replays a trace in CSV, Parquet or JSON lines, perhaps gzipped. Options: TABLE."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self.settings = Options(TABLE, dict(options))
        path, event, arrival, unit = (self.settings[name] for name in ("path", "event", "arrival", "unit"))
        self.trace = Trace(path, event, arrival, unit, set_aside=True)

    @classmethod
    def name(cls) -> str:
        return "replay"

    def schema(self) -> StructType:
        return from_arrow_schema(self.trace.table().schema)

    def streamReader(self, schema: StructType) -> StreamReader:  # noqa: N802
        return ReplayReader(self.trace, schema, self.settings)


@dataclass
class RecordedRows(InputPartition):
    """A range of rows of the recording."""

    since: int
    until: int


class ReplayReader(StreamReader):
    """The reader of `replay`. Its offset is the number of rows that have been read."""

    def __init__(self, trace: Trace, schema: StructType, options: Options) -> None:
        self.trace = trace
        self.schema = arrow_schema(schema)
        _check_columns(self.schema, trace.table())
        self.pace: float | None = options["pace"]
        batch = options.get("batch", Length.parse("1 second" if trace.arrival else "10000 rows"))
        self.cuts = Cuts.of(_arrivals(trace), batch)
        self.asked = False
        self.began: tuple[float, int] | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        return {"rows": 0}

    def next_offset(self, start: dict[str, Any]) -> dict[str, Any]:
        since = int(start["rows"])
        end = self.cuts.after(since)
        return {"rows": end if end > since and self._is_due(since, end) else since}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self.pace = None

    def plan(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        since, until = int(start["rows"]), int(end["rows"])
        edges = range(since, until, ROWS_PER_PARTITION)
        return [RecordedRows(edge, min(edge + ROWS_PER_PARTITION, until)) for edge in edges]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, RecordedRows)  # noqa: S101
        table = self.trace.table().slice(partition.since, partition.until - partition.since)
        yield from fit_to_schema(table, self.schema).combine_chunks().to_batches()

    def _is_due(self, since: int, end: int) -> bool:
        """Return whether a batch is due. The clock starts after the first batch, when Spark has started."""
        if self.pace is None or not self.asked:
            self.asked = True
            return True
        now = time.monotonic()
        self.began = self.began or (now, self.cuts.due_at(since) if since else 0)
        passed = self.began[1] + (now - self.began[0]) * self.pace * 1_000_000
        return passed >= self.cuts.due_at(end)


def _arrivals(trace: Trace) -> np.ndarray[Any, np.dtype[np.int64]]:
    table = trace.table()
    if trace.arrival is None:
        return np.zeros(table.num_rows, np.int64)
    column = table.column([name.lower() for name in table.column_names].index(trace.arrival.lower()))
    filled = column.combine_chunks().cast(pa.int64()).fill_null(0)
    return np.asarray(filled.to_numpy(zero_copy_only=False), np.int64)


def _check_columns(schema: pa.Schema, table: pa.Table) -> None:
    known = {name.lower() for name in table.column_names}
    for name in schema.names:
        if name.lower() not in known and name != RAW:
            raise InputError("SW-445", f"the trace has no column '{name}'", hint=nearest(name, table.column_names))
