"""Run pipelines: start the query of a plan, its streams and its sink, and report its progress."""

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
from slackwater.spark.operator.writing import DEFAULT, Form, form_of
from slackwater.spark.planner.fused.changes import with_refused
from slackwater.spark.planner.plan import compile_plan, scan_of, session_of
from slackwater.spark.refusals import is_slow_start, line_of
from slackwater.spark.relation import quote
from slackwater.spark.run.checkpoint import admit, check_folder
from slackwater.spark.run.delivery import (
    RESULT,
    SIDE,
    Delivery,
    Shows,
    delivery_with_sides,
    failed,
    pack_into_column,
    plain_delivery,
    slow_start,
)
from slackwater.spark.run.progress import ANSWER, OUTPUT, TOLD, Ledger, Progress
from slackwater.spark.run.sides import Beside, Refusing, entries
from slackwater.spark.run.ticks import Silence, flushing, give, read_ticks, was_flushed
from slackwater.spark.run.views.view_log import LogSink
from slackwater.spark.shim.available_now import start_available_now
from slackwater.spark.store import Location, locate
from slackwater.spark.watermark.accounts import accounts_after, accounts_kept, stream_of
from slackwater.spark.watermark.control import Reads
from slackwater.spark.watermark.gauge import controls_of, seen_metric
from slackwater.spark.watermark.hosts import require_gauge
from slackwater.spark.watermark.punctuate import Account

RESTARTS = 3
"""How often a query is started again after a Python process was too slow for Spark. With a larger value, a machine that
is too small for a script takes minutes to report it."""
POLL = 0.1
"""Seconds between two looks at a running query for new batches."""

IDLE = ("Waiting for data to arrive", "Waiting for next trigger")
"""The status messages of a query that waits: it has opened its sources and planned its batch."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How to run a query: until all existing data is read (`available_now`), or without end.

    A query without end starts a batch every `trigger` seconds; with 0, it starts the next batch at once. With
    `sampled`, the progress of each batch has one row of its result.
    """

    available_now: bool = False
    sampled: bool = False
    trigger: float = 0.0

    def begin(self, write: DataStreamWriter) -> StreamingQuery:
        """Start a query in this manner."""
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
    """Start a pipeline, or resume it from its checkpoint.

    `sides` are pipelines that read its late, rejected or refused rows: outputs of the same query. `on_rows` returns,
    for the name of a pipeline, the function that shows its rows. The pipeline of a view writes to its `log`, which
    `readers` read: a flush closes their windows as well. `rows` is the result of `prepare`, if it was called before.
    """
    checkpoint = locate(checkpoint, session_of(streams))
    admit(pipeline.plan, checkpoint)
    rows = prepare(pipeline, streams, checkpoint, sides) if rows is None else rows
    pipeline = split_form(pipeline)[1]
    read = _read(pipeline, sides)
    counted = F.count(RESULT if read else F.lit(1))
    sample = [_sample_row(rows, bool(read)).alias(ANSWER)] if manner.sampled else []
    rows = rows.observe(OUTPUT, counted.alias("rows"), seen_metric(rows.sparkSession, counted).alias(TOLD), *sample)
    shows = on_rows or (lambda _: None)
    delivery: Delivery | None
    if log is not None:
        log.open(rows)
        delivery = Delivery(pipeline.name, checkpoint, log)
    elif read:
        delivery, rows = delivery_with_sides(pipeline, rows, checkpoint, shows, read, streams)
    else:
        delivery = plain_delivery(pipeline, rows, checkpoint, shows)
    write = _writer(rows, pipeline, delivery).outputMode("append").queryName(pipeline.name)
    write = write.option("checkpointLocation", str(checkpoint))
    return Running(pipeline, checkpoint, partial(manner.begin, write), delivery, readers)


def prepare(
    pipeline: Pipeline, streams: Mapping[str, DataFrame], checkpoint: Location, sides: Sequence[Pipeline] = ()
) -> DataFrame:
    """Compile the plan of a pipeline and return its rows, for `start`. If Spark refuses the plan, it does so here."""
    require_gauge(session_of(streams), f"the pipeline '{pipeline.name}'")
    check_folder(checkpoint)
    ticks = read_ticks(session_of(streams), checkpoint)
    return _compile(pipeline.plan, streams, ticks, split_form(pipeline)[0], _read(pipeline, sides))


def _read(pipeline: Pipeline, sides: Sequence[Pipeline]) -> dict[str, Beside]:
    """Return the streams whose side rows are read, by the columns in which these rows come."""
    return {f"{SIDE}{number}": entry for number, entry in enumerate(entries(pipeline, sides))}


def split_form(pipeline: Pipeline) -> tuple[Form, Pipeline]:
    """Return the form in which the sink wants changes, and the pipeline without the options that state it."""
    if pipeline.sink is None:
        return DEFAULT, pipeline
    form, options = form_of(pipeline.sink.options)
    return form, replace(pipeline, sink=replace(pipeline.sink, options=options))


def _compile(
    plan: Plan, streams: Mapping[str, DataFrame], ticks: DataFrame | None, form: Form, read: Mapping[str, Beside]
) -> DataFrame:
    """Return the result of a plan. If sides are `read`, it is one column, beside columns of refused rows."""
    refused = {entry.scan.stream: column for column, entry in read.items() if isinstance(entry, Refusing)}
    if refused:
        return with_refused(plan, streams, Reads(ticks, plan), form, RESULT, refused)
    rows = compile_plan(plan, streams, ticks, form)
    return pack_into_column(rows, RESULT) if read else rows


def _sample_row(rows: DataFrame, packed: bool) -> Column:
    """Return an aggregate that yields one result row as JSON, with every column as text. Only that row is converted."""
    names = rows.schema[RESULT].dataType.names if packed else rows.columns  # type: ignore[attr-defined]
    columns = [F.col(f"{RESULT}.{quote(name)}" if packed else quote(name)).cast("string") for name in names]
    row = F.to_json(F.struct(*(each.alias(name) for each, name in zip(columns, names, strict=True))))
    return F.first(F.when(F.col(RESULT).isNotNull(), row) if packed else row, ignorenulls=True)


def _writer(rows: DataFrame, pipeline: Pipeline, delivery: Delivery | None) -> DataStreamWriter:
    if delivery is not None or pipeline.sink is None:
        return rows.writeStream.foreachBatch(delivery)  # type: ignore[arg-type]
    return rows.writeStream.format(pipeline.sink.format).options(**pipeline.sink.options)


def dratios(plan: Plan) -> dict[str, float | None]:
    """Return the share of late rows that each controlled stream of a plan may have."""
    controls = [node for node in walk(plan) if isinstance(node, Disorder)]
    return {scan_of(each).stream: effective(each.policy).dratio for each in controls}


def closed_before(checkpoint: Location, kept: Mapping[str, Account]) -> dict[str, int]:
    """Return the streams whose windows a flush has closed, each with the time in ms before which its rows are late.

    A stream is not among them any more once a row has passed that time.
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
        """Yield a record for every batch until the query ends; raise its error if it failed."""
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
        """Return whether the query has started: it runs its first batch, waits for data or has ended.

        Until then Spark may start a Python process for each source and each stateful operator, and fails if one does
        not answer within ten seconds. A script with many pipelines must therefore not start all of them at once.
        """
        if self.starting:
            jobs = SparkSession.active().sparkContext.statusTracker().getJobIdsForGroup(str(self.query.runId))
            self.starting = self.active and not jobs and self.query.status["message"] not in IDLE
        return not self.starting

    @property
    def warm(self) -> bool:
        """Return whether the first batch, for which Spark compiles code, has ended, or there is no row for one."""
        return not self.active or bool(self.query.lastProgress) or self.query.status["message"] in IDLE

    @property
    def active(self) -> bool:
        """Return whether more batches may come."""
        return bool(self.query.isActive)

    def news(self) -> list[Progress]:
        """Return the records of the batches that ended since the last call."""
        records = self.ledger.read(self.query)
        for control in records[-1].controls if records else ():
            self.silence.heard_of(control.stream, control.account.rows, control.account.newest, monotonic())
        return records

    def flush(self) -> None:
        """Start the query again with ticks that close every window, after all rows were read.

        A query over views alone needs no ticks: the logs of the views have their final punctuations.
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
        """Give the query ticks for streams that have been silent for longer than their idle time.

        The next ticks wait until a batch has ended, so that ticks do not come faster than batches end.
        """
        if self.ledger.batch == self.woken or not (ticks := self.silence.due(monotonic())):
            return
        self.woken = self.ledger.batch
        give([ticks], self.checkpoint)

    def stop(self) -> None:
        """Stop the query at once. A batch that is interrupted is repeated when the query resumes."""
        self.query.stop()

    def wait(self, seconds: float) -> None:
        """Wait until the time is up or the query ends; raise its error, or start it again after a slow start."""
        try:
            self.query.awaitTermination(seconds)  # type: ignore[arg-type]  # it takes fractions, although its type hint says int
        except StreamingQueryException as cause:
            if is_slow_start(str(cause)):
                self._start_again(cause)
                return
            known = self.delivery.failure if self.delivery else None
            known = known or controls_of(SparkSession.active()).failure(str(self.query.runId))
            raise known or failed(self.name, _reason(cause)) from cause

    def _start_again(self, cause: StreamingQueryException) -> None:
        """Start the query again from its checkpoint after a Python process took too long to start."""
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
