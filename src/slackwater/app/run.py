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
from slackwater.app.dry_run import check_pipelines, declared_right, found_doubtful, used
from slackwater.app.live.interrupts import Asked, interrupts
from slackwater.app.live.watch import Watch
from slackwater.app.secrets import masked_errors
from slackwater.app.views import Opened, Sides, opened, shared
from slackwater.errors import InputError, SlackwaterError
from slackwater.spark.batches import partitions_kept
from slackwater.spark.io.sinks.anew import admit_sinks
from slackwater.spark.io.streams import DataFrame, SparkSession, read_streams
from slackwater.spark.run.formats import accepted
from slackwater.spark.run.guard import reach
from slackwater.spark.run.pipeline import POLL, Manner, Running, prepare, start
from slackwater.spark.run.views.folder import admit_logs
from slackwater.spark.run.views.log import LogSink, read_log
from slackwater.spark.run.views.sharing import Sharing
from slackwater.spark.session import PARTITIONS, local_session, spread_over_cluster
from slackwater.spark.store import Location


@dataclass(frozen=True, slots=True)
class Conditions:
    """Under which conditions to run: where, from which checkpoint, for how many seconds after the queries have started.

    A run over what is there (`available_now`) ends with a `flush`, which closes every window. Any other run starts a
    batch every `trigger` seconds; with 0, one right after the other. With `views`, a folder, every view is kept there
    for this run and others; without, those that two pipelines read, beside the checkpoint.
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
"""How many pipelines may be starting at the same time: each may start Python processes that take a second of a core."""

Begin = Callable[[], Running]


def run(script: Script, conditions: Conditions, watch: Watch) -> None:
    """Runs until every pipeline has ended, the time is up, or Ctrl-C; then stops them all cleanly."""
    sharing, sides = shared(script, keep=conditions.views is not None)
    if not (sharing.pipelines or sharing.kept):
        raise InputError("SW-406", "there is nothing to run", hint="add an INSERT INTO a sink, or a query")
    script = replace(script, settings={**script.settings, **conditions.spark})
    try:
        with masked_errors(script):
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
    deque(map(watch.warn, found_doubtful(used(script))), maxlen=0)
    deque(declared_right(session, used(script)), maxlen=0)
    checkpoint = reach(conditions.checkpoint, session)
    for each in sharing.pipelines:
        admit_sinks(session, (each, *sides.get(each.name, ())), checkpoint / each.name)
    place = reach(conditions.views, session) if conditions.views else _views_beside(checkpoint)
    with opened(sharing.kept, place) as views, _stopped_at_the_end() as running:
        plans = [*sharing.pipelines, *(_pipeline(each) for each in views if each.mine)]
        script = replace(script, pipelines=tuple(plans))
        frames = read_streams(session, script, available_now=conditions.available_now)
        frames |= {each.stream: read_log(session, each.folder.log, each.kept.plan) for each in views}
        watch.shares([each.told for each in views], sharing.notes)
        with watch, interrupts() as asked:
            end = inf
            for stage in _stages(session, sharing.pipelines, sides, views, frames, conditions, checkpoint, watch):
                mine = _begun(stage, running, watch, asked)
                # The clock starts once, when the first queries run: a source that is silent may never end a batch.
                end = min(end, monotonic() + (inf if conditions.seconds is None else conditions.seconds))
                if not _ran(mine, watch, asked, conditions, end):
                    break
    for stopped in running:
        watch.news(stopped.news())
    watch.summary()


def _stages(
    session: SparkSession,
    pipelines: Sequence[Pipeline],
    sides: Sides,
    views: Sequence[Opened],
    frames: Mapping[str, DataFrame],
    conditions: Conditions,
    checkpoint: Location,
    watch: Watch,
) -> list[list[Begin]]:
    """What is started together: everything, or, over what is there, each view before those that read it."""
    manner = Manner(conditions.available_now, watch.sampled, conditions.trigger)
    folders = {each.stream: each.folder for each in views}

    def begun(pipeline: Pipeline, checkpoint: Location, rows: DataFrame, view: Opened | None = None) -> Running:
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

    def prepared(pipeline: Pipeline, checkpoint: Location, view: Opened | None = None) -> Begin:
        """Compile the plan now, so that nothing has started if one is refused, and start the query later."""
        mine = sides.get(pipeline.name, ())
        rows = accepted(pipeline, lambda: prepare(pipeline, frames, checkpoint, mine))
        return partial(begun, pipeline, checkpoint, rows, view)

    kept = [[prepared(_pipeline(each), each.folder.checkpoint, each)] for each in views if each.mine]
    rest = [prepared(each, checkpoint / each.name) for each in pipelines]
    return [*kept, rest] if conditions.available_now else [[*chain(*kept), *rest]]


def _kept_partitions(pipeline: str, kept: int | None, session: SparkSession) -> str:
    """Return what is to be said of the partitions of a checkpoint, which stay as they are: nothing if all are alike."""
    new = int(session.conf.get(PARTITIONS) or 0)
    if kept is None or kept == new:
        return ""
    return f"{pipeline}: its state has {kept} partitions, as its checkpoint began with; a new one would have {new}"


def _views_beside(checkpoint: Location) -> Location:
    """Return the folder of the views that only this run reads: `NAME.views` beside `NAME.checkpoint`."""
    stem, dot, _ = checkpoint.name.rpartition(".")
    return checkpoint.parent / f"{stem if dot and stem else checkpoint.name}.views"


def _pipeline(view: Opened) -> Pipeline:
    return Pipeline(view.kept.name, None, view.kept.run)


def _begun(stage: Sequence[Begin], running: list[Running], watch: Watch, asked: Asked) -> list[Running]:
    """Start pipelines, a few at a time; all in `running` are stopped at the end, also if the next does not start."""
    mine: list[Running] = []
    for begin in stage:
        mine.append(begin())
        running.append(mine[-1])
        _settle(mine, AT_ONCE - 1, watch, asked)
    _settle(mine, 0, watch, asked)
    return mine


def _settle(running: Sequence[Running], most: int, watch: Watch, asked: Asked) -> None:
    """Wait until at most so many pipelines are still starting, and show what the others do."""
    while sum(not each.settled for each in running) > most and not asked():
        _step(running, watch)
        sleep(POLL)


def _ran(mine: Sequence[Running], watch: Watch, asked: Asked, conditions: Conditions, end: float) -> bool:
    """Waits for what was started together; gives whether it ended by itself."""
    if not _follow(mine, watch, asked, end):
        return False
    return not (conditions.available_now and conditions.flush) or _flush(mine, watch, asked)


def _follow(running: Sequence[Running], watch: Watch, asked: Asked, end: float = inf) -> bool:
    """Shows what is done until the time is up or it is asked to stop; gives whether everything ended before."""
    while _step(running, watch):
        if asked():
            watch.stopping()
            return False
        if monotonic() >= end:
            return False
        # A query that has ended would not wait, so one that has not is waited for.
        next((each for each in running if each.active), running[0]).wait(POLL)
    return True


def _flush(running: Sequence[Running], watch: Watch, asked: Asked) -> bool:
    for each in running:
        each.flush()
        _settle(running, AT_ONCE - 1, watch, asked)
    return _follow(running, watch, asked)


def _step(running: Sequence[Running], watch: Watch) -> bool:
    """Shows what is new; gives whether there is more to come. A pipeline that failed raises what stopped it."""
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
def _stopped_at_the_end() -> Iterator[list[Running]]:
    running: list[Running] = []
    try:
        yield running
    finally:
        with ExitStack() as stopping:  # one that cannot be stopped does not keep the others from it
            for each in reversed(running):
                stopping.callback(each.stop)
