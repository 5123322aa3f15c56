"""Ticks: small files in a query's checkpoint that tell it of the time that passes while no row comes.

Spark runs a batch only when something arrives. A tick is something that arrives, so that a stream that has fallen
silent can be waited for no longer than stated, and one that has ended can be flushed. Being files, ticks are part of
the batches that Spark logs, and come again with them after a fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from time import time_ns

from pyspark.sql import DataFrame, SparkSession

from slackwater.algebra.lengths import Length
from slackwater.algebra.nodes import Disorder, Frequency, Plan, Window, inputs, walk
from slackwater.algebra.policies import longest_silence
from slackwater.spark.planner.plan import scan_of
from slackwater.spark.run.views.reading import is_log
from slackwater.spark.store import Location
from slackwater.spark.watermark.policy import TICKS_PER_MS

SCHEMA = "stream string, silence long, beyond long, newest long"
PAUSE = 1.0
"""While a stream is silent it is told so at most once in so many seconds."""
KEPT = 100
FOLDER = "ticks"
NAME = r"\d+\.json"


@dataclass(frozen=True, slots=True)
class Tick:
    """That no row of a stream (or of any) came for `silence`, or that the punctuation is to go `beyond` its newest row.

    All in milliseconds. `newest` is the newest row of any stream, for one that never had any.
    """

    stream: str | None = None
    silence: int = 0
    beyond: int | None = None
    newest: int = 0


def read_ticks(session: SparkSession, checkpoint: Location) -> DataFrame:
    """Return the ticks of a query, as they come."""
    folder = checkpoint / FOLDER
    folder.make()
    # By their names alone: a checkpoint that was moved does not have its old ticks once more.
    return session.readStream.schema(SCHEMA).option("fileNameOnly", "true").json(str(folder))


def give(tick: Tick, checkpoint: Location) -> None:
    """Let the query take notice of a tick in its next batch."""
    folder = checkpoint / FOLDER
    (folder / f"{time_ns():020d}.json").write(json.dumps(asdict(tick)))
    for old in folder.list(NAME)[:-KEPT]:
        old.remove()


def was_flushed(checkpoint: Location) -> bool:
    """Return whether a run of this checkpoint closed every window at its end."""
    return any(re.search(r'"beyond": \d', each.text() or "") for each in (checkpoint / FOLDER).list(NAME))


def beyond(plan: Plan) -> int:
    """How far, in milliseconds, the punctuation must pass a row for every window with that row to be closed."""
    return -(-_reach(plan) // TICKS_PER_MS) + 1


def _reach(plan: Plan) -> int:
    below = max((_reach(each) for each in inputs(plan)), default=0)
    match plan:
        case Window(range=length, every=every):
            return below + _ticks(length) + _ticks(every)
        case Frequency(every=every):
            return below + _ticks(every)
    return below


def _ticks(length: Length | None) -> int:
    return length.amount if length is not None and length.is_time else 0


def idle_times(plan: Plan) -> dict[str, float]:
    """For each controlled stream, how many seconds of silence it is waited for; a view tells its own punctuations."""
    controls = [node for node in walk(plan) if isinstance(node, Disorder) and not is_log(scan_of(node).stream)]
    return {scan_of(each).stream: longest_silence(each.policy) / (1_000 * TICKS_PER_MS) for each in controls}


class Silence:
    """Notices which streams of a running query are silent, and when their query should be told."""

    def __init__(self, plan: Plan, now: float, readers: Sequence[Plan] = ()) -> None:
        self.idle = idle_times(plan)
        self.reach = max(map(beyond, (plan, *readers))) / 1_000
        self.rows = dict.fromkeys(self.idle, 0)
        self.heard = dict.fromkeys(self.idle, now)
        self.told = now
        self.newest = 0

    def heard_of(self, stream: str, rows: int, newest: int, now: float) -> None:
        """Enters how many rows of a stream have come so far, and its newest event time."""
        if rows != self.rows.get(stream):
            self.rows[stream], self.heard[stream] = rows, now
        self.newest = max(self.newest, newest)

    def due(self, now: float) -> list[Tick]:
        """The ticks to give now. None before a first row came, or once all windows of a silent stream are closed."""
        if now - self.told < PAUSE or not self.newest:
            return []
        ticks = [
            Tick(stream, silence=round((now - self.heard[stream]) * 1_000), newest=self.newest)
            for stream, idle in self.idle.items()
            if idle < now - self.heard[stream] < idle + self.reach + 2 * PAUSE
        ]
        self.told = now if ticks else self.told
        return ticks


def flushing(plan: Plan, readers: Sequence[Plan] = (), newest: int = 0) -> Tick:
    """The tick after which every window of the query is closed, and of those that read what it yields: what has come
    of one stream, up to the `newest` row of all, waits for the others."""
    return Tick(beyond=max(map(beyond, (plan, *readers))), newest=newest)
