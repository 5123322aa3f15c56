"""Hosting a kernel: its streams and their punctuations in, its outputs out, as DataFrames."""

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

from slackwater.spark.operator.blobs import BUCKET, BUCKETS, SCHEMA, from_blobs, structs_of, to_blobs
from slackwater.spark.operator.handing import HANDED
from slackwater.spark.operator.kernel import RESULT
from slackwater.spark.operator.operator import END, OUTPUT, Make, Operator, at_rest
from slackwater.spark.relation import TIME, quoted
from slackwater.spark.session import require_state_store
from slackwater.spark.shim.workers import require_workers
from slackwater.spark.watermark.control import WATERMARKED, clocked

COUNTED = "slackwater.counted"
"""The name, but for a number, under which Spark's progress has how many rows outputs had."""
_numbers = count(1)


@dataclass(frozen=True, slots=True)
class HostInput:
    """A stream of a kernel: rows with the columns of that input, the punctuations that it may bring along, and the
    columns by which it is taken apart into buckets (none: all rows in one)."""

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
    """The outputs of a kernel as blobs: one operator over all its inputs, each under the watermark of its control.

    `wanted` names the outputs whose rows are wanted, `counted` those whose number is, in Spark's progress. Batch
    DataFrames are flushed to the end of time, or one tick beyond the newest time in the rows of `ends`.
    """
    if not all(each.rows.isStreaming for each in inputs.values()):
        # A batch DataFrame uses one bucket, because a flush must see every row.
        whole = [_packed(name, replace(each, by=())) for name, each in inputs.items()]
        whole += [] if ends is None else [_packed(END, HostInput(ends, None))]
        return _grouped(whole).applyInPandas(at_rest(make, wanted), OUTPUT)
    out = _grouped(_clocked_all(inputs)).transformWithStateInPandas(
        Operator(make, about, wanted), OUTPUT, "Append", "EventTime"
    )
    return out.observe(f"{COUNTED}.{next(_numbers)}", *map(_count, counted)) if counted else out


@dataclass(frozen=True, slots=True)
class Stage:
    """A kernel in a chain of operators, and the columns of what it takes in by which that is put into buckets."""

    make: Make
    by: tuple[str, ...]


def chained(stages: Sequence[Stage], name: str, given: HostInput, about: str) -> DataFrame:
    """The results of the last of several kernels as blobs. Each hands on what it yields in the same batch; Spark's
    watermark passes through them all, so that each steps with the same punctuation."""
    *firsts, last = stages
    blobs = _clocked_all({name: given}, placed=True)
    for number, (stage, after) in enumerate(pairwise(stages)):
        operator = Operator(stage.make, f"{about}/{number}", (RESULT,), to=after.by)
        out = _grouped(blobs).transformWithStateInPandas(operator, under_watermark(HANDED), "Append", "EventTime")
        blobs = [out]
    operator = Operator(last.make, f"{about}/{len(firsts)}", (RESULT,))
    return _grouped(blobs).transformWithStateInPandas(operator, OUTPUT, "Append", "EventTime")


def under_watermark(schema: str) -> StructType:
    """A schema whose last column has the mark by which Spark's operators know that there is a watermark."""
    fields = StructType.fromDDL(schema).fields  # type: ignore[attr-defined]
    return StructType([*fields[:-1], StructField(fields[-1].name, fields[-1].dataType, metadata={WATERMARKED: 0})])


def output(blobs: DataFrame, name: str, schema: pa.Schema, columns: Sequence[str]) -> DataFrame:
    """These columns of the rows of one output, whose schema is given."""
    wanted = pa.schema([schema.field(each) for each in columns])
    own = blobs.where(F.col("output") == name).select("body")
    return own.mapInArrow(from_blobs(wanted), from_arrow_schema(wanted))


def tagged(blobs: DataFrame, schemas: Mapping[str, pa.Schema]) -> DataFrame:
    """The rows of several outputs, each in the column that has the name of its output; the others are NULL."""
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
    number = F.pmod(F.xxhash64(*(F.col(quoted(name)) for name in by)), F.lit(len(BUCKETS)))
    return F.element_at(F.array(*(F.lit(each) for each in BUCKETS)), (number + 1).cast("int"))


def _clocked_all(inputs: Mapping[str, HostInput], *, placed: bool = False) -> list[DataFrame]:
    blobs = [_clocked(_packed(name, each, placed=placed), each.clock) for name, each in inputs.items()]
    require_state_store(blobs[0].sparkSession)
    return blobs


def _clocked(blobs: DataFrame, clock: DataFrame | None) -> DataFrame:
    """Blobs under the watermark of their stream's control. Their own time is NULL: none is late to Spark."""
    return clocked(blobs.withColumn(TIME, F.lit(None).cast("timestamp")), TIME, clock)
