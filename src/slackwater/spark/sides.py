"""Pipelines that read what another one leaves beside its result: they are outputs of that other one's query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.catalog import LATE, Pipeline, side_of
from slackwater.algebra.nodes import Disorder, Scan, walk
from slackwater.disorder.trace import RAW
from slackwater.errors import QueryError
from slackwater.spark.batches import Batch
from slackwater.spark.lateness import late
from slackwater.spark.rejects import REASON, rejected
from slackwater.spark.relation import quoted
from slackwater.spark.stateless import stateless


def arranged(pipelines: Iterable[Pipeline]) -> list[tuple[Pipeline, tuple[Pipeline, ...]]]:
    """The pipelines that are queries of their own, each with those that read its sides."""
    given = list(pipelines)
    sides = [(each, side) for each in given if (side := _side(each)) is not None]
    readers = {each.name for each, _ in sides}
    return [
        (each, tuple(reader for reader, (origin, _) in sides if origin.lower() == each.name.lower()))
        for each in given
        if each.name not in readers
    ]


def _side(pipeline: Pipeline) -> tuple[str, str] | None:
    found = {side_of(scan.stream) for scan in walk(pipeline.plan) if isinstance(scan, Scan)}
    if len(found) > 1 and found != {None}:
        raise QueryError(
            "SW-306",
            f"the pipeline '{pipeline.name}' reads late or rejected rows together with other streams",
            expected="a query over one of them alone",
            hint="write the late rows to a table or to files first, and read these as a stream",
        )
    return found.pop() if found else None


@dataclass(frozen=True, slots=True)
class Entry:
    """The stream that a pipeline reads, as its sides see it: every row, as it came."""

    pipeline: Pipeline
    scan: Scan
    wants_late: bool

    @classmethod
    def of(cls, pipeline: Pipeline, sides: Iterable[Pipeline]) -> Entry:
        kinds = {side[1] for each in sides if (side := _side(each)) is not None}
        controls = {node.policy for node in walk(pipeline.plan) if isinstance(node, Disorder)}
        if LATE in kinds and len(controls) > 1:
            raise QueryError(
                "SW-307",
                f"the pipeline '{pipeline.name}' reads its stream under {len(controls)} disorder policies: a row may be"
                " late to one and not to another",
                expected="one policy",
                hint="state the same DRATIO or SLACK in every bracket, or read the late rows of another pipeline",
            )
        scan = next(node for node in walk(pipeline.plan) if isinstance(node, Scan))
        return cls(pipeline, scan, LATE in kinds)

    def rows(self, streams: Mapping[str, DataFrame]) -> DataFrame:
        """All that a side may want of the stream: rejected rows alone can be told before the punctuation is known."""
        found = next(df for name, df in streams.items() if name.lower() == self.scan.stream.lower())
        hidden = [name for name in (RAW, REASON) if name in found.columns]
        rows = found.select(*(F.col(quoted(field.name)) for field in self.scan.fields), *hidden)
        return rows if self.wants_late else rows.where(F.col(quoted(self.scan.event_time)).isNull())

    def read_by(self, reader: Pipeline, rows: DataFrame, batch: Batch) -> DataFrame:
        """The result of a side's query over the rows of a batch."""
        side = _side(reader)
        names = [field.name for field in self.scan.fields]
        if side is not None and side[1] == LATE:
            own = rows.select(*(F.col(quoted(name)) for name in names))
            return stateless(reader.plan, late(own, self.scan.event_time, self.pipeline.plan, batch))
        at = F.timestamp_millis(F.lit(batch.time))
        return stateless(reader.plan, rejected(rows, names, self.scan.event_time, at))
