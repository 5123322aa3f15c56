"""A kernel as a stateful operator of Spark: one call per bucket and batch, its state in pieces.

The head is one value of Spark's state, rewritten at each batch; every other piece is an entry of a map, written once
and removed when the kernel no longer names it. A timer just beyond the watermark wakes the bucket whenever the
punctuation moves, even if no row has come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from slackwater.algebra.lengths import TICK
from slackwater.engine.columns.arrays import EARLIEST, LATEST
from slackwater.engine.columns.state import HEAD, State
from slackwater.errors import RunError
from slackwater.spark.operator.blobs import ipc, read_all
from slackwater.spark.operator.handing import next_blobs
from slackwater.spark.operator.kernel import Batches, Hosted

OUTPUT = "output string, rows long, body binary"
END = "__end"
"""The input, and its column, with the newest time of each stream of a batch query, in microseconds."""
EVERYTHING = "slackwater.everything"
"""The local property of the batch of a flush in which a changelog releases every row."""
TICKS = 1_000
"""Ticks in a millisecond, the unit of Spark's watermark."""
EPOCH = 0
"""The first value of Spark's watermark."""
Make = Callable[[], Hosted]


class Operator(StatefulProcessor):
    """A stateful processor that hosts a kernel, which `make` returns on the worker.

    `about` identifies the query, so that the state of another one is refused. With `to`, another operator reads the
    results, in buckets by these columns.
    """

    def __init__(self, make: Make, about: str, wanted: tuple[str, ...], to: tuple[str, ...] | None = None) -> None:
        self.make = make
        self.to = to
        self.about = about
        self.wanted = wanted

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.handle = handle
        self.head = handle.getValueState("head", "about string, names string, timer long, head binary")
        self.pieces = handle.getMapState("pieces", "name string", "piece binary")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        yield from self._step(key, _batches(rows), timerValues.getCurrentWatermarkInMs())

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        yield from self._step(key, {}, timerValues.getCurrentWatermarkInMs())

    def close(self) -> None:
        """Do nothing: Spark owns the state."""

    def _step(self, key: Any, batches: Batches, watermark: int) -> Iterator[pd.DataFrame]:
        """Step the kernel of a bucket over its state, keep the new state, and return the outputs."""
        kept = self.head.get()
        names: set[str] = set()
        # not in init, which Spark also calls in a process of its own, to learn the state's columns
        kernel = self.make()
        if kept is None:  # Spark's watermark starts in 1970: an earlier row is late, as for Spark's own operators
            state, _ = kernel.step(State(), {}, EPOCH)
        else:
            self._check(kept[0])
            names = set(kept[1].split("\n")) - {""}
            state = State.read(lambda name: bytes(kept[3]) if name == HEAD else self._piece(name))
            if watermark + 1 < int(kept[2]):
                state = kernel.take_back(state, watermark * TICKS)
        state, made = kernel.step(state, batches, watermark * TICKS, everything=_releases_everything())
        self._keep(state, names, watermark, None if kept is None else int(kept[2]))
        if self.to is None:
            yield blobs_of(made, self.wanted)
        else:
            yield next_blobs(made, self.to, key[0], first=kept is None)

    def _keep(self, state: State, before: set[str], watermark: int, timer: int | None) -> None:
        """Write the head and new pieces, remove pieces that are no longer needed, and move the timer."""
        names = set(state.names()) - {HEAD}
        for name in sorted(names - before):
            self.pieces.updateValue((name,), (state.piece(name),))
        for name in sorted(before - names):
            self.pieces.removeKey((name,))
        self.head.update((self.about, "\n".join(sorted(names)), watermark + 1, state.piece(HEAD)))
        if timer != watermark + 1:
            if timer is not None:
                self.handle.deleteTimer(timer)
            self.handle.registerTimer(watermark + 1)

    def _piece(self, name: str) -> bytes:
        """Return a piece of the state other than its head."""
        found = self.pieces.getValue((name,))
        if found is None:
            raise RunError("SW-554", f"the state lacks its piece '{name}'", hint="restore the checkpoint from a copy")
        return bytes(found[0])

    def _check(self, about: str) -> None:
        """Raise an error if the state is that of another query."""
        if about != self.about:
            raise RunError(
                "SW-553",
                "the checkpoint holds the state of another query",
                expected=about,
                hint="start with a new checkpoint, or run the query that began this one",
            )


def at_rest(make: Make, wanted: tuple[str, ...]) -> Callable[[Any, pd.DataFrame], pd.DataFrame]:
    """Return a function for `applyInPandas` that gives all rows to the kernel at once, none of them late, and flushes.

    The flush goes to the end of time. If there is an input END with the newest times of streams, it goes to one tick
    beyond these and releases every row.
    """

    def flushed(key: Any, rows: pd.DataFrame) -> pd.DataFrame:
        kernel, batches = make(), dict(_batches(iter([rows])))
        ends = batches.pop(END, None)
        newest = None if ends is None else pc.max(ends.column(END)).as_py()
        if newest is None:
            return blobs_of(kernel.step(State(), batches, LATEST if ends is None else EARLIEST)[1], wanted)
        return blobs_of(kernel.step(State(), batches, newest + TICK, everything=True)[1], wanted)

    return flushed


def _releases_everything() -> bool:
    """Return whether the batch of this task must release every row: Steering.java sets the property in a flush."""
    context = TaskContext.get()
    return context is not None and context.getLocalProperty(EVERYTHING) == "true"


def blobs_of(made: Batches, wanted: tuple[str, ...]) -> pd.DataFrame:
    """Return the outputs of a step as one row each: the number of rows, and the rows as a blob if they are wanted."""
    rows = [
        (name, batch.num_rows, ipc(batch) if name in wanted else b"") for name, batch in made.items() if batch.num_rows
    ]
    return pd.DataFrame(rows, columns=["output", "rows", "body"])


def _batches(rows: Iterator[pd.DataFrame]) -> Batches:
    """Return the rows of each input, in the order in which they came to Spark."""
    blobs = pd.concat(list(rows), ignore_index=True).sort_values(["part", "piece"])
    blobs = blobs[blobs["body"].str.len() > 0]
    return {str(name): read_all(list(own["body"])) for name, own in blobs.groupby("input")}
