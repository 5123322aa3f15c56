"""Run kernels as operators of Spark: pack streams into blobs, run kernels over blobs, and unpack their outputs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count

import pyarrow as pa
from pyspark.sql import Column, DataFrame, GroupedData
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructField, StructType

from slackwater.engine.plan import Compute
from slackwater.spark.operator.blobs import BUCKET, BUCKETS, SCHEMA, from_blobs, structs_of, to_blobs
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


def run_kernel(make: Make, blobs: Sequence[DataFrame], about: str, wanted: tuple[str, ...]) -> DataFrame:
    """Return the outputs of a kernel as blobs: one operator over all inputs, each under the watermark of its control.

    `about` identifies the state; `wanted` names the outputs whose rows are returned, the others are only counted. Batch
    DataFrames are flushed to the end of time, or to one tick beyond the newest time among the blobs of `pack_ends`.
    """
    if not all(each.isStreaming for each in blobs):
        return _grouped(blobs).applyInPandas(at_rest(make, wanted), OUTPUT)
    operator = Operator(make, about, wanted)
    return _grouped(blobs).transformWithStateInPandas(operator, OUTPUT, "Append", "EventTime")


def run_stages(
    makes: Sequence[Make], by: Sequence[tuple[str, ...]], name: str, given: HostInput, about: str
) -> DataFrame:
    """Return the results of the last of several kernels as blobs; `by` has the columns of each one's buckets.

    Each kernel passes its results to the next in the same batch. Spark's watermark passes through them all, so that
    each steps with the same punctuation.
    """
    blobs = _clocked_all({name: given}, placed=True)
    for number, (make, after) in enumerate(zip(makes, by[1:], strict=False)):
        blobs = [_pass_on(make, blobs, f"{about}/{number}", after)]
    return run_kernel(makes[-1], blobs, f"{about}/{len(makes) - 1}", (RESULT,))


def result_rows_by_bucket(make: Make, blobs: Sequence[DataFrame], about: str) -> DataFrame:
    """Return the results of a kernel as rows, each with its bucket, so that Spark can compute columns of them."""
    schema = pa.schema([pa.field(BUCKET, pa.int32()), *make().outputs[RESULT]])
    if blobs[0].isStreaming:
        out = _pass_on(make, blobs, about, HERE)
    else:
        out = run_kernel(make, blobs, about, (RESULT,)).withColumn("bucket", F.lit(BUCKETS[0]).cast("int"))
    return out.select("bucket", "body").mapInArrow(from_blobs(schema), from_arrow_schema(schema))


def add_columns(rows: DataFrame, names: Iterable[str], step: Compute) -> DataFrame:
    """Return rows under these names, without dots, and the columns of a step, which Spark computes of them."""
    return rows.toDF(*names).select("*", *(F.expr(item.tree[1]).alias(item.name) for item in step.items))


def pack_streams(inputs: Mapping[str, HostInput]) -> list[DataFrame]:
    """Return the rows of streams as blobs, each stream under the watermark of its control."""
    if all(each.rows.isStreaming for each in inputs.values()):
        return _clocked_all(inputs)
    # A batch DataFrame uses one bucket, because a flush must see every row.
    return [_packed(name, replace(each, by=())) for name, each in inputs.items()]


def pack_ends(ends: DataFrame | None) -> list[DataFrame]:
    """Return the newest times of the streams of a batch query as blobs; none for streaming queries."""
    return [] if ends is None else [_packed(END, HostInput(ends, None))]


def pack_again(rows: DataFrame, by: tuple[str, ...], name: str = RESULT) -> list[DataFrame]:
    """Return the rows of a kernel as blobs for the next kernel, in the bucket that each row names."""
    buckets = BUCKETS if by and rows.isStreaming else BUCKETS[:1]
    blobs = rows.mapInArrow(to_blobs(name, buckets), SCHEMA)
    if not rows.isStreaming:
        return [blobs]
    return [blobs.select("*", F.lit(None).cast("timestamp").alias(TIME, metadata={WATERMARKED: 0}))]


def count_rows(blobs: DataFrame, outputs: Sequence[str]) -> DataFrame:
    """Return the blobs as they are, and have Spark's progress tell how many rows each of these outputs has."""
    if not outputs or not blobs.isStreaming:
        return blobs
    return blobs.observe(f"{COUNTED}.{next(_numbers)}", *map(_count, outputs))


def result_rows(blobs: DataFrame, schema: pa.Schema) -> DataFrame:
    """Return the rows of a kernel's results, with the columns of a schema."""
    own = blobs.where(F.col("output") == RESULT).select("body")
    return own.mapInArrow(from_blobs(schema), from_arrow_schema(schema))


def output_structs(blobs: DataFrame, schemas: Mapping[str, pa.Schema]) -> DataFrame:
    """Return the rows of several outputs, each as a struct in the column of its output; the other columns are NULL."""
    schema = pa.schema([pa.field(name, pa.struct(list(own))) for name, own in schemas.items()])
    own = blobs.where(F.col("output").isin(*schemas)).select("output", "body")
    return own.mapInArrow(structs_of(schema), from_arrow_schema(schema))


def digest_of(*about: object) -> str:
    """Return a digest of what identifies the state of an operator; the buckets are part of it."""
    return hashlib.sha256(json.dumps([*about, BUCKETS]).encode()).hexdigest()


def _pass_on(make: Make, blobs: Sequence[DataFrame], about: str, by: tuple[str, ...]) -> DataFrame:
    """Return the results of a kernel as blobs for a next operator of the same batch, in buckets by these columns."""
    operator = Operator(make, about, (RESULT,), to=by)
    return _grouped(blobs).transformWithStateInPandas(operator, _under_watermark(HANDED), "Append", "EventTime")


def _under_watermark(schema: str) -> StructType:
    """Return a schema whose last column has the metadata by which Spark's operators know the watermark."""
    fields = StructType.fromDDL(schema).fields  # type: ignore[attr-defined]
    return StructType([*fields[:-1], StructField(fields[-1].name, fields[-1].dataType, metadata={WATERMARKED: 0})])


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
