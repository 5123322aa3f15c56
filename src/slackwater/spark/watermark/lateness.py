"""The late rows of a pipeline as rows: by how much each was late, and how many of its windows it missed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.lengths import TICKS_PER_MS
from slackwater.algebra.nodes import Disorder, Frequency, Plan, Project, Scan, Select, Window, inputs
from slackwater.algebra.properties.instants import Instants, instants_of
from slackwater.disorder.clock import Times
from slackwater.spark.batches import DeliveredBatch
from slackwater.spark.relation import quote


def late_rows(df: DataFrame, stream: Scan, plan: Plan, batch: DeliveredBatch) -> DataFrame:
    """Return the rows of a batch before its punctuation, with `late_by`, the punctuation and `windows_missed`."""
    time, punctuation = F.unix_micros(quote(stream.event_time)), batch.punctuation * TICKS_PER_MS
    late_by = F.lit(punctuation) - time
    mine = [extent for scan, extent in uses(plan) if scan.stream == stream.stream]
    missed = sum((_missed(time, each, batch) for each in mine), F.lit(0))
    return df.where(is_late(quote(stream.event_time), batch)).select(
        "*",
        late_by.alias("late_by"),
        F.timestamp_micros(F.lit(punctuation)).alias("punctuation"),
        missed.cast("bigint").alias("windows_missed"),
    )


def is_late(event_time: str, batch: DeliveredBatch) -> Column:
    """Return the condition that a row is late, in whole milliseconds, as for the controller and Spark's operators."""
    return F.unix_millis(event_time) < F.lit(batch.punctuation)


def uses(plan: Plan, extent: Instants | None = None) -> Iterator[tuple[Scan, Instants | None]]:
    """Return each scan of a plan with the extents through which it is read; None if rows are read by their place."""
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


def count_lost(event: Times, punctuation: int, passed: int, extents: Sequence[tuple[int, int]]) -> int:
    """Return how many rows an answer left out: they are late, and a window of them was emitted in an earlier batch.

    Times are in ms; `passed` is the watermark of the batch before. Without extents a row is lost if its place was
    released. Reading.java counts the same for the gauge.

    >>> count_lost(np.array([1, 6, 12]), 11, 10, [(5_000, 5_000)]), count_lost(np.array([1, 6, 12]), 11, 4, [])
    (2, 1)
    """
    late = event[event < punctuation]
    if not extents:
        return int(np.count_nonzero(late < passed))
    time, lost = late * TICKS_PER_MS, np.zeros(len(late), bool)
    for length, slide in extents:
        lost |= (time // slide + 1) * slide <= np.minimum(time + length, passed * TICKS_PER_MS)
    return int(np.count_nonzero(lost))


def _missed(time: Column, extent: Instants | None, batch: DeliveredBatch) -> Column:
    """Return how many extents of a row were closed in the batch before, by the boundaries that were passed then."""
    passed = F.lit(batch.before * TICKS_PER_MS)
    if extent is None or extent.window is None:
        return (time < passed).cast("bigint")
    slide = extent.every.amount
    last = F.least(time + F.lit(extent.window.amount), passed)
    return F.greatest(F.lit(0), _boundary(last, slide) - _boundary(time, slide))


def _boundary(time: Column, slide: int) -> Column:
    """Return the number of the last boundary that is not after a time; `div` alone would round towards 1970."""
    return F.floor((time - F.pmod(time, F.lit(slide))) / F.lit(slide)).cast("bigint")
