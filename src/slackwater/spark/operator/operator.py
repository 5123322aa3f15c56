"""A kernel as a stateful operator of Spark: one call per bucket and batch, its state in pieces.

The head is one value of Spark's state, rewritten at each batch; every other piece is an entry of a map, written once
and removed when the kernel no longer names it. A timer just beyond the watermark
wakes the bucket whenever the punctuation moves, rows or not.
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
from slackwater.engine.columns.state import HEAD
from slackwater.errors import RunError
from slackwater.spark.operator.blobs import ipc, joined
from slackwater.spark.operator.handing import handed
from slackwater.spark.operator.kernel import Batches, Hosted

OUTPUT = "output string, rows long, body binary"
END = "__end"
"""The input, and its column, that tells the newest time of each stream of a batch query, in microseconds."""
EVERYTHING = "slackwater.everything"
"""The local property of the batch of a flush in which a changelog releases every row."""
TICKS = 1_000
"""Spark's watermark counts milliseconds."""
EPOCH = 0
"""Where Spark's watermark starts."""
Make = Callable[[], Hosted]


class Operator(StatefulProcessor):
    """`make` gives the kernel, on the worker; `about` says what it computes, so that it meets no other's state."""

    def __init__(self, make: Make, about: str, wanted: tuple[str, ...], to: tuple[str, ...] | None = None) -> None:
        """`to`: another operator takes the results in, in buckets by these columns of theirs."""
        self.make = make
        self.to = to
        self.about = about
        self.wanted = wanted

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.handle = handle
        self.head = handle.getValueState("head", "about string, names string, timer long, head binary")
        self.pieces = handle.getMapState("pieces", "name string", "piece binary")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        yield from self._stepped(key, _batches(rows), timerValues.getCurrentWatermarkInMs())

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        yield from self._stepped(key, {}, timerValues.getCurrentWatermarkInMs())

    def close(self) -> None:
        """Nothing is open: Spark owns the state."""

    def _stepped(self, key: Any, batches: Batches, watermark: int) -> Iterator[pd.DataFrame]:
        kept = self.head.get()
        names: set[str] = set()
        kernel = self.make()  # not in init: Spark calls that in a process of its own, to learn what the state is
        if kept is None:  # Spark's watermark starts in 1970: a row from before is late to its own operators, too
            state, _ = kernel.step(kernel.init(), {}, EPOCH)
        else:
            self._check(kept[0])
            names = set(kept[1].split("\n")) - {""}
            state = kernel.read(lambda name: bytes(kept[3]) if name == HEAD else self._piece(name))
            if watermark + 1 < int(kept[2]):
                state = kernel.take_back(state, watermark * TICKS)
        state, made = kernel.step(state, batches, watermark * TICKS, everything=_is_told_everything())
        self._keep(state, names, watermark, None if kept is None else int(kept[2]))
        if self.to is None:
            yield frame(made, self.wanted)
        else:
            yield handed(made, self.to, key[0], first=kept is None)

    def _keep(self, state: Any, before: set[str], watermark: int, timer: int | None) -> None:
        """Write the head and what is new of the pieces, remove what is gone, and move the timer."""
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
        found = self.pieces.getValue((name,))
        if found is None:
            raise RunError("SW-554", f"the state lacks its piece '{name}'", hint="restore the checkpoint from a copy")
        return bytes(found[0])

    def _check(self, about: str) -> None:
        if about != self.about:
            raise RunError(
                "SW-553",
                "the checkpoint holds the state of another query",
                expected=about,
                hint="start with a new checkpoint, or run the query that began this one",
            )


def at_rest(make: Make, wanted: tuple[str, ...]) -> Callable[[Any, pd.DataFrame], pd.DataFrame]:
    """For `applyInPandas`: all rows of a bucket at once, none of them late, and a flush.

    The flush goes to the end of time, or, where an input END tells the newest times of streams, one tick beyond these,
    where it releases every row.
    """

    def flushed(key: Any, rows: pd.DataFrame) -> pd.DataFrame:
        kernel, batches = make(), dict(_batches(iter([rows])))
        ends = batches.pop(END, None)
        newest = None if ends is None else pc.max(ends.column(END)).as_py()
        state, _ = kernel.step(kernel.init(), batches, EARLIEST)
        if newest is None:
            return frame(kernel.step(state, {}, LATEST if ends is None else EARLIEST)[1], wanted)
        return frame(kernel.step(state, {}, newest + TICK, everything=True)[1], wanted)

    return flushed


def _is_told_everything() -> bool:
    """Whether the batch of this task is to release every row: Steering.java says so to the tasks of a flush."""
    context = TaskContext.get()
    return context is not None and context.getLocalProperty(EVERYTHING) == "true"


def frame(made: Batches, wanted: tuple[str, ...]) -> pd.DataFrame:
    """What a step yields as a few rows: for each output how many rows, and, where they are wanted, them."""
    rows = [
        (name, batch.num_rows, ipc(batch) if name in wanted else b"") for name, batch in made.items() if batch.num_rows
    ]
    return pd.DataFrame(rows, columns=["output", "rows", "body"])


def _batches(rows: Iterator[pd.DataFrame]) -> Batches:
    """The rows of each input, in the order in which they came."""
    blobs = pd.concat(list(rows), ignore_index=True).sort_values(["part", "piece"])
    blobs = blobs[blobs["body"].str.len() > 0]
    return {str(name): joined(list(own["body"])) for name, own in blobs.groupby("input")}
