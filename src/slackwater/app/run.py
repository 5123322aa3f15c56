"""`slackwater run`: starts every pipeline of a script, shows what each batch did, and sums up at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from time import monotonic

from slackwater.algebra.catalog import Pipeline, Script
from slackwater.app.interrupts import Asked, interrupts
from slackwater.app.watch import Watch
from slackwater.errors import InputError
from slackwater.rewrite import rewrite
from slackwater.spark.pipeline import POLL, Manner, Running, start
from slackwater.spark.session import local_session
from slackwater.spark.sides import arranged
from slackwater.spark.streams import read_streams


@dataclass(frozen=True, slots=True)
class Conditions:
    """Under which conditions to run: where, from which checkpoint, how long after the first batch is done.

    A run over what is there (`available_now`) ends with a `flush`, which closes every window.
    """

    checkpoint: Path
    master: str = "local[*]"
    available_now: bool = False
    flush: bool = True
    seconds: float | None = None
    spark: Mapping[str, str] = field(default_factory=dict)


def run(script: Script, conditions: Conditions, watch: Watch) -> None:
    """Runs until every pipeline has ended, the time is up, or Ctrl-C; then stops them all cleanly."""
    if not script.pipelines:
        raise InputError("SW-406", "there is nothing to run", hint="add an INSERT INTO a sink, or a query")
    watch.starting()
    session = local_session(master=conditions.master, options=conditions.spark)
    frames = read_streams(session, script)
    with _stopped_at_the_end() as running:
        for each, sides in arranged(rewritten(script)):
            manner = Manner(available_now=conditions.available_now)
            running.append(start(each, frames, conditions.checkpoint / each.name, manner, watch.on_rows, sides))
            running[-1].settle()
        with watch, interrupts() as asked:
            ended = _follow(running, watch, asked, conditions.seconds)
            if ended and conditions.available_now and conditions.flush:
                _flush(running, watch, asked)
    for stopped in running:
        watch.news(stopped.news())
    watch.summary()


def rewritten(script: Script) -> list[Pipeline]:
    """The pipelines as they are run: with their plans optimised."""
    return [replace(each, plan=rewrite(each.plan, script.views).plan) for each in script.pipelines]


def _follow(running: Sequence[Running], watch: Watch, asked: Asked, seconds: float | None = None) -> bool:
    """Shows what is done until the time is up or it is asked to stop; gives whether everything ended before."""
    end = inf
    while _step(running, watch):
        if asked():
            watch.stopping()
            return False
        if monotonic() >= end:
            return False
        if seconds is not None and watch.latest and end == inf:
            end = monotonic() + seconds
        # A query that has ended would not wait, so one that has not is waited for.
        next((each for each in running if each.active), running[0]).wait(POLL)
    return True


def _flush(running: Sequence[Running], watch: Watch, asked: Asked) -> None:
    for each in running:
        each.flush()
        each.settle()
    _follow(running, watch, asked)


def _step(running: Sequence[Running], watch: Watch) -> bool:
    """Shows what is new; gives whether there is more to come. A pipeline that failed raises what stopped it."""
    active = [each for each in running if each.active]
    for each in running:
        watch.news(each.news())
        each.wake()
        if each not in active:
            each.wait(POLL)
    return bool(active)


@contextmanager
def _stopped_at_the_end() -> Iterator[list[Running]]:
    running: list[Running] = []
    try:
        yield running
    finally:
        for each in running:
            each.stop()
