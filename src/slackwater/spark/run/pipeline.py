"""Running pipelines: a plan, its streams and its sink become a query that reports what it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import monotonic

from pyspark.errors import StreamingQueryException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from slackwater.algebra.catalog import Pipeline
from slackwater.algebra.nodes import Disorder, Plan, emits_changes, walk
from slackwater.algebra.policies import effective
from slackwater.spark.planner.fused.changes import DEFAULT, Form, form_of, with_refused
from slackwater.spark.planner.plan import compile_plan, scan_of, session_of
from slackwater.spark.refusals import is_slow_start, line_of
from slackwater.spark.relation import quoted
from slackwater.spark.run.delivery import RESULT, SIDE, Delivery, Shows, divided, failed, slow_start, tagged, undivided
from slackwater.spark.run.guard import admit, check_folder
from slackwater.spark.run.progress import ANSWER, OUTPUT, TOLD, Ledger, Progress
from slackwater.spark.run.sides import Beside, Refusing, entries
from slackwater.spark.run.ticks import Silence, flushing, give, read_ticks, was_flushed
from slackwater.spark.run.views.log import LogSink
from slackwater.spark.shim.available_now import start_available_now
from slackwater.spark.store import Location, locate
from slackwater.spark.watermark.accounts import accounts_after, accounts_kept, stream_of
from slackwater.spark.watermark.control import Reads
from slackwater.spark.watermark.gauged import controls_of, told
from slackwater.spark.watermark.hosts import require_gauge
from slackwater.spark.watermark.punctuate import Account

RESTARTS = 3
"""How often a query is started again whose Python process Spark gave up: with more, a machine that is too small for a
file takes minutes to say so."""
POLL = 0.1
"""How often, in seconds, a running query is asked for new batches."""

IDLE = ("Waiting for data to arrive", "Waiting for next trigger")
"""What Spark says of a query that waits: it has opened its sources, and planned what there was to plan."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How to run: until all that is there is read (`available_now`), or for ever, with a batch every `trigger` seconds
    (0: one right after the other); `sampled` if each batch is to say one row of its result to those who watch."""

    available_now: bool = False
    sampled: bool = False
    trigger: float = 0.0

    def begin(self, write: DataStreamWriter) -> StreamingQuery:
        """Start a query."""
        if self.available_now:
            return start_available_now(write)
        return write.trigger(processingTime=f"{round(self.trigger * 1_000)} milliseconds").start()


def start(
    pipeline: Pipeline,
    streams: Mapping[str, DataFrame],
    checkpoint: str | Path | Location,
    manner: Manner = Manner(),  # noqa: B008
    on_rows: Shows | None = None,
    sides: Sequence[Pipeline] = (),
    log: LogSink | None = None,
    readers: Sequence[Plan] | None = None,
    rows: DataFrame | None = None,
) -> Running:
    """Starts a pipeline, or resumes it where its checkpoint says that it stood.

    `sides` are pipelines that read its late, rejected or refused rows: outputs of the same query. `on_rows` gives, for
    a name, what shows the rows of that pipeline. The pipeline of a view writes to its `log`, which `readers` read:
    their windows, too, are closed when its streams end. `rows` is what `prepare` gave for the pipeline, if it did.
    """
    checkpoint = locate(checkpoint, session_of(streams))
    admit(pipeline.plan, checkpoint)
    rows = prepare(pipeline, streams, checkpoint, sides) if rows is None else rows
    pipeline = formed(pipeline)[1]
    read = _read(pipeline, sides)
    counted = F.count(RESULT if read else F.lit(1))
    sample = [_sampled(rows, bool(read)).alias(ANSWER)] if manner.sampled else []
    rows = rows.observe(OUTPUT, counted.alias("rows"), told(rows.sparkSession, counted).alias(TOLD), *sample)
    shows = on_rows or (lambda _: None)
    delivery: Delivery | None
    if log is not None:
        log.open(rows)
        delivery = Delivery(pipeline.name, checkpoint, log)
    elif read:
        delivery, rows = divided(pipeline, rows, checkpoint, shows, read, streams)
    else:
        delivery = undivided(pipeline, rows, checkpoint, shows)
    write = _writer(rows, pipeline, delivery).outputMode("append").queryName(pipeline.name)
    write = write.option("checkpointLocation", str(checkpoint))
    return Running(pipeline, checkpoint, partial(manner.begin, write), delivery, readers)


def prepare(
    pipeline: Pipeline, streams: Mapping[str, DataFrame], checkpoint: Location, sides: Sequence[Pipeline] = ()
) -> DataFrame:
    """Return what the query of a pipeline computes, for `start`; Spark refuses here what it refuses of a plan."""
    require_gauge(session_of(streams), f"the pipeline '{pipeline.name}'")
    check_folder(checkpoint)
    ticks = read_ticks(session_of(streams), checkpoint)
    return _compiled(pipeline.plan, streams, ticks, formed(pipeline)[0], _read(pipeline, sides))


def _read(pipeline: Pipeline, sides: Sequence[Pipeline]) -> dict[str, Beside]:
    """Return what is read beside the result of a pipeline, by the columns in which it comes."""
    return {f"{SIDE}{number}": entry for number, entry in enumerate(entries(pipeline, sides))}


def formed(pipeline: Pipeline) -> tuple[Form, Pipeline]:
    """Return how the sink wants changes to be written, and the pipeline without the options that say so."""
    if pipeline.sink is None:
        return DEFAULT, pipeline
    form, options = form_of(pipeline.sink.options)
    return form, replace(pipeline, sink=replace(pipeline.sink, options=options))


def _compiled(
    plan: Plan, streams: Mapping[str, DataFrame], ticks: DataFrame | None, form: Form, read: Mapping[str, Beside]
) -> DataFrame:
    """The result; in one column if sides are `read`, beside those of what the operator of the query refuses."""
    refused = {entry.scan.stream: column for column, entry in read.items() if isinstance(entry, Refusing)}
    if refused:
        return with_refused(plan, streams, Reads(ticks, plan), form, RESULT, refused)
    rows = compile_plan(plan, streams, ticks, form)
    return tagged(rows, RESULT) if read else rows


def _sampled(rows: DataFrame, tagged: bool) -> Column:
    """Some row of the result as JSON, every column as text; only that row is converted."""
    names = rows.schema[RESULT].dataType.names if tagged else rows.columns  # type: ignore[attr-defined]
    columns = [F.col(f"{RESULT}.{quoted(name)}" if tagged else quoted(name)).cast("string") for name in names]
    row = F.to_json(F.struct(*(each.alias(name) for each, name in zip(columns, names, strict=True))))
    return F.first(F.when(F.col(RESULT).isNotNull(), row) if tagged else row, ignorenulls=True)


def _writer(rows: DataFrame, pipeline: Pipeline, delivery: Delivery | None) -> DataStreamWriter:
    if delivery is not None or pipeline.sink is None:
        return rows.writeStream.foreachBatch(delivery)  # type: ignore[arg-type]
    return rows.writeStream.format(pipeline.sink.format).options(**pipeline.sink.options)


def dratios(plan: Plan) -> dict[str, float | None]:
    """The share of late rows that each controlled stream of a plan may have."""
    controls = [node for node in walk(plan) if isinstance(node, Disorder)]
    return {scan_of(each).stream: effective(each.policy).dratio for each in controls}


def closed_before(checkpoint: Location, kept: Mapping[str, Account]) -> dict[str, int]:
    """The streams of which a flush closed every window, and before which time, in ms, their rows are late by that.

    None of a stream once a row has passed that time: then its punctuation is again where its rows put it.
    """
    closed = {stream_of(control): account.punctuation for control, account in kept.items() if account.closed}
    return closed if closed and was_flushed(checkpoint) else {}


class Running:
    """A pipeline that was started. `closed` are the streams whose windows the run before has closed."""

    def __init__(
        self,
        pipeline: Pipeline,
        checkpoint: Location,
        begin: Callable[[], StreamingQuery],
        delivery: Delivery | None = None,
        readers: Sequence[Plan] | None = None,
    ) -> None:
        self.name = pipeline.name
        self.plan = pipeline.plan
        self.checkpoint = checkpoint
        self.begin = begin
        after, kept = partial(accounts_after, checkpoint), accounts_kept(checkpoint)
        self.ledger = Ledger(pipeline.name, dratios(pipeline.plan), after, kept)
        self.closed = closed_before(checkpoint, kept)
        self.notes: list[str] = []
        self.restarts = 0
        self.query = self._start()
        self.delivery = delivery
        self.readers = readers
        self.silence = Silence(pipeline.plan, monotonic(), readers)
        self.woken: int | None = None

    def progress(self) -> Iterator[Progress]:
        """A record for every batch as it ends, until the query does; raises what stopped it if it failed."""
        active = True
        while active:
            active = self.active
            yield from self.news()
            self.wait(POLL)
            active = active or self.active  # it may have been started again

    def _start(self) -> StreamingQuery:
        self.starting = True
        return self.begin()

    @property
    def settled(self) -> bool:
        """Whether the query runs its first batch, waits for data or has ended.

        Until then Spark may start a Python process for each source and each stateful operator, and gives it up if it
        does not answer within ten seconds: a file with many pipelines must not start all of them at once.
        """
        if self.starting:
            jobs = SparkSession.active().sparkContext.statusTracker().getJobIdsForGroup(str(self.query.runId))
            self.starting = self.active and not jobs and self.query.status["message"] not in IDLE
        return not self.starting

    @property
    def active(self) -> bool:
        """Whether batches may still come."""
        return bool(self.query.isActive)

    def news(self) -> list[Progress]:
        """The records of the batches that ended since the last call."""
        records = self.ledger.read(self.query)
        for control in records[-1].controls if records else ():
            self.silence.heard_of(control.stream, control.account.rows, control.account.newest, monotonic())
        return records

    def flush(self) -> None:
        """Runs on, once all rows are read, until every window is closed: no more rows are expected.

        A query over views alone has been told by the views that it reads.
        """
        if not self.silence.idle:
            return
        kept = accounts_kept(self.checkpoint).values()
        newest = max((each.newest for each in kept), default=0)
        if not newest and emits_changes(self.plan):  # all rows are suspect: only their arrivals can be trusted
            newest = max((each.clock for each in kept), default=0)
        furthest = max((each.furthest for each in kept), default=0)
        give([[tick] for tick in flushing(self.plan, newest, furthest, self.readers)], self.checkpoint)
        self.query = self._start()

    def wake(self) -> None:
        """Tells the query of streams that are silent for longer than they are waited for.

        It is told again once a batch has ended, lest ticks come more quickly than batches end.
        """
        if self.ledger.batch == self.woken or not (ticks := self.silence.due(monotonic())):
            return
        self.woken = self.ledger.batch
        give([ticks], self.checkpoint)

    def stop(self) -> None:
        """Stops between two batches or in one; a batch that is cut short is done again on resuming."""
        self.query.stop()

    def wait(self, seconds: float) -> None:
        """Wait so long, or until the query ends; raise what stopped it, unless it is worth another start."""
        try:
            self.query.awaitTermination(seconds)  # type: ignore[arg-type]  # fractions are taken, whatever the hint says
        except StreamingQueryException as cause:
            if is_slow_start(str(cause)):
                self._start_again(cause)
                return
            known = self.delivery.failure if self.delivery else None
            known = known or controls_of(SparkSession.active()).failure(str(self.query.runId))
            raise known or failed(self.name, _reason(cause)) from cause

    def _start_again(self, cause: StreamingQueryException) -> None:
        """Start the query once more from its checkpoint, since a Python process of it took too long to start."""
        if self.restarts == RESTARTS:
            raise slow_start(self.name, RESTARTS + 1) from cause
        self.restarts += 1
        self.notes.append(
            f"{self.name}: a Python process took longer than Spark's 10 seconds to start; "
            f"starting again ({self.restarts} of {RESTARTS})"
        )
        self.query = self._start()


def _reason(cause: StreamingQueryException) -> str:
    return line_of(str(cause)) or type(cause).__name__
