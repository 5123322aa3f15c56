"""One query, one or several outputs: what is done with each batch of its rows."""

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
from slackwater.spark.relation import quoted
from slackwater.spark.run.sides import Beside
from slackwater.spark.shim.log import with_log
from slackwater.spark.store import Location

Shows = Callable[[str], OnRows | None]
"""Gives, for the name of a pipeline, what shows its rows."""
RESULT = "__slackwater_result"
SIDE = "__slackwater_side"


@dataclass(frozen=True, slots=True)
class Side:
    """What is read beside a pipeline's result: the stream it is of, and where the rows of each reader go."""

    entry: Beside
    column: str
    sinks: Sequence[tuple[Pipeline, Sink]]


@dataclass(slots=True)
class Delivery:
    """Called by Spark with every batch. What goes wrong is kept: Spark itself would tell it as a Java stack."""

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


def undivided(pipeline: Pipeline, result: DataFrame, checkpoint: Location, shows: Shows) -> Delivery | None:
    """What takes the batches of a pipeline with one output, unless that is one of Spark's own sinks."""
    sink = own_sink(pipeline, shows(pipeline.name))
    if sink is None:
        return None
    sink.open(result)
    return Delivery(pipeline.name, checkpoint, sink)


def divided(
    pipeline: Pipeline,
    rows: DataFrame,
    checkpoint: Location,
    shows: Shows,
    read: Mapping[str, Beside],
    streams: Mapping[str, DataFrame],
) -> tuple[Delivery, DataFrame]:
    """What takes the batches of a pipeline of whose streams the sides are `read`, and the rows that it takes apart.

    `rows` has the result in a column of its own, and what the query's operator refuses in the columns of these sides;
    those of other sides are read from the `streams`.
    """
    others = [tagged(entry.rows(streams), column) for column, entry in read.items() if column not in rows.columns]
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


def tagged(df: DataFrame, column: str) -> DataFrame:
    """Rows in one column."""
    return df.select(F.struct(*(F.col(quoted(name)) for name in df.columns)).alias(column))


def kept_of(df: DataFrame, sides: Iterable[tuple[Side, DeliveredBatch]]) -> DataFrame:
    """A batch without the rows of streams that nobody wants, now that their punctuations are known."""
    wanted = F.col(RESULT).isNotNull()
    for side, batch in sides:
        wanted |= side.entry.wanted(side.column, batch)
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
