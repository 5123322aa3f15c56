"""Hosting a kernel: its streams and their punctuations in, its outputs out, as DataFrames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count

import pyarrow as pa
from pyspark.sql import Column, DataFrame, GroupedData
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema

from slackwater.spark.control import BARRIER, CLOCK
from slackwater.spark.fused.blobs import BUCKET, SCHEMA, from_blobs, structs_of, to_blobs
from slackwater.spark.fused.kernel import LATE
from slackwater.spark.fused.operator import OUTPUT, Make, Operator, at_rest
from slackwater.spark.relation import quoted
from slackwater.spark.session import require_state_store

METRICS = "slackwater.fused"
BUCKETS = (12, 6, 5, 1, 25, 15, 2, 0)
"""The keys of the buckets. Their number is part of every checkpoint, whatever machine goes on with it; these values are
hashed by Spark to 8 different partitions of 8, and so to equal shares of 4, 2 and 1."""
_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Input:
    """A stream of a kernel: rows with the columns of that input, the punctuations of its control, and the columns
    by which it is taken apart into buckets (none: all rows in one)."""

    rows: DataFrame
    clock: Callable[[], DataFrame]
    by: tuple[str, ...] = ()


def hosted(make: Make, inputs: Mapping[str, Input], about: str, wanted: tuple[str, ...]) -> DataFrame:
    """The outputs of a kernel as blobs: one operator over all its inputs, each under the watermark of its control.

    `wanted` names the outputs whose rows are wanted; the others are only counted.
    """
    if not all(each.rows.isStreaming for each in inputs.values()):
        # The end of a stream is that of all its parts, which only one bucket knows.
        whole = [_packed(name, replace(each, by=())) for name, each in inputs.items()]
        return _grouped(whole).applyInPandas(at_rest(make, wanted), OUTPUT)
    clocked = [_clocked(_packed(name, each), each.clock()) for name, each in inputs.items()]
    require_state_store(clocked[0].sparkSession)
    out = _grouped(clocked).transformWithStateInPandas(Operator(make, about, wanted), OUTPUT, "Append", "EventTime")
    return out.observe(f"{METRICS}.{next(_numbers)}", *_counted())


def output(blobs: DataFrame, make: Make, name: str, columns: Sequence[str]) -> DataFrame:
    """These columns of the rows of one output."""
    schema = pa.schema([make().outputs[name].field(each) for each in columns])
    own = blobs.where(F.col("output") == name).select("body")
    return own.mapInArrow(from_blobs(schema), from_arrow_schema(schema))


def tagged(blobs: DataFrame, make: Make, names: Sequence[str]) -> DataFrame:
    """The rows of several outputs: `output` says which, and the column of that name has the row, the others NULL."""
    schemas = {name: make().outputs[name] for name in names}
    structs = [pa.field(name, pa.struct(list(schema))) for name, schema in schemas.items()]
    schema = pa.schema([pa.field("output", pa.string()), *structs])
    return blobs.select("output", "body").mapInArrow(structs_of(schema), from_arrow_schema(schema))


def _grouped(blobs: Iterable[DataFrame]) -> GroupedData:
    return reduce(DataFrame.unionByName, blobs).groupBy("bucket")


def _counted() -> list[Column]:
    late = F.when(F.split("output", "/")[0] == LATE, F.col("rows"))
    return [F.sum(late).alias("late"), F.sum("missed").alias("lost")]


def _packed(name: str, given: Input) -> DataFrame:
    return given.rows.withColumn(BUCKET, _bucket(given.by)).mapInArrow(to_blobs(name), SCHEMA)


def _bucket(by: tuple[str, ...]) -> Column:
    if not by:
        return F.lit(BUCKETS[0]).cast("int")
    number = F.pmod(F.xxhash64(*(F.col(quoted(name)) for name in by)), F.lit(len(BUCKETS)))
    return F.element_at(F.array(*(F.lit(each) for each in BUCKETS)), (number + 1).cast("int"))


def _clocked(blobs: DataFrame, clock: DataFrame) -> DataFrame:
    """Blobs under the watermark that the punctuations drive; see `control.clocked`."""
    waiting = blobs.withColumn(CLOCK, F.lit(None).cast("timestamp"))
    merged = waiting.unionByName(clock.select(CLOCK), allowMissingColumns=True).withWatermark(CLOCK, "0 seconds")
    return merged.where(BARRIER)
