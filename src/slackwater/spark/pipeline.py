"""Running pipelines: a plan, its streams and its sink become a query that reports what it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from slackwater.algebra.catalog import Pipeline
from slackwater.algebra.nodes import Disorder, Plan, walk
from slackwater.algebra.policies import effective
from slackwater.spark.delivery import Delivery, failed
from slackwater.spark.plan import compile_plan, scan_of
from slackwater.spark.progress import OUTPUT, Ledger, Progress
from slackwater.spark.sinks import OnRows, own_sink

POLL = 0.1
"""How often, in seconds, a running query is asked for new batches."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How to run: until all that is there is read (`available_now`), or for ever, a batch `every` so often."""

    available_now: bool = False
    every: str = "0 seconds"

    @property
    def trigger(self) -> dict[str, Any]:
        return {"availableNow": True} if self.available_now else {"processingTime": self.every}


def start(
    pipeline: Pipeline,
    streams: Mapping[str, DataFrame],
    checkpoint: Path,
    manner: Manner = Manner(),  # noqa: B008
    on_rows: OnRows | None = None,
) -> Running:
    """Starts a pipeline, or resumes it where its checkpoint says that it stood."""
    rows = compile_plan(pipeline.plan, streams).observe(OUTPUT, F.count(F.lit(1)).alias("rows"))
    delivery = _delivery(pipeline, rows, checkpoint, on_rows)
    write = _writer(rows, pipeline, delivery).outputMode("append").queryName(pipeline.name)
    query = write.option("checkpointLocation", str(checkpoint)).trigger(**manner.trigger).start()
    return Running(pipeline.name, query, Ledger(pipeline.name, dratios(pipeline.plan)), delivery)


def _delivery(pipeline: Pipeline, rows: DataFrame, checkpoint: Path, on_rows: OnRows | None) -> Delivery | None:
    """What takes the batches of a pipeline, unless that is one of Spark's own sinks."""
    sink = own_sink(pipeline, on_rows)
    if sink is None:
        return None
    sink.open(rows)
    return Delivery(pipeline.name, checkpoint, sink)


def _writer(rows: DataFrame, pipeline: Pipeline, delivery: Delivery | None) -> DataStreamWriter:
    if delivery is not None or pipeline.sink is None:
        return rows.writeStream.foreachBatch(delivery)  # type: ignore[arg-type]
    return rows.writeStream.format(pipeline.sink.format).options(**pipeline.sink.options)


def dratios(plan: Plan) -> dict[str, float | None]:
    """The share of late rows that each controlled stream of a plan may have."""
    controls = [node for node in walk(plan) if isinstance(node, Disorder)]
    return {scan_of(each).stream: effective(each.policy).dratio for each in controls}


class Running:
    """A pipeline that was started."""

    def __init__(self, name: str, query: StreamingQuery, ledger: Ledger, delivery: Delivery | None = None) -> None:
        self.name = name
        self.query = query
        self.ledger = ledger
        self.delivery = delivery

    def progress(self) -> Iterator[Progress]:
        """A record for every batch as it ends, until the query does; raises what stopped it if it failed."""
        while True:
            active = self.active
            yield from self.news()
            if not active:
                break
            self.wait(POLL)
        self.wait(POLL)

    @property
    def active(self) -> bool:
        """Whether batches may still come."""
        return bool(self.query.isActive)

    def news(self) -> list[Progress]:
        """The records of the batches that ended since the last call."""
        entered = (self.ledger.entered(event) for event in self.query.recentProgress)
        return [record for record in entered if record is not None]

    def stop(self) -> None:
        """Stops between two batches or in one; a batch that is cut short is done again on resuming."""
        self.query.stop()

    def wait(self, seconds: float) -> None:
        """Waits so long, or until the query ends; raises what stopped it if it failed."""
        try:
            self.query.awaitTermination(seconds)  # type: ignore[arg-type]  # fractions are taken, whatever the hint says
        except StreamingQueryException as cause:
            known = self.delivery.failure if self.delivery else None
            raise known or failed(self.name, _reason(cause)) from cause


def _reason(cause: StreamingQueryException) -> str:
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    return lines[0] if lines else type(cause).__name__
