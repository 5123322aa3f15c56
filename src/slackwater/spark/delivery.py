"""One query, one or several outputs: what is done with each batch of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.catalog import Pipeline
from slackwater.errors import RunError, SlackwaterError
from slackwater.spark.batches import Batch, batch_of
from slackwater.spark.refusals import REFUSALS, reason
from slackwater.spark.relation import quoted
from slackwater.spark.sides import Entry
from slackwater.spark.sinks import OnRows, Sink, batch_sink, own_sink

Shows = Callable[[str], OnRows | None]
"""Gives, for the name of a pipeline, what shows its rows."""
RESULT = "__slackwater_result"
INPUT = "__slackwater_input"


@dataclass(frozen=True, slots=True)
class Side:
    """A pipeline that reads a side of another one, and where its rows go."""

    pipeline: Pipeline
    sink: Sink


@dataclass(slots=True)
class Delivery:
    """Called by Spark with every batch. What goes wrong is kept: Spark itself would tell it as a Java stack."""

    pipeline: str
    checkpoint: Path
    sink: Sink
    entry: Entry | None = None
    sides: Sequence[Side] = ()
    failure: SlackwaterError | None = field(default=None, init=False)

    def __call__(self, df: DataFrame, number: int) -> None:
        try:
            batch = batch_of(self.checkpoint, number)
            for sink, rows in self._parts(df, batch):
                sink.write(rows, batch)
        except SlackwaterError as failure:
            self.failure = failure
            raise
        except REFUSALS as cause:
            self.failure = failed(self.pipeline, reason(cause))
            raise

    def _parts(self, df: DataFrame, batch: Batch) -> Iterator[tuple[Sink, DataFrame]]:
        """The rows for each sink. What several read is computed once: it changes the state of the query."""
        if self.entry is None:
            yield self.sink, df
            return
        kept = kept_of(df, self.entry, batch).persist()
        try:
            yield self.sink, kept.where(F.col(RESULT).isNotNull()).select(f"{RESULT}.*")
            rows = kept.where(F.col(INPUT).isNotNull()).select(f"{INPUT}.*")
            for side in self.sides:
                yield side.sink, self.entry.read_by(side.pipeline, rows, batch)
        finally:
            kept.unpersist()


def undivided(pipeline: Pipeline, result: DataFrame, checkpoint: Path, shows: Shows) -> Delivery | None:
    """What takes the batches of a pipeline with one output, unless that is one of Spark's own sinks."""
    sink = own_sink(pipeline, shows(pipeline.name))
    if sink is None:
        return None
    sink.open(result)
    return Delivery(pipeline.name, checkpoint, sink)


def divided(
    pipeline: Pipeline,
    result: DataFrame,
    checkpoint: Path,
    shows: Shows,
    entry: Entry,
    rows: DataFrame,
    readers: Sequence[Pipeline],
) -> Delivery:
    """What takes the batches of a pipeline whose sides are read."""
    sink = batch_sink(pipeline, shows(pipeline.name))
    sink.open(result)
    sides = [Side(each, batch_sink(each, shows(each.name))) for each in readers]
    for side in sides:
        side.sink.open(entry.read_by(side.pipeline, rows, Batch(0, "")))
    return Delivery(pipeline.name, checkpoint, sink, entry, sides)


def tagged(result: DataFrame, rows: DataFrame) -> DataFrame:
    """The rows of a result, and those of its stream that a side may want, as one DataFrame."""
    one, other = (
        df.select(F.struct(*(F.col(quoted(name)) for name in df.columns)).alias(tag))
        for df, tag in ((result, RESULT), (rows, INPUT))
    )
    return one.unionByName(other, allowMissingColumns=True)


def kept_of(df: DataFrame, entry: Entry, batch: Batch) -> DataFrame:
    """A batch without the rows of the stream that nobody wants, now that the punctuation is known."""
    time = f"{INPUT}.{quoted(entry.scan.event_time)}"
    on_time = F.unix_millis(time) >= F.lit(batch.punctuation)
    return df.where(F.col(RESULT).isNotNull() | F.col(time).isNull() | ~on_time)


def failed(pipeline: str, why: str) -> RunError:
    return RunError(
        "SW-510",
        f"the pipeline '{pipeline}' failed: {why}",
        hint="mend what it names and start again: the pipeline goes on where its checkpoint stands",
    )
