"""Host a kernel in Spark: DataFrames of its streams and their punctuations in, DataFrames of its outputs out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count, pairwise

import pyarrow as pa
from pyspark.sql import Column, DataFrame, GroupedData
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructField, StructType

from slackwater.spark.operator.blobs import BUCKET, BUCKETS, SCHEMA, from_blobs, from_buckets, structs_of, to_blobs
from slackwater.spark.operator.handing import HANDED, HERE
from slackwater.spark.operator.kernel import RESULT
from slackwater.spark.operator.operator import END, OUTPUT, Make, Operator, at_rest
from slackwater.spark.relation import TIME, quote
from slackwater.spark.session import require_state_store
from slackwater.spark.shim.workers import require_workers
from slackwater.spark.watermark.control import WATERMARKED, with_clock_watermark

COUNTED = "slackwater.counted"
"""The prefix, before a number, of the metric in Spark's progress that counts the rows of outputs."""
_numbers = count(1)


@dataclass(frozen=True, slots=True)
class HostInput:
    """A stream of a kernel: its rows, its punctuations if they come as rows, and the columns that define its buckets.

    Without such columns all rows are in one bucket.
    """

    rows: DataFrame
    clock: DataFrame | None
    by: tuple[str, ...] = ()


def hosted(
    make: Make,
    inputs: Mapping[str, HostInput],
    about: str,
    wanted: tuple[str, ...],
    counted: Sequence[str] = (),
    ends: DataFrame | None = None,
) -> DataFrame:
    """Return the outputs of a kernel as blobs: one operator over all inputs, each under the watermark of its control.

    `wanted` names the outputs whose rows are returned, `counted` those whose rows are counted in Spark's progress.
    Batch DataFrames are flushed to the end of time, or to one tick beyond the newest time in the rows of `ends`.
    """
    return count_rows(stepped(make, [*entered(inputs), *ended(ends)], about, wanted), counted)


def count_rows(out: DataFrame, counted: Sequence[str]) -> DataFrame:
    """Return the outputs of an operator; Spark's progress has how many rows each of those in `counted` has."""
    return out.observe(f"{COUNTED}.{next(_numbers)}", *map(_count, counted)) if counted and out.isStreaming else out


@dataclass(frozen=True, slots=True)
class Stage:
    """A kernel in a chain of operators, and the columns of its input that define its buckets."""

    make: Make
    by: tuple[str, ...]


def chained(stages: Sequence[Stage], name: str, given: HostInput, about: str) -> DataFrame:
    """Return the results of the last of several kernels as blobs.

    Each kernel passes its output to the next in the same batch. Spark's watermark passes through them all, so that each
    steps with the same punctuation.
    """
    *firsts, last = stages
    blobs = _clocked_all({name: given}, placed=True)
    for number, (stage, after) in enumerate(pairwise(stages)):
        operator = Operator(stage.make, f"{about}/{number}", (RESULT,), to=after.by)
        out = _grouped(blobs).transformWithStateInPandas(operator, under_watermark(HANDED), "Append", "EventTime")
        blobs = [out]
    operator = Operator(last.make, f"{about}/{len(firsts)}", (RESULT,))
    return _grouped(blobs).transformWithStateInPandas(operator, OUTPUT, "Append", "EventTime")


def entered(inputs: Mapping[str, HostInput]) -> list[DataFrame]:
    """Return streams packed into blobs for an operator."""
    if all(each.rows.isStreaming for each in inputs.values()):
        return _clocked_all(inputs)
    # A batch DataFrame uses one bucket, because a flush must see every row.
    return [_packed(name, replace(each, by=())) for name, each in inputs.items()]


def ended(ends: DataFrame | None) -> list[DataFrame]:
    return [] if ends is None else [_packed(END, HostInput(ends, None))]


def handed_on(make: Make, blobs: Sequence[DataFrame], about: str) -> DataFrame:
    """The results of a kernel as rows, each with its bucket, of which Spark can compute columns."""
    kernel = make()
    schema = pa.schema([pa.field(BUCKET, pa.int32()), *kernel.outputs[RESULT]])
    if blobs[0].isStreaming:
        operator = Operator(make, about, (RESULT,), to=HERE)
        out = _grouped(blobs).transformWithStateInPandas(operator, under_watermark(HANDED), "Append", "EventTime")
    else:
        out = stepped(make, blobs, about, (RESULT,)).withColumn("bucket", F.lit(BUCKETS[0]).cast("int"))
    return out.select("bucket", "body").mapInArrow(from_buckets(schema), from_arrow_schema(schema))


def taken_in(rows: DataFrame, by: tuple[str, ...], name: str = RESULT) -> list[DataFrame]:
    """Return rows packed into blobs for the next of several operators, by the bucket that each row names."""
    buckets = BUCKETS if by and rows.isStreaming else BUCKETS[:1]
    blobs = rows.mapInArrow(to_blobs(name, buckets), SCHEMA)
    if not rows.isStreaming:
        return [blobs]
    return [blobs.select("*", F.lit(None).cast("timestamp").alias(TIME, metadata={WATERMARKED: 0}))]


def stepped(make: Make, blobs: Sequence[DataFrame], about: str, wanted: tuple[str, ...]) -> DataFrame:
    """Return the outputs of a kernel as blobs."""
    if not all(each.isStreaming for each in blobs):
        return _grouped(blobs).applyInPandas(at_rest(make, wanted), OUTPUT)
    operator = Operator(make, about, wanted)
    return _grouped(blobs).transformWithStateInPandas(operator, OUTPUT, "Append", "EventTime")


def under_watermark(schema: str) -> StructType:
    """Return a schema whose last column has the metadata by which Spark's operators know the watermark."""
    fields = StructType.fromDDL(schema).fields  # type: ignore[attr-defined]
    return StructType([*fields[:-1], StructField(fields[-1].name, fields[-1].dataType, metadata={WATERMARKED: 0})])


def output(blobs: DataFrame, name: str, schema: pa.Schema, columns: Sequence[str]) -> DataFrame:
    """Return these columns of the rows of one output, whose schema is given."""
    wanted = pa.schema([schema.field(each) for each in columns])
    own = blobs.where(F.col("output") == name).select("body")
    return own.mapInArrow(from_blobs(wanted), from_arrow_schema(wanted))


def tagged(blobs: DataFrame, schemas: Mapping[str, pa.Schema]) -> DataFrame:
    """Return the rows of several outputs, each as a struct in the column of its output; the other columns are NULL."""
    schema = pa.schema([pa.field(name, pa.struct(list(own))) for name, own in schemas.items()])
    own = blobs.where(F.col("output").isin(*schemas)).select("output", "body")
    return own.mapInArrow(structs_of(schema), from_arrow_schema(schema))


def _grouped(blobs: Iterable[DataFrame]) -> GroupedData:
    return reduce(DataFrame.unionByName, blobs).groupBy("bucket")


def _count(output: str) -> Column:
    return F.sum(F.when(F.col("output") == output, F.col("rows"))).alias(output)


def _packed(name: str, given: HostInput, *, placed: bool = False) -> DataFrame:
    require_workers(given.rows.sparkSession)
    buckets = BUCKETS if given.by else BUCKETS[:1]
    return given.rows.withColumn(BUCKET, _bucket(given.by)).mapInArrow(to_blobs(name, buckets, placed=placed), SCHEMA)


def _bucket(by: tuple[str, ...]) -> Column:
    if not by:
        return F.lit(BUCKETS[0]).cast("int")
    number = F.pmod(F.xxhash64(*(F.col(quote(name)) for name in by)), F.lit(len(BUCKETS)))
    return F.element_at(F.array(*(F.lit(each) for each in BUCKETS)), (number + 1).cast("int"))


def _clocked_all(inputs: Mapping[str, HostInput], *, placed: bool = False) -> list[DataFrame]:
    blobs = [_clocked(_packed(name, each, placed=placed), each.clock) for name, each in inputs.items()]
    require_state_store(blobs[0].sparkSession)
    return blobs


def _clocked(blobs: DataFrame, clock: DataFrame | None) -> DataFrame:
    """Return blobs under the watermark of their stream's control. Their own time is NULL: none is late to Spark."""
    return with_clock_watermark(blobs.withColumn(TIME, F.lit(None).cast("timestamp")), TIME, clock)
