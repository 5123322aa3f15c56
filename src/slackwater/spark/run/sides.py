"""Pipelines that read what another one leaves beside its result: they are outputs of that other one's query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.catalog import LATE, REFUSED, Pipeline, StreamDef
from slackwater.algebra.nodes import Disorder, Scan, walk
from slackwater.algebra.sides import REFUSAL, is_side, side_streams
from slackwater.disorder.replay.trace import RAW
from slackwater.errors import QueryError
from slackwater.spark.batches import DeliveredBatch
from slackwater.spark.io.rejects import REASON, rejected
from slackwater.spark.operator.entry import stream_of
from slackwater.spark.planner.fused.changes import DEFAULT, with_refused
from slackwater.spark.planner.plan import scan_of
from slackwater.spark.relation import quoted
from slackwater.spark.run.stateless import stateless
from slackwater.spark.store import Location
from slackwater.spark.watermark.accounts import account_before, control_name
from slackwater.spark.watermark.control import Reads
from slackwater.spark.watermark.lateness import behind, late


def arranged(pipelines: Iterable[Pipeline]) -> list[tuple[Pipeline, tuple[Pipeline, ...]]]:
    """The pipelines that are queries of their own, each with those that read its sides."""
    given = list(pipelines)
    read = {each.name: side for each in given if (side := _side(each)) is not None}
    return [
        (each, tuple(reader for reader in given if read.get(reader.name) in _sides(each)))
        for each in given
        if each.name not in read
    ]


def _side(pipeline: Pipeline) -> str | None:
    """The side of another pipeline that this one reads, if it does."""
    found = {scan.stream.lower() for scan in walk(pipeline.plan) if isinstance(scan, Scan)}
    if len(found) > 1 and any(map(is_side, found)):
        raise QueryError(
            "SW-306",
            f"the pipeline '{pipeline.name}' reads late, rejected or refused rows together with other streams",
            expected="a query over one of them alone",
            hint="write these rows to a table or to files first, and read these as a stream",
        )
    return next(filter(is_side, found), None)


def _sides(pipeline: Pipeline) -> dict[str, StreamDef]:
    return {each.name.lower(): each for each in side_streams(pipeline)}


INSERTED = "an insert of a key that lives"
UNKNOWN = "no change type that is known"


@dataclass(frozen=True, slots=True)
class SideStream:
    """A stream that a pipeline reads, as those see it who read its late and rejected rows: every row, as it came."""

    pipeline: Pipeline
    control: Disorder
    readers: tuple[Pipeline, ...]

    @property
    def scan(self) -> Scan:
        return scan_of(self.control)

    @property
    def how(self) -> str:
        """How its rows are had, for `explain --physical`."""
        return f"'{self.scan.stream}' read once more, told by the punctuation of each batch"

    def rows(self, streams: Mapping[str, DataFrame]) -> DataFrame:
        """All that a side may want of the stream: rejected rows alone can be told before the punctuation is known."""
        found = stream_of(self.scan, streams)
        hidden = [name for name in (RAW, REASON) if name in found.columns]
        rows = found.select(*(F.col(quoted(field.name)) for field in self.scan.fields), *hidden)
        wants_late = any(self.is_late_to(each) for each in self.readers)
        return rows if wants_late else rows.where(F.col(quoted(self.scan.event_time)).isNull())

    def batch(self, batch: DeliveredBatch, checkpoint: Location) -> DeliveredBatch:
        """A batch with the punctuation of this stream, of which Spark logs only the smallest of all streams."""
        scan = self.scan
        if len({each.stream for each in walk(self.pipeline.plan) if isinstance(each, Scan)}) == 1:
            return batch
        control = control_name(scan.stream, scan.event_time, self.control.policy, scan.arrival, scan.source)
        return replace(batch, punctuation=account_before(checkpoint, control, batch.number).punctuation)

    def wanted(self, column: str, batch: DeliveredBatch) -> Column:
        """Which rows in a column of the query are late or rejected, now that the punctuation is known."""
        time = f"{column}.{quoted(self.scan.event_time)}"
        return F.col(column).isNotNull() & (F.col(time).isNull() | behind(time, batch))

    def read_by(self, reader: Pipeline, rows: DataFrame, batch: DeliveredBatch) -> DataFrame:
        """The result of a side's query over the rows of a batch."""
        names = [field.name for field in self.scan.fields]
        if self.is_late_to(reader):
            own = rows.select(*(F.col(quoted(name)) for name in names))
            return stateless(reader.plan, late(own, self.scan, self.pipeline.plan, batch))
        at = F.timestamp_millis(F.lit(batch.time))
        return stateless(reader.plan, rejected(rows, names, self.scan.event_time, at))

    def is_late_to(self, reader: Pipeline) -> bool:
        return _sides(self.pipeline)[_side(reader) or ""].format == LATE


@dataclass(frozen=True, slots=True)
class Refusing:
    """A stream with CHANGELOG BY, as those see it who read the rows that it refused: an output of the operator."""

    pipeline: Pipeline
    scan: Scan
    readers: tuple[Pipeline, ...]

    @property
    def how(self) -> str:
        return f"an output of the operator of '{self.pipeline.name}', which refuses them"

    def rows(self, streams: Mapping[str, DataFrame]) -> DataFrame:
        names = "result", {self.scan.stream: "row"}
        return with_refused(self.pipeline.plan, streams, Reads(), DEFAULT, *names).select("row.*")

    def batch(self, batch: DeliveredBatch, _: Location) -> DeliveredBatch:
        return batch

    def wanted(self, column: str, _: DeliveredBatch) -> Column:
        return F.col(column).isNotNull()

    def read_by(self, reader: Pipeline, rows: DataFrame, _: DeliveredBatch) -> DataFrame:
        """The result of a side's query over the refused rows of a batch: of those with a known change type, inserts."""
        insert = F.lower(F.col(quoted(self.scan.change_type or ""))) == "insert"
        why = F.when(insert, F.lit(INSERTED)).otherwise(F.lit(UNKNOWN))
        return stateless(reader.plan, rows.withColumn(REFUSAL.name, why))


Beside: TypeAlias = SideStream | Refusing


def entries(pipeline: Pipeline, readers: Sequence[Pipeline]) -> list[Beside]:
    """The streams of a pipeline of which someone reads late or rejected rows, then those of which refused ones."""
    sides = _sides(pipeline)
    found: dict[tuple[bool, str], list[Pipeline]] = {}
    for each in readers:
        side = sides[_side(each) or ""]
        found.setdefault((side.format == REFUSED, side.options["stream"]), []).append(each)
    return [
        (_refusing if refused else _entry)(pipeline, stream, own) for (refused, stream), own in sorted(found.items())
    ]


def beside(reader: Pipeline, pipelines: Iterable[Pipeline]) -> Beside | None:
    """The stream, as one of the pipelines reads it, of which a query reads one of its sides; None if of none."""
    found = [entries(each, readers) for each, readers in arranged([*pipelines, reader]) if readers]
    return found[0][0] if found else None


def _refusing(pipeline: Pipeline, stream: str, readers: Sequence[Pipeline]) -> Refusing:
    scans = (node for node in walk(pipeline.plan) if isinstance(node, Scan) and node.stream == stream)
    return Refusing(pipeline, next(scans), tuple(readers))


def _entry(pipeline: Pipeline, stream: str, readers: Sequence[Pipeline]) -> SideStream:
    controls = [node for node in walk(pipeline.plan) if isinstance(node, Disorder) and scan_of(node).stream == stream]
    found = SideStream(pipeline, controls[0], tuple(readers))
    ways = {(each.policy, scan_of(each).event_time) for each in controls}
    if len(ways) > 1 and any(map(found.is_late_to, readers)):
        raise QueryError(
            "SW-307",
            f"the pipeline '{pipeline.name}' reads '{stream}' under {len(ways)} disorder policies: a row may be"
            " late to one and not to another",
            expected="one policy",
            hint="state the same DRATIO or SLACK in every bracket, or read the late rows of another pipeline",
        )
    return found
