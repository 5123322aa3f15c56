"""`slackwater run`: starts every pipeline of a script, shows what each batch did, and sums up at the end."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from math import inf
from pathlib import Path
from time import monotonic, sleep

from slackwater.algebra.catalog import Pipeline, Script
from slackwater.algebra.nodes import Scan, walk
from slackwater.app.dry_run import check_declarations, check_pipelines, drop_unused_declarations, found_doubtful
from slackwater.app.live.interrupts import Asked, interrupts
from slackwater.app.live.watch import Watch
from slackwater.app.secrets import mask_errors
from slackwater.app.views import OpenView, Sides, open_views, share_views
from slackwater.errors import InputError, SlackwaterError
from slackwater.spark.batches import partitions_kept
from slackwater.spark.io.sinks.new_folder import admit_sinks
from slackwater.spark.io.streams import DataFrame, SparkSession, read_streams
from slackwater.spark.run.checkpoint import reach
from slackwater.spark.run.dry_run import compile_or_refuse
from slackwater.spark.run.pipeline import POLL, Manner, Running, prepare, start
from slackwater.spark.run.views.folder import admit_logs
from slackwater.spark.run.views.sharing import Sharing
from slackwater.spark.run.views.view_log import LogSink, read_log
from slackwater.spark.session import PARTITIONS, local_session, spread_over_cluster
from slackwater.spark.store import Location


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a run: where, from which checkpoint, for how many seconds after the first batches.

    A run over the data that exists (`available_now`) ends with a `flush`, which closes every window. Any other run
    starts a batch every `trigger` seconds; with 0, it starts the next batch at once. If the folder `views` is given,
    every view is kept there for this run and for others. Otherwise a view is kept beside the checkpoint if two
    pipelines read it.
    """

    checkpoint: str | Path
    master: str = "local[*]"
    available_now: bool = False
    flush: bool = True
    seconds: float | None = None
    spark: Mapping[str, str] = field(default_factory=dict)
    views: str | Path | None = None
    trigger: float = 0.0


AT_ONCE = max(2, os.cpu_count() or 2)
"""The largest number of pipelines that start at the same time. Each may start Python processes, which take a second
of a core: with a larger number all first batches are slow, with a smaller one cores are idle."""

FIRST_BATCH = 60.0
"""How many seconds the first batches may take before the time of a run is counted. With a smaller number a run for 20
seconds on a busy machine may end without an answer, with a larger one a backlog in the first batch prolongs the run."""

Begin = Callable[[], Running]


def run(script: Script, conditions: Conditions, watch: Watch) -> None:
    """Run a script until every pipeline has ended, the time is up, or Ctrl-C; then stop all pipelines cleanly."""
    sharing, sides = share_views(script, keep=conditions.views is not None)
    if not (sharing.pipelines or sharing.kept):
        raise InputError("SW-406", "there is nothing to run", hint="add an INSERT INTO a sink, or a query")
    script = replace(script, settings={**script.settings, **conditions.spark})
    try:
        with mask_errors(script):
            _run_all(script, sharing, sides, conditions, watch)
    except SlackwaterError as error:
        watch.ends(error)
        raise
    watch.ends()


def _run_all(script: Script, sharing: Sharing, sides: Sides, conditions: Conditions, watch: Watch) -> None:
    check_pipelines((each, sides.get(each.name, ())) for each in sharing.pipelines)
    watch.starting()
    session = local_session(master=conditions.master, options=script.settings)
    watch.say(spread_over_cluster(session))
    deque(map(watch.warn, found_doubtful(drop_unused_declarations(script))), maxlen=0)
    deque(check_declarations(session, drop_unused_declarations(script)), maxlen=0)
    checkpoint = reach(conditions.checkpoint, session)
    for each in sharing.pipelines:
        admit_sinks(session, (each, *sides.get(each.name, ())), checkpoint / each.name)
    place = reach(conditions.views, session) if conditions.views else _views_beside(checkpoint)
    with open_views(sharing.kept, place) as views, _stop_at_end() as running:
        plans = [*sharing.pipelines, *(_pipeline(each) for each in views if each.mine)]
        script = replace(script, pipelines=tuple(plans))
        frames = read_streams(session, script, available_now=conditions.available_now)
        frames |= {each.stream: read_log(session, each.folder.log, each.kept.plan) for each in views}
        watch.shares([each.told for each in views], sharing.notes)
        with watch, interrupts() as asked:
            end = inf
            for stage in _stages(session, sharing.pipelines, sides, views, frames, conditions, checkpoint, watch):
                mine = _start_stage(stage, running, watch, asked)
                if conditions.seconds is not None and end == inf:  # the clock starts once, with the first queries
                    _await_first_batches(mine, watch, asked)
                    end = monotonic() + conditions.seconds
                if not _wait_for_stage(mine, watch, asked, conditions, end):
                    break
    for stopped in running:
        watch.news(stopped.news())
    watch.summary()


def _stages(
    session: SparkSession,
    pipelines: Sequence[Pipeline],
    sides: Sides,
    views: Sequence[OpenView],
    frames: Mapping[str, DataFrame],
    conditions: Conditions,
    checkpoint: Location,
    watch: Watch,
) -> list[list[Begin]]:
    """Return groups of pipelines; the pipelines of a group are started together.

    A run over the data that exists (`available_now`) starts each view before the pipelines that read it. Any other
    run starts everything at once.
    """
    manner = Manner(conditions.available_now, watch.sampled, conditions.trigger)
    folders = {each.stream: each.folder for each in views}

    def begun(pipeline: Pipeline, checkpoint: Location, rows: DataFrame, view: OpenView | None = None) -> Running:
        watch.say(_kept_partitions(pipeline.name, partitions_kept(checkpoint), session))
        read = {node.stream for node in walk(pipeline.plan) if isinstance(node, Scan)}
        admit_logs(checkpoint, {name: folder for name, folder in folders.items() if name in read})
        if view is None:
            read_beside = sides.get(pipeline.name, ())
            running = start(pipeline, frames, checkpoint, manner, watch.on_rows, read_beside, rows=rows)
        else:
            log = LogSink(view.folder.log, view.kept.plan)
            running = start(pipeline, frames, checkpoint, manner, log=log, readers=view.kept.readers, rows=rows)
        watch.begins(pipeline, conditions.trigger)
        watch.resumes(pipeline.name, running.closed)
        return running

    def prepared(pipeline: Pipeline, checkpoint: Location, view: OpenView | None = None) -> Begin:
        """Compile the plan now and return how to start the query, so that a refused plan stops the run before it."""
        mine = sides.get(pipeline.name, ())
        rows = compile_or_refuse(pipeline, lambda: prepare(pipeline, frames, checkpoint, mine))
        return partial(begun, pipeline, checkpoint, rows, view)

    kept = [[prepared(_pipeline(each), each.folder.checkpoint, each)] for each in views if each.mine]
    rest = [prepared(each, checkpoint / each.name) for each in pipelines]
    return [*kept, rest] if conditions.available_now else [[*chain(*kept), *rest]]


def _kept_partitions(pipeline: str, kept: int | None, session: SparkSession) -> str:
    """Return a note if a checkpoint has another number of partitions than a new one would, else an empty text."""
    new = int(session.conf.get(PARTITIONS) or 0)
    if kept is None or kept == new:
        return ""
    return f"{pipeline}: its state has {kept} partitions, as its checkpoint began with; a new one would have {new}"


def _views_beside(checkpoint: Location) -> Location:
    """Return the folder of the views that only this run reads: `NAME.views` beside `NAME.checkpoint`."""
    stem, dot, _ = checkpoint.name.rpartition(".")
    return checkpoint.parent / f"{stem if dot and stem else checkpoint.name}.views"


def _pipeline(view: OpenView) -> Pipeline:
    return Pipeline(view.kept.name, None, view.kept.run)


def _start_stage(stage: Sequence[Begin], running: list[Running], watch: Watch, asked: Asked) -> list[Running]:
    """Start pipelines, a few at a time, and return them.

    Each is also added to `running` at once, so that the caller can stop it if the next one does not start.
    """
    mine: list[Running] = []
    for begin in stage:
        mine.append(begin())
        running.append(mine[-1])
        _settle(mine, AT_ONCE - 1, watch, asked)
    _settle(mine, 0, watch, asked)
    return mine


def _settle(running: Sequence[Running], most: int, watch: Watch, asked: Asked) -> None:
    """Wait until at most `most` pipelines are still starting, and show the progress of all meanwhile."""
    while sum(not each.settled for each in running) > most and not asked():
        _step(running, watch)
        sleep(POLL)


def _await_first_batches(running: Sequence[Running], watch: Watch, asked: Asked) -> None:
    """Wait until each pipeline has ended a batch, or has no row for one: a source that is silent may never end one."""
    end = monotonic() + FIRST_BATCH
    while monotonic() < end and not asked() and not all(each.warm for each in running):
        _step(running, watch)
        sleep(POLL)


def _wait_for_stage(mine: Sequence[Running], watch: Watch, asked: Asked, conditions: Conditions, end: float) -> bool:
    """Wait for the pipelines of a stage, flush them if asked to, and return whether they ended by themselves."""
    if not _follow(mine, watch, asked, end):
        return False
    return not (conditions.available_now and conditions.flush) or _flush(mine, watch, asked)


def _follow(running: Sequence[Running], watch: Watch, asked: Asked, end: float = inf) -> bool:
    """Show progress until all pipelines have ended, the time is up or Ctrl-C; return whether all have ended."""
    while _step(running, watch):
        if asked():
            watch.stopping()
            return False
        if monotonic() >= end:
            return False
        # Waiting for a query that has ended would return at once, so wait for one that has not.
        next((each for each in running if each.active), running[0]).wait(POLL)
    return True


def _flush(running: Sequence[Running], watch: Watch, asked: Asked) -> bool:
    for each in running:
        each.flush()
        _settle(running, AT_ONCE - 1, watch, asked)
    return _follow(running, watch, asked)


def _step(running: Sequence[Running], watch: Watch) -> bool:
    """Show new progress and return whether any pipeline is active. Raise the error of a pipeline that failed."""
    active = [each for each in running if each.active]
    for each in running:
        watch.news(each.news())
        each.wake()
        if each not in active:
            each.wait(POLL)
        while each.notes:
            watch.warn(each.notes.pop(0))
    return any(each in active or each.active for each in running)  # one that failed may have been started again


@contextmanager
def _stop_at_end() -> Iterator[list[Running]]:
    running: list[Running] = []
    try:
        yield running
    finally:
        with ExitStack() as stopping:  # stops the other queries even if one of them cannot be stopped
            for each in reversed(running):
                stopping.callback(each.stop)
