"""One query, one or several outputs: what is done with each batch of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.catalog import Pipeline
from slackwater.errors import RunError, SlackwaterError
from slackwater.spark.batches import Batch, batch_of
from slackwater.spark.lateness import behind
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
    """What is read beside a pipeline's result: the stream it is of, and where the rows of each reader go."""

    entry: Entry
    column: str
    sinks: Sequence[tuple[Pipeline, Sink]]


@dataclass(slots=True)
class Delivery:
    """Called by Spark with every batch. What goes wrong is kept: Spark itself would tell it as a Java stack."""

    pipeline: str
    checkpoint: Path
    sink: Sink
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
        if not self.sides:
            yield self.sink, df
            return
        own = [(side, side.entry.batch(batch, self.checkpoint)) for side in self.sides]
        kept = kept_of(df, own).persist()
        try:
            yield self.sink, kept.where(F.col(RESULT).isNotNull()).select(f"{RESULT}.*")
            for side, at in own:
                rows = kept.where(F.col(side.column).isNotNull()).select(f"{side.column}.*")
                for reader, sink in side.sinks:
                    yield sink, side.entry.read_by(reader, rows, at)
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
    read: Sequence[tuple[Entry, DataFrame]],
) -> tuple[Delivery, DataFrame]:
    """What takes the batches of a pipeline of whose streams the sides are `read`, and the rows that it takes apart."""
    sink = batch_sink(pipeline, shows(pipeline.name))
    sink.open(result)
    sides = []
    for number, (entry, rows) in enumerate(read):
        sinks = [(each, batch_sink(each, shows(each.name))) for each in entry.readers]
        for reader, its_sink in sinks:
            its_sink.open(entry.read_by(reader, rows, Batch(0, "")))
        sides.append(Side(entry, f"{INPUT}{number}", sinks))
    parts = [(result, RESULT), *((rows, side.column) for side, (_, rows) in zip(sides, read, strict=True))]
    return Delivery(pipeline.name, checkpoint, sink, sides), tagged(parts)


def tagged(parts: Iterable[tuple[DataFrame, str]]) -> DataFrame:
    """Rows of several kinds, each in a column of its own, as one DataFrame."""
    columns = (df.select(F.struct(*(F.col(quoted(name)) for name in df.columns)).alias(tag)) for df, tag in parts)
    return reduce(partial(DataFrame.unionByName, allowMissingColumns=True), columns)


def kept_of(df: DataFrame, sides: Iterable[tuple[Side, Batch]]) -> DataFrame:
    """A batch without the rows of streams that nobody wants, now that their punctuations are known."""
    wanted = F.col(RESULT).isNotNull()
    for side, batch in sides:
        time = f"{side.column}.{quoted(side.entry.scan.event_time)}"
        wanted |= F.col(side.column).isNotNull() & (F.col(time).isNull() | behind(time, batch))
    return df.where(wanted)


def failed(pipeline: str, why: str) -> RunError:
    return RunError(
        "SW-510",
        f"the pipeline '{pipeline}' failed: {why}",
        hint="mend what it names and start again: the pipeline goes on where its checkpoint stands",
    )
