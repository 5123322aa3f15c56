"""Ticks: small files in a query's checkpoint that tell it of the time that passes while no row comes.

Spark runs a batch only when something arrives. A tick is something that arrives, so that a stream that has fallen
silent can be waited for no longer than stated, and one that has ended can be flushed. Being files, ticks are part of
the batches that Spark logs, and come again with them after a fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from time import sleep, time_ns

from pyspark.sql import DataFrame, SparkSession

from slackwater.algebra.lengths import Length
from slackwater.algebra.nodes import Disorder, Frequency, Plan, Window, emits_changes, inputs, walk
from slackwater.algebra.policies import longest_silence
from slackwater.spark.planner.plan import scan_of
from slackwater.spark.run.views.reading import is_log
from slackwater.spark.store import Location
from slackwater.spark.watermark.policy import TICKS_PER_MS
from slackwater.spark.watermark.punctuate import EVERY_ROW

SCHEMA = "stream string, silence long, beyond long, newest long, furthest long"
PAUSE = 1.0
"""While a stream is silent it is told so at most once in so many seconds."""
KEPT = 100
FOLDER = "ticks"
NAME = r"\d+\.json"
APART = 0.005
"""Seconds between two files of ticks. Spark reads files by their time in whole milliseconds; of equal times it takes
the order in which the file system lists them, which on a local disk is any."""
RELEASE = 1
"""So many milliseconds after a row the punctuation has released it."""


@dataclass(frozen=True, slots=True)
class Tick:
    """That no row of a stream (or of any) came for `silence`, or that the punctuation is to go `beyond` its newest row.

    All in milliseconds. `newest` is the newest row of any stream that is not suspect. With `furthest`, the newest of
    all rows, Spark's watermark goes beyond it for one batch, and the next tick takes it back. With EVERY_ROW in the
    place of `furthest` a changelog releases every row in the next batch.
    """

    stream: str | None = None
    silence: int = 0
    beyond: int | None = None
    newest: int = 0
    furthest: int = 0


def read_ticks(session: SparkSession, checkpoint: Location) -> DataFrame:
    """Return the ticks of a query, as they come: each file in a batch of its own."""
    folder = checkpoint / FOLDER
    folder.make()
    # By their names alone: a checkpoint that was moved does not have its old ticks once more.
    options = {"fileNameOnly": "true", "maxFilesPerTrigger": "1"}
    return session.readStream.schema(SCHEMA).options(**options).json(str(folder))


def give(batches: Sequence[Sequence[Tick]], checkpoint: Location) -> None:
    """Let the query take notice of ticks, one batch after the other."""
    folder = checkpoint / FOLDER
    for ticks in batches:
        (folder / f"{time_ns():020d}.json").write("\n".join(json.dumps(asdict(tick)) for tick in ticks))
        sleep(APART)
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

    def __init__(self, plan: Plan, now: float, readers: Sequence[Plan] | None = None) -> None:
        self.idle = idle_times(plan)
        self.reach = max(map(beyond, (plan, *(readers or ())))) / 1_000
        self.rows = dict.fromkeys(self.idle, 0)
        self.heard = dict.fromkeys(self.idle, now)
        self.silences = dict.fromkeys(self.idle, 0.0)
        self.told = now
        self.newest = 0

    def heard_of(self, stream: str, rows: int, newest: int, now: float) -> None:
        """Enters how many rows of a stream have come so far, and its newest event time."""
        if rows != self.rows.get(stream):
            self.rows[stream], self.heard[stream], self.silences[stream] = rows, now, 0.0
        self.newest = max(self.newest, newest)

    def due(self, now: float) -> list[Tick]:
        """The ticks to give now. None before a first row came, or once a tick has closed all windows of a stream."""
        if now - self.told < PAUSE or not self.newest:
            return []
        silent = [
            stream
            for stream, idle in self.idle.items()
            if now - self.heard[stream] > idle and self.silences[stream] < idle + self.reach
        ]
        self.silences |= {stream: now - self.heard[stream] for stream in silent}
        self.told = now if silent else self.told
        return [Tick(each, silence=round(self.silences[each] * 1_000), newest=self.newest) for each in silent]


def flushing(plan: Plan, newest: int, furthest: int = 0, readers: Sequence[Plan] | None = None) -> list[Tick]:
    """The ticks of a flush, each for a batch of its own.

    After them every window of the query is closed, and every window of the `readers` of a view. `newest` is the newest
    row of all streams that is not suspect: the rows of one stream wait for the others. Under EMIT CHANGES time stays
    there, so that what lives then stays alive, and suspect rows are released there.

    The first tick also closes the windows of suspect rows, up to the `furthest`; two more take the watermark back. It
    takes two, because Spark filters late rows by the watermark of the batch before. Under EMIT CHANGES the watermark
    does not go ahead: every row is released where it is. The readers of a view follow its punctuations and cannot go
    back: a view keeps its suspect rows until their time comes.
    """
    changes = emits_changes(plan)
    closing = Tick(beyond=RELEASE if changes else max(map(beyond, (plan, *(readers or ())))), newest=newest)
    if readers is not None or furthest <= newest:
        return [closing]
    if changes:
        return [replace(closing, furthest=EVERY_ROW), closing]
    return [replace(closing, furthest=furthest), closing, closing]
