"""Host a controller in the query's own plan, with Spark's public API alone.

The gauge needs the JVM of a classic session. Where there is none (Spark Connect), a side branch of the plan computes
the punctuations as rows: it packs the clocks of each partition into one row, and a stateful operator with a single key
gives them to the controller, whose state is in Spark's own checkpoint.

    rows ──┬──────────────────────────────────────────────┬── watermark on the punctuations ── any operator
           └─ clocks ── one row a partition ── controller ─┘
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import count
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from slackwater.disorder.clock import EARLIEST, Times
from slackwater.errors import RunError
from slackwater.spark.relation import batch_time, quoted
from slackwater.spark.session import require_state_store
from slackwater.spark.shim.workers import require_workers
from slackwater.spark.watermark.punctuate import Controlled
from slackwater.spark.watermark.readings import read, write_listed
from slackwater.spark.watermark.spec import Spec

CLOCK = "__slackwater_clock"
"""The column that holds the punctuation in a punctuation row, and NULL in every other row."""
ACCOUNT = "slackwater.account"
"""The name, but for a number and the control, under which Spark's progress has the account after each batch."""
PARTS = "key int, part int, body binary"
PUNCTUATIONS = "punctuation long, account string"

_numbers = count(1)


def punctuation_rows(
    df: DataFrame, spec: Spec, event_time: str, arrival: str | None = None, source: str | None = None
) -> DataFrame:
    """Return a stream with one row per batch of `df`: the punctuation after the batch, in the column CLOCK."""
    require_state_store(df.sparkSession, "the controller")
    require_workers(df.sparkSession)
    event = F.unix_millis(quoted(event_time))
    columns = {"part": F.spark_partition_id(), "event": event}
    columns["arrival"] = F.unix_millis(quoted(arrival)) if arrival else batch_time(event)
    columns |= {"sender": F.xxhash64(quoted(source))} if source else {}
    clocks = df.select(*(column.alias(name) for name, column in columns.items()))
    packed = clocks.mapInArrow(pack, PARTS)
    punctuated = packed.groupBy("key").transformWithStateInPandas(Punctuator(spec.text), PUNCTUATIONS, "Append", "None")
    metric = f"{ACCOUNT}.{next(_numbers)}.{spec.control}"
    return punctuated.observe(metric, F.max("account").alias("account")).select(
        F.timestamp_millis("punctuation").alias(CLOCK)
    )


def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the clocks of a partition as one row, in the layout of the gauge's readings."""
    found = [batch for batch in batches if batch.num_rows]
    if found:
        table = pa.Table.from_batches(found)
        part = table["part"][0].as_py()
        yield pa.RecordBatch.from_pydict(
            {"key": [0], "part": [part], "body": [_reading(table)]},
            pa.schema([("key", pa.int32()), ("part", pa.int32()), ("body", pa.binary())]),
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
    """Steps one controller per query, and yields its punctuation and its account after each batch."""

    def __init__(self, spec: str) -> None:
        self.spec = spec

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.state = handle.getValueState("control", "control string, kept binary")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        spec = Spec.of(self.spec)
        controlled = Controlled(spec.policy, in_arrival_order=spec.in_arrival_order, kept=self._kept(spec))
        parts = pd.concat(list(rows), ignore_index=True).sort_values("part", kind="stable")
        account = controlled.enter(read(list(parts["body"]), in_arrival_order=spec.in_arrival_order))
        self.state.update((spec.control, controlled.kept()))
        yield pd.DataFrame({"punctuation": [account.punctuation], "account": [json.dumps(asdict(account))]})

    def _kept(self, spec: Spec) -> bytes | None:
        found = self.state.get()
        if found is None:
            return None
        if found[0] != spec.control:
            raise RunError(
                "SW-526",
                f"the checkpoint holds the state of the control '{found[0]}', not of '{spec.control}'",
                hint="resume with the policy and the columns that began it, or start with a new checkpoint",
            )
        return bytes(found[1])

    def close(self) -> None:
        """Do nothing: Spark owns the state."""
