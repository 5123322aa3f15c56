"""The late rows of a pipeline as rows: by how much each was late, and how many of its windows it missed."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.nodes import Disorder, Frequency, Plan, Project, Scan, Select, Window, inputs
from slackwater.algebra.properties.instants import Instants, instants_of
from slackwater.spark.batches import DeliveredBatch
from slackwater.spark.relation import quoted

TICKS = 1_000
"""In a millisecond, which is what Spark's watermark counts."""


def late(df: DataFrame, stream: Scan, plan: Plan, batch: DeliveredBatch) -> DataFrame:
    """The rows of a stream, in a batch, that came behind the punctuation that acted in it."""
    time, punctuation = F.unix_micros(quoted(stream.event_time)), batch.punctuation * TICKS
    late_by = F.lit(punctuation) - time
    mine = [extent for scan, extent in uses(plan) if scan.stream == stream.stream]
    missed = sum((_missed(time, each, batch) for each in mine), F.lit(0))
    return df.where(behind(quoted(stream.event_time), batch)).select(
        "*",
        late_by.alias("late_by"),
        F.timestamp_micros(F.lit(punctuation)).alias("punctuation"),
        missed.cast("bigint").alias("windows_missed"),
    )


def behind(event_time: str, batch: DeliveredBatch) -> Column:
    """Whether a row is late: as the controller and Spark's operators reckon, in whole milliseconds."""
    return F.unix_millis(event_time) < F.lit(batch.punctuation)


def uses(plan: Plan, extent: Instants | None = None) -> Iterator[tuple[Scan, Instants | None]]:
    """How each scan of a plan is read: through the extents of a window, or, with None, by the place of its rows."""
    match plan:
        case Scan():
            yield plan, extent
        case Disorder(child=child) | Select(child=child) | Project(child=child):
            yield from uses(child, extent)
        case Window(child=child) | Frequency(child=Window(child=child)):
            found = instants_of(plan)
            at_boundaries = found.at_boundaries and found.window is not None and found.window.is_time
            yield from uses(child, found if at_boundaries else None)
        case _:
            for each in inputs(plan):
                yield from uses(each)


def extents_of(plan: Plan, stream: str) -> tuple[tuple[int, int], ...]:
    """Return RANGE and SLIDE, in ticks, of the windows through which a plan reads a stream.

    None are returned if some operator reads rows by their place: a place is gone before any window of its row is.
    """
    found = [extent for scan, extent in uses(plan) if scan.stream == stream]
    pairs = [(each.window.amount, each.every.amount) for each in found if each is not None and each.window is not None]
    return tuple(dict.fromkeys(pairs)) if len(pairs) == len(found) else ()


def _missed(time: Column, extent: Instants | None, batch: DeliveredBatch) -> Column:
    """How many boundaries of the row's extents had been passed in the batch before: its extents are gone since."""
    passed = F.lit(batch.before * TICKS)
    if extent is None or extent.window is None:
        return (time < passed).cast("bigint")
    slide = extent.every.amount
    last = F.least(time + F.lit(extent.window.amount), passed)
    return F.greatest(F.lit(0), _boundary(last, slide) - _boundary(time, slide))


def _boundary(time: Column, slide: int) -> Column:
    """The number of the last boundary that is not after a time; `div` alone would round towards 1970."""
    return F.floor((time - F.pmod(time, F.lit(slide))) / F.lit(slide)).cast("bigint")
