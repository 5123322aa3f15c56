"""Pipelines over the late, rejected or refused rows of another pipeline: they are outputs of its query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.catalog import LATE, REFUSED, Pipeline, StreamDef
from slackwater.algebra.nodes import Disorder, Emit, Mode, Plan, Project, Scan, Select, walk
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import Field, Schema
from slackwater.algebra.sides import REFUSAL, is_side, side_streams
from slackwater.disorder.replay.trace import RAW
from slackwater.errors import QueryError
from slackwater.spark.batches import DeliveredBatch
from slackwater.spark.io.rejects import REASON, rejected_rows
from slackwater.spark.operator.writing import DEFAULT
from slackwater.spark.planner.fused.changes import with_refused
from slackwater.spark.planner.plan import scan_of
from slackwater.spark.relation import Relation, column_name, dataframe_of, quote
from slackwater.spark.store import Location
from slackwater.spark.watermark.accounts import account_before, control_name
from slackwater.spark.watermark.control import Reads
from slackwater.spark.watermark.lateness import is_late, late_rows


def stateless(plan: Plan, df: DataFrame) -> DataFrame:
    """Return the rows of a plan of selections and projections over `df`: nothing that needs state can stand there."""
    relation = _over(plan, df)
    found = [F.col(quote(column_name(field))) for field in relation.schema]
    return relation.df.select(*(column.alias(new) for column, new in zip(found, schema_of(plan).names, strict=True)))


def _over(plan: Plan, df: DataFrame) -> Relation:
    match plan:
        case Scan(alias=alias, fields=fields):
            schema = Schema(fields).qualify(alias)
            return Relation(df.select(*(F.col(quote(each.name)).alias(column_name(each)) for each in schema)), schema)
        case Emit(child=child, mode=Mode.FINAL, sync=False) | Disorder(child=child):
            return _over(child, df)
        case Select(child=child, condition=condition):
            relation = _over(child, df)
            return replace(relation, df=relation.df.where(relation.column(condition)))
        case Project(child=child, items=items):
            relation = _over(child, df)
            chosen = relation.df.select(*(relation.column(item.expr).alias(item.name) for item in items))
            return Relation(chosen, Schema(tuple(Field(item.name, item.expr.type) for item in items)))
        case _:
            raise QueryError(
                "SW-304",
                f"{type(plan).__name__} cannot stand over late, rejected or refused rows",
                expected="SELECT and WHERE",
                hint="write the rows to a table or to files first, and query these",
            )


def group_by_query(pipelines: Iterable[Pipeline]) -> list[tuple[Pipeline, tuple[Pipeline, ...]]]:
    """Return the pipelines that are queries of their own, each with the pipelines that read its sides."""
    given = list(pipelines)
    read = {each.name: side for each in given if (side := _side(each)) is not None}
    return [
        (each, tuple(reader for reader in given if read.get(reader.name) in _sides(each)))
        for each in given
        if each.name not in read
    ]


def _side(pipeline: Pipeline) -> str | None:
    """Return the name of the side that a pipeline reads, or None if it reads ordinary streams."""
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
    """A stream of a pipeline and the `readers` of its late and rejected rows, for whom its source is read once more."""

    pipeline: Pipeline
    control: Disorder
    readers: tuple[Pipeline, ...]

    @property
    def scan(self) -> Scan:
        return scan_of(self.control)

    @property
    def how(self) -> str:
        """Return how its rows are read, for `explain --physical`."""
        return f"'{self.scan.stream}' read once more, told by the punctuation of each batch"

    def rows(self, streams: Mapping[str, DataFrame]) -> DataFrame:
        """Return the rows that may be late or rejected.

        If a reader wants late rows, these are all rows, because the punctuation is not known yet. Otherwise they are
        the rows without an event time.
        """
        found = dataframe_of(self.scan, streams)
        hidden = [name for name in (RAW, REASON) if name in found.columns]
        rows = found.select(*(F.col(quote(field.name)) for field in self.scan.fields), *hidden)
        wants_late = any(self.is_late_to(each) for each in self.readers)
        return rows if wants_late else rows.where(F.col(quote(self.scan.event_time)).isNull())

    def batch(self, batch: DeliveredBatch, checkpoint: Location) -> DeliveredBatch:
        """Return the batch with the punctuation of this stream, since Spark logs the smallest one of all streams."""
        scan = self.scan
        if len({each.stream for each in walk(self.pipeline.plan) if isinstance(each, Scan)}) == 1:
            return batch
        control = control_name(scan.stream, scan.event_time, self.control.policy, scan.arrival, scan.source)
        return replace(batch, punctuation=account_before(checkpoint, control, batch.number).punctuation)

    def condition(self, column: str, batch: DeliveredBatch) -> Column:
        """Return the condition that the row in a column of the query is late or rejected in this batch."""
        time = f"{column}.{quote(self.scan.event_time)}"
        return F.col(column).isNotNull() & (F.col(time).isNull() | is_late(time, batch))

    def read_by(self, reader: Pipeline, rows: DataFrame, batch: DeliveredBatch) -> DataFrame:
        """Return the result of a reader over the rows of a batch."""
        names = [field.name for field in self.scan.fields]
        if self.is_late_to(reader):
            own = rows.select(*(F.col(quote(name)) for name in names))
            return stateless(reader.plan, late_rows(own, self.scan, self.pipeline.plan, batch))
        at = F.timestamp_millis(F.lit(batch.time))
        return stateless(reader.plan, rejected_rows(rows, names, self.scan.event_time, at))

    def is_late_to(self, reader: Pipeline) -> bool:
        return _sides(self.pipeline)[_side(reader) or ""].format == LATE


@dataclass(frozen=True, slots=True)
class Refusing:
    """A stream with CHANGELOG BY, with the `readers` of its refused rows, which the fused operator returns."""

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

    def condition(self, column: str, _: DeliveredBatch) -> Column:
        return F.col(column).isNotNull()

    def read_by(self, reader: Pipeline, rows: DataFrame, _: DeliveredBatch) -> DataFrame:
        """Return the result of a reader over the refused rows of a batch, with the reason of each.

        Of the rows with a known change type, only inserts are refused.
        """
        insert = F.lower(F.col(quote(self.scan.change_type or ""))) == "insert"
        why = F.when(insert, F.lit(INSERTED)).otherwise(F.lit(UNKNOWN))
        return stateless(reader.plan, rows.withColumn(REFUSAL.name, why))


Beside: TypeAlias = SideStream | Refusing


def entries(pipeline: Pipeline, readers: Sequence[Pipeline]) -> list[Beside]:
    """Return the streams whose late or rejected rows are read, then the streams whose refused rows are read."""
    sides = _sides(pipeline)
    found: dict[tuple[bool, str], list[Pipeline]] = {}
    for each in readers:
        side = sides[_side(each) or ""]
        found.setdefault((side.format == REFUSED, side.options["stream"]), []).append(each)
    return [
        (_refusing if refused else _entry)(pipeline, stream, own) for (refused, stream), own in sorted(found.items())
    ]


def beside(reader: Pipeline, pipelines: Iterable[Pipeline]) -> Beside | None:
    """Return the stream whose side a query reads, as one of the pipelines reads it; None if it reads no side."""
    found = [entries(each, readers) for each, readers in group_by_query([*pipelines, reader]) if readers]
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
