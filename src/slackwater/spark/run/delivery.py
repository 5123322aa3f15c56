"""Deliver each batch of a query to its sinks: that of its result, and those of its late, rejected or refused rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.catalog import Pipeline
from slackwater.errors import RunError, SlackwaterError
from slackwater.spark.batches import DeliveredBatch, batch_of
from slackwater.spark.io.sinks import OnRows, Sink, batch_sink, own_sink
from slackwater.spark.refusals import REFUSALS, reason
from slackwater.spark.relation import quote
from slackwater.spark.run.sides import Beside
from slackwater.spark.shim.spark_log import with_log
from slackwater.spark.store import Location

Shows = Callable[[str], OnRows | None]
"""Returns, for the name of a pipeline, the function that shows its rows, or None."""
RESULT = "__slackwater_result"
SIDE = "__slackwater_side"


@dataclass(frozen=True, slots=True)
class Side:
    """The side rows of one stream of a pipeline: the column in which they come, and a sink for each reader."""

    entry: Beside
    column: str
    sinks: Sequence[tuple[Pipeline, Sink]]


@dataclass(slots=True)
class Delivery:
    """Writes each batch that Spark passes to it. An error is kept in `failure`: Spark reports it as a Java stack."""

    pipeline: str
    checkpoint: Location
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

    def _parts(self, df: DataFrame, batch: DeliveredBatch) -> Iterator[tuple[Sink, DataFrame]]:
        """Return the rows for each sink. A batch for several sinks is computed once, since it changes the state."""
        if not self.sides:
            yield self.sink, df
            return
        own = [(side, side.entry.batch(batch, self.checkpoint)) for side in self.sides]
        kept = drop_unread_rows(df, own).persist()
        try:
            yield self.sink, kept.where(F.col(RESULT).isNotNull()).select(f"{RESULT}.*")
            for side, at in own:
                rows = kept.where(F.col(side.column).isNotNull()).select(f"{side.column}.*")
                for reader, sink in side.sinks:
                    yield sink, side.entry.read_by(reader, rows, at)
        finally:
            kept.unpersist()


def plain_delivery(pipeline: Pipeline, result: DataFrame, checkpoint: Location, shows: Shows) -> Delivery | None:
    """Return the delivery of a pipeline with one output, or None if Spark's own sink takes its rows."""
    sink = own_sink(pipeline, shows(pipeline.name))
    if sink is None:
        return None
    sink.open(result)
    return Delivery(pipeline.name, checkpoint, sink)


def delivery_with_sides(
    pipeline: Pipeline,
    rows: DataFrame,
    checkpoint: Location,
    shows: Shows,
    read: Mapping[str, Beside],
    streams: Mapping[str, DataFrame],
) -> tuple[Delivery, DataFrame]:
    """Return the delivery of a pipeline whose sides are `read`, and the rows of the query that it splits.

    `rows` has the result in one column and refused rows in the columns of their sides. The rows of the other sides
    are read from the `streams` and appended.
    """
    others = [
        pack_into_column(entry.rows(streams), column) for column, entry in read.items() if column not in rows.columns
    ]
    whole = reduce(partial(DataFrame.unionByName, allowMissingColumns=True), [rows, *others])
    sink = batch_sink(pipeline, shows(pipeline.name))
    sink.open(whole.select(f"{RESULT}.*"))
    sides = []
    for column, entry in read.items():
        sinks = [(each, batch_sink(each, shows(each.name))) for each in entry.readers]
        for reader, its_sink in sinks:
            its_sink.open(entry.read_by(reader, whole.select(f"{column}.*"), DeliveredBatch(0, "")))
        sides.append(Side(entry, column, sinks))
    return Delivery(pipeline.name, checkpoint, sink, sides), whole


def pack_into_column(df: DataFrame, column: str) -> DataFrame:
    """Return the rows as structs in one column."""
    return df.select(F.struct(*(F.col(quote(name)) for name in df.columns)).alias(column))


def drop_unread_rows(df: DataFrame, sides: Iterable[tuple[Side, DeliveredBatch]]) -> DataFrame:
    """Return a batch without the stream rows that no side reads: those that are neither late nor rejected."""
    wanted = F.col(RESULT).isNotNull()
    for side, batch in sides:
        wanted |= side.entry.condition(side.column, batch)
    return df.where(wanted)


def slow_start(pipeline: str, starts: int) -> RunError:
    return RunError(
        "SW-519",
        f"the pipeline '{pipeline}' did not start in {starts} attempts: a Python process of it took longer than the 10 "
        "seconds that Spark waits for one",
        expected="processors that are free while pipelines start",
        hint=with_log("run fewer pipelines at once (split the file), or fewer other programs"),
    )


def failed(pipeline: str, why: str) -> RunError:
    return RunError(
        "SW-510",
        f"the pipeline '{pipeline}' failed: {why}",
        hint=with_log(
            "mend what it names and start again: the pipeline goes on where its checkpoint stands. If the query or a "
            "column of its streams must change for that, it begins anew: with another --checkpoint and another sink"
        ),
    )
