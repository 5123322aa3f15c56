"""Ticks: small files in the checkpoint of a query that move its time while no row comes.

Spark runs a batch only when data arrives. A tick is such data: it lets a query stop waiting for a silent stream, and
flush a stream that has ended. Because ticks are files, they are part of the batches that Spark logs, and are read
again with these batches after a fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from time import sleep, time_ns

from pyspark.sql import DataFrame, SparkSession

from slackwater.algebra.lengths import TICKS_PER_MS, Length
from slackwater.algebra.nodes import Disorder, Frequency, Plan, Window, emits_changes, inputs, walk
from slackwater.algebra.policies import longest_silence
from slackwater.spark.planner.plan import scan_of
from slackwater.spark.run.views.plans import is_log
from slackwater.spark.store import Location
from slackwater.spark.watermark.punctuate import EVERY_ROW

SCHEMA = "stream string, silence long, beyond long, newest long, furthest long"
PAUSE = 1.0
"""Seconds between two ticks for silent streams. With a larger value, answers of a silent stream come later."""
KEPT = 100
"""Files of ticks that are kept; older ones are removed."""
FOLDER = "ticks"
NAME = r"\d+\.json"
APART = 0.005
"""Seconds between two files of ticks. Spark reads files in the order of their modification times in whole milliseconds.
Files with equal times would be read in any order."""
RELEASE = 1
"""Milliseconds after a row at which the punctuation has released it."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A message to one stream of a query, or to all: no row came for `silence`, or go `beyond` the newest row.

    All times are in milliseconds. `newest` is the newest row of any stream that is not suspect. With `furthest`, the
    newest of all rows, Spark's watermark goes beyond that row for one batch, and the next tick takes it back. If
    `furthest` is EVERY_ROW, a changelog releases every row in the next batch.
    """

    stream: str | None = None
    silence: int = 0
    beyond: int | None = None
    newest: int = 0
    furthest: int = 0


def read_ticks(session: SparkSession, checkpoint: Location) -> DataFrame:
    """Return the stream of ticks of a query; each batch reads one file."""
    folder = checkpoint / FOLDER
    folder.make()
    # Files are known by their names alone, so that a checkpoint that was moved does not read its old ticks again.
    options = {"fileNameOnly": "true", "maxFilesPerTrigger": "1"}
    return session.readStream.schema(SCHEMA).options(**options).json(str(folder))


def give(batches: Sequence[Sequence[Tick]], checkpoint: Location) -> None:
    """Write ticks for a query to read, one file for each batch, and remove old files."""
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
    """Return how far beyond a row, in ms, the punctuation must go to close every window with that row."""
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
    """Return the seconds that a query waits for each silent stream. Views are left out: they have punctuations."""
    controls = [node for node in walk(plan) if isinstance(node, Disorder) and not is_log(scan_of(node).stream)]
    return {scan_of(each).stream: longest_silence(each.policy) / (1_000 * TICKS_PER_MS) for each in controls}


class Silence:
    """Finds out which streams of a running query are silent, and when their query needs a tick."""

    def __init__(self, plan: Plan, now: float, readers: Sequence[Plan] | None = None) -> None:
        self.idle = idle_times(plan)
        self.reach = max(map(beyond, (plan, *(readers or ())))) / 1_000
        self.rows = dict.fromkeys(self.idle, 0)
        self.heard = dict.fromkeys(self.idle, now)
        self.silences = dict.fromkeys(self.idle, 0.0)
        self.told = now
        self.newest = 0

    def heard_of(self, stream: str, rows: int, newest: int, now: float) -> None:
        """Note how many rows of a stream have come so far, and its newest event time."""
        if rows != self.rows.get(stream):
            self.rows[stream], self.heard[stream], self.silences[stream] = rows, now, 0.0
        self.newest = max(self.newest, newest)

    def due(self, now: float) -> list[Tick]:
        """Return the ticks to give now.

        There are none before the first row has come, nor for a stream after a tick has closed all of its windows.
        """
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
    """Return the ticks of a flush, each for a batch of its own.

    They close every window of the query and of the `readers` of a view. `newest` is the newest row of all streams that
    is not suspect, because the rows of one stream wait for the others. Under EMIT CHANGES time stops there, so that
    rows that are alive then stay alive, and suspect rows are released there.

    If there are suspect rows, the first tick takes the watermark beyond the `furthest` of them to close their windows.
    Two more ticks take it back: two, because Spark filters late rows by the watermark of the batch before. Under EMIT
    CHANGES the watermark does not go ahead: every row is released where it is. The readers of a view follow its
    punctuations, which cannot go back, so a view holds its suspect rows until their time comes.
    """
    changes = emits_changes(plan)
    closing = Tick(beyond=RELEASE if changes else max(map(beyond, (plan, *(readers or ())))), newest=newest)
    if readers is not None or furthest <= newest:
        return [closing]
    if changes:
        return [replace(closing, furthest=EVERY_ROW), closing]
    return [replace(closing, furthest=furthest), closing, closing]
