"""What the controller needs of a batch: event time, arrival time and source of every row, as packed columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import DataFrame

from slackwater.disorder.tally import Tally

Times = npt.NDArray[np.int64]

SCHEMA = (
    "key int, part int, piece int, rows long, event binary, arrival binary, source binary, "
    "silence long, beyond long, newest long"
)
ARROW = pa.schema(
    [
        ("key", pa.int32()),
        ("part", pa.int32()),
        ("piece", pa.int32()),
        ("rows", pa.int64()),
        ("event", pa.binary()),
        ("arrival", pa.binary()),
        ("source", pa.binary()),
        ("silence", pa.int64()),
        ("beyond", pa.int64()),
        ("newest", pa.int64()),
    ]
)
ROWS_PER_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Batch:
    """The rows of one micro-batch in arrival order; `rows` counts those without an event time as well.

    A tick says for how long no row has come (`silence`), or that no more will (`beyond`: how far the punctuation
    is to go beyond the newest row); `newest` is that of any stream of the query.
    """

    rows: int
    event: Times
    arrival: Times
    source: Times | None = None
    silence: int = 0
    beyond: int | None = None
    newest: int = 0


@dataclass(frozen=True, slots=True)
class Sums:
    """A batch that was added up: all rows that are behind the punctuation (`late`), before 1970 (`early`), from the
    future (`suspect`) or `on_time`, of which `arrivals` is the sum; the latest arrival; and the tally of the others."""

    late: int
    early: int
    suspect: int
    on_time: int
    arrivals: int
    clock: int
    tally: Tally | None


@dataclass(frozen=True, slots=True)
class Reading:
    """The readings of all partitions: a batch of rows, with `sums` of them where those are not listed."""

    batch: Batch
    sums: Sums | None = None


def summarise(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """For `mapInArrow`: columns event, arrival and perhaps source (all long) become a few rows of packed columns."""
    context = TaskContext.get()
    part = context.partitionId() if context is not None else 0
    for piece, table in enumerate(_pieces(batches)):
        packed = _packed(_arrived(table.filter(pc.is_valid(table["event"]))))
        row = {"key": 0, "part": part, "piece": piece, "rows": table.num_rows, **packed}
        yield pa.RecordBatch.from_pylist([row], schema=ARROW)


def own_ticks(ticks: DataFrame, stream: str) -> DataFrame:
    """What the ticks (see `Tick`) say that concern a stream."""
    return ticks.where(ticks["stream"].isNull() | (ticks["stream"] == stream)).select("silence", "beyond", "newest")


def tick_rows(ticks: DataFrame, stream: str) -> DataFrame:
    """The ticks that concern a stream, as summary rows."""
    nothing = {"key": "0", "part": "-1", "piece": "0", "rows": "0L", "event": "X''", "arrival": "X''", "source": "X''"}
    return own_ticks(ticks, stream).selectExpr(*(f"{value} AS {name}" for name, value in nothing.items()), "*")


def unpacked(frames: Iterable[pd.DataFrame], *, in_arrival_order: bool) -> Batch:
    """The micro-batch that these summary rows make up.

    With arrival times the rows are put in their order (equal ones in that of the source); without them every
    row of a batch arrived at once, and the order of the source is all that there is.
    """
    pieces = pd.concat(list(frames), ignore_index=True).sort_values(["part", "piece"])
    event, arrival, source = (_joined(pieces[name]) for name in ("event", "arrival", "source"))
    if in_arrival_order and np.any(arrival[1:] < arrival[:-1]):
        order = np.argsort(arrival, kind="stable")
        event, arrival = event[order], arrival[order]
        source = source[order] if len(source) else source
    silence, beyond, newest = (_largest(pieces[name]) for name in ("silence", "beyond", "newest"))
    given = source if len(source) else None
    return Batch(int(pieces["rows"].sum()), event, arrival, given, silence or 0, beyond, newest or 0)


def _largest(column: pd.Series) -> int | None:
    return int(column.max()) if column.notna().any() else None


def _pieces(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The input in tables of about a million rows, so that no packed column grows without bound."""
    gathered: list[pa.RecordBatch] = []
    for batch in batches:
        gathered.append(batch)
        if sum(each.num_rows for each in gathered) >= ROWS_PER_PIECE:
            yield pa.Table.from_batches(gathered)
            gathered = []
    if gathered:
        yield pa.Table.from_batches(gathered)


def _arrived(table: pa.Table) -> pa.Table:
    """A row without an arrival time counts as the latest arrival beside it."""
    arrival = table["arrival"]
    if not arrival.null_count:
        return table
    latest = pc.max(arrival)
    filled = pc.fill_null(arrival, latest) if latest.is_valid else table["event"]
    return table.set_column(table.column_names.index("arrival"), "arrival", filled)


def _packed(table: pa.Table) -> dict[str, bytes]:
    names = [name for name in ("event", "arrival", "source") if name in table.column_names]
    return {"source": b""} | {name: table[name].to_numpy().astype(np.int64, copy=False).tobytes() for name in names}


def _joined(columns: pd.Series) -> Times:
    return np.frombuffer(b"".join(columns), dtype=np.int64)
