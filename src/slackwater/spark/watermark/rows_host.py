"""Host the controllers of a query in its own plan, with Spark's public API alone.

The gauge needs the JVM of a classic session. Where there is none (Spark Connect), a side branch of the plan computes
the punctuations as rows: it packs the clocks of each partition into one row, and a stateful operator with a single key
gives them to the controllers of all streams, whose state is in Spark's own checkpoint.

    rows ──┬──────────────────────────────────────────────┬── watermark on the punctuations ── any operator
           └─ clocks ── one row a partition ── controllers ┘
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial, reduce
from itertools import count
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from slackwater.disorder.clock import EARLIEST, Times
from slackwater.disorder.state import pack, unpack
from slackwater.errors import RunError
from slackwater.spark.batches import current_batch
from slackwater.spark.relation import batch_time, quote
from slackwater.spark.session import require_state_store
from slackwater.spark.shim.workers import require_workers
from slackwater.spark.watermark.lateness import count_lost
from slackwater.spark.watermark.punctuate import EPOCH, Controlled
from slackwater.spark.watermark.readings import read_parts, write_listed
from slackwater.spark.watermark.spec import Spec

CLOCK = "__slackwater_clock"
"""The column that holds the punctuation in a punctuation row, and NULL in every other row."""
ACCOUNT = "slackwater.account"
"""The name, but for a number and the control, under which Spark's progress has the account after each batch."""
CLOCKS = "key int, control int, part int, body binary"
PUNCTUATIONS = "control int, punctuation long, account string"
VERSION = 1
POLICY = "spark.sql.streaming.multipleWatermarkPolicy"

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class ClockedStream:
    """A stream, the columns with its times and senders, and the specification of its controller."""

    df: DataFrame
    spec: Spec
    event_time: str
    arrival: str | None
    source: str | None


def punctuation_rows(streams: Sequence[ClockedStream]) -> dict[str, DataFrame]:
    """Return one stream per control, with one row per batch: the punctuation after the batch, in the column CLOCK.

    One operator steps all controllers of a query, since which rows are lost depends on the watermark of all streams.
    """
    session = streams[0].df.sparkSession
    require_state_store(session, "the controller")
    require_workers(session)
    packed = reduce(DataFrame.union, [_packed(number, each) for number, each in enumerate(streams)])
    smallest = str(session.conf.get(POLICY, "min")).lower() != "max"
    stepping = Punctuator([each.spec.text for each in streams], min if smallest else max)
    stepped = packed.groupBy("key").transformWithStateInPandas(stepping, PUNCTUATIONS, "Append", "None")
    return {each.spec.control: _clock(stepped, number, each.spec) for number, each in enumerate(streams)}


def _packed(number: int, stream: ClockedStream) -> DataFrame:
    event = F.unix_millis(quote(stream.event_time))
    columns = {"part": F.spark_partition_id(), "event": event}
    columns["arrival"] = F.unix_millis(quote(stream.arrival)) if stream.arrival else batch_time(event)
    columns |= {"sender": F.xxhash64(quote(stream.source))} if stream.source else {}
    clocks = stream.df.select(*(column.alias(name) for name, column in columns.items()))
    return clocks.mapInArrow(partial(pack_clocks, number), CLOCKS)


def _clock(stepped: DataFrame, number: int, spec: Spec) -> DataFrame:
    metric = f"{ACCOUNT}.{next(_numbers):09d}.{spec.control}"
    own = stepped.where(F.col("control") == number).observe(metric, F.max("account").alias("account"))
    return own.select(F.timestamp_millis("punctuation").alias(CLOCK))


def pack_clocks(number: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the clocks of a partition as one row for a control, in the layout of the gauge's readings."""
    found = [batch for batch in batches if batch.num_rows]
    if found:
        table = pa.Table.from_batches(found)
        part = table["part"][0].as_py()
        yield pa.RecordBatch.from_pydict(
            {"key": [0], "control": [number], "part": [part], "body": [_reading(table)]},
            pa.schema([("key", pa.int32()), ("control", pa.int32()), ("part", pa.int32()), ("body", pa.binary())]),
        )


def _reading(table: pa.Table) -> bytes:
    """Return the clocks of one partition in the layout of the gauge's readings, every row listed.

    Rows without an arrival time come last, stamped with the latest arrival of the partition, or with their own time.
    """
    event, arrival = _longs(table["event"]), _longs(table["arrival"])
    timed, stamped = event != EARLIEST, arrival != EARLIEST
    latest = arrival[timed & stamped].max(initial=EARLIEST)
    arrival = np.where(stamped, arrival, event if latest == EARLIEST else latest)
    order = np.concatenate([np.flatnonzero(timed & stamped), np.flatnonzero(timed & ~stamped)])
    sender = _longs(table["sender"])[order] if "sender" in table.column_names else order[:0]
    return write_listed(len(event), event[order], arrival[order], sender)


def _longs(column: pa.ChunkedArray) -> Times:
    """Return a column as int64, NULL as the value that the gauge takes for it."""
    found: Times = column.fill_null(EARLIEST).to_numpy().astype(np.int64, copy=False)
    return found


class Punctuator(StatefulProcessor):
    """Steps the controllers of a query, and yields the punctuation and the account of each after each batch.

    Spark's watermark in a batch is what `choose` (min or max) makes of the punctuations before it. The watermark of the
    batch before says which late rows are lost, and is kept with the state; if that batch had no rows, no punctuation
    has changed since.
    """

    def __init__(self, specs: Sequence[str], choose: Callable[[Sequence[int]], int] = min) -> None:
        self.specs = specs
        self.choose = choose

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.state = handle.getValueState("control", "control string, kept binary")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        specs = [Spec.of(text) for text in self.specs]
        last, before, kept = self._kept(specs)
        controls = [
            Controlled(spec.policy, in_arrival_order=spec.in_arrival_order, kept=each)
            for spec, each in zip(specs, kept, strict=True)
        ]
        batch, watermark = (
            current_batch(TaskContext.get()),
            self.choose([each.account.punctuation for each in controls]),
        )
        passed = before if batch == last + 1 else watermark
        parts = pd.concat(list(rows), ignore_index=True).sort_values(["control", "part"], kind="stable")
        for number, (spec, each) in enumerate(zip(specs, controls, strict=True)):
            bodies = list(parts["body"][parts["control"] == number])
            reading = read_parts(bodies, in_arrival_order=spec.in_arrival_order)
            lost = count_lost(reading.batch.event, each.account.punctuation, passed, spec.extents)
            each.enter(replace(reading, lost=lost))
        self._keep(specs, batch, watermark, [each.kept() for each in controls])
        yield pd.DataFrame(
            {
                "control": range(len(controls)),
                "punctuation": [each.account.punctuation for each in controls],
                "account": [json.dumps(asdict(each.account)) for each in controls],
            }
        )

    def _kept(self, specs: Sequence[Spec]) -> tuple[int, int, list[bytes | None]]:
        """Return the last batch that had rows, the watermark in it, and the state of each controller after it."""
        found, names = self.state.get(), _names(specs)
        if found is None:
            return -1, EPOCH, [None] * len(specs)
        if found[0] != names:
            raise RunError(
                "SW-526",
                f"the checkpoint holds the state of the control '{found[0]}', not of '{names}'",
                hint="resume with the policy and the columns that began it, or start with a new checkpoint",
            )
        fields = unpack(bytes(found[1]), "controls", VERSION)
        return fields.integer("batch"), fields.integer("watermark"), [fields.blob(spec.control) for spec in specs]

    def _keep(self, specs: Sequence[Spec], batch: int, watermark: int, kept: Sequence[bytes]) -> None:
        own = {spec.control: each for spec, each in zip(specs, kept, strict=True)}
        self.state.update((_names(specs), pack("controls", VERSION, {"batch": batch, "watermark": watermark, **own})))

    def close(self) -> None:
        """Do nothing: Spark owns the state."""


def _names(specs: Sequence[Spec]) -> str:
    return " ".join(spec.control for spec in specs)
