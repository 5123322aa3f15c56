"""Return the late rows of a controlled DataFrame as a stream."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from slackwater.engine.columns.state import State
from slackwater.errors import InputError
from slackwater.spark.operator.host import HostInput, pack_streams, result_rows, run_kernel
from slackwater.spark.operator.kernel import RESULT, Batches
from slackwater.spark.operator.operator import TICKS
from slackwater.spark.relation import quote
from slackwater.spark.shim.schema import arrow_schema
from slackwater.spark.watermark.control import CONTROLLED, Reads, with_clock_watermark
from slackwater.spark.watermark.gauge import with_punctuation
from slackwater.spark.watermark.hosts import GAUGE, host_of
from slackwater.spark.watermark.rows_host import ClockedStream

STREAM = "rows"
MORE = (pa.field("late_by", pa.int64()), pa.field("punctuation", pa.timestamp("us", "UTC")))


def late(df: DataFrame) -> DataFrame:
    """Return the late rows of a DataFrame that `with_disorder_control` gave, as a streaming DataFrame.

    Each row has two more columns: `late_by`, by how many microseconds it was behind, and the `punctuation` that it was
    behind. A query over these rows has a controller of its own with the same policy. It finds the same rows late as
    another query over the same source if both have the same batches.

    Parameters
    ----------
    df
        What `with_disorder_control` returned, before anything else was done with it.

    Returns
    -------
    DataFrame
        The late rows.

    Examples
    --------
    too_late = sw.late(controlled)  # of with_disorder_control, above
    """
    given = getattr(df, CONTROLLED, None)
    if not isinstance(given, ClockedStream):  # Spark Connect takes an unknown attribute for a column
        raise InputError(
            "SW-498",
            "the late rows of this DataFrame are not known",
            expected="what with_disorder_control returned over a streaming DataFrame",
            hint="call late(...) before any other operation, or write SQL and read name$late",
        )
    return _late_by_gauge(given) if host_of(df.sparkSession) == GAUGE else _late_by_watermark(given)


def _late_by_gauge(given: ClockedStream) -> DataFrame:
    """Return the late rows by the punctuation that the gauge tells to each row."""
    rows = with_punctuation(given.df, given.spec, given.event_time, given.arrival, given.source, "punctuation")
    time, mark = quote(given.event_time), F.unix_micros("punctuation")
    behind = with_clock_watermark(rows, given.event_time, None).where(
        F.unix_millis(time) < F.unix_millis("punctuation")
    )
    return behind.select(*map(quote, given.df.columns), (mark - F.unix_micros(time)).alias("late_by"), "punctuation")


def _late_by_watermark(given: ClockedStream) -> DataFrame:
    """Return the late rows by an operator that sees Spark's watermark, for sessions without the gauge."""
    reads = Reads()
    rows = reads.rows(given.df, given.event_time, given.spec.policy, arrival=given.arrival, source=given.source)
    schema = pa.schema([*arrow_schema(given.df.schema), *MORE])
    inputs = {STREAM: HostInput(rows, reads.clock(given.df), (given.event_time,))}
    make = partial(LateRows, schema, given.event_time)
    return result_rows(run_kernel(make, pack_streams(inputs), f"late {given.spec.control}", (RESULT,)), schema)


@dataclass(frozen=True, slots=True)
class LateRows:
    """A kernel without state: it yields the rows of a batch that are behind the punctuation, in whole milliseconds."""

    schema: pa.Schema
    event_time: str

    @property
    def outputs(self) -> dict[str, pa.Schema]:
        return {RESULT: self.schema}

    def take_back(self, state: State, punctuation: int) -> State:
        return state

    def step(
        self, state: State, batches: Batches, punctuation: int, *, everything: bool = False
    ) -> tuple[State, Batches]:
        rows = batches.get(STREAM, pa.RecordBatch.from_pylist([], pa.schema(list(self.schema)[: -len(MORE)])))
        rows = rows.filter(pc.less(rows[self.event_time].cast(pa.int64()), punctuation // TICKS * TICKS))
        late_by = pc.subtract(punctuation, rows[self.event_time].cast(pa.int64()))
        more = late_by, pa.array([punctuation] * rows.num_rows, pa.int64()).cast(MORE[1].type)
        return state, {RESULT: pa.RecordBatch.from_arrays([*rows.columns, *more], self.schema.names)}
