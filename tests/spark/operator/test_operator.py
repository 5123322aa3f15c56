"""The operator over a state store of the test's own: what it writes, when it wakes, and that it computes the kernel."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.engine.chains import COLUMNS, batch, grouped, tuples, window

from slackwater.engine.chain import ChainKernel
from slackwater.engine.columns.state import MOST
from slackwater.engine.plan import Chain, Input, encode
from slackwater.errors import RunError
from slackwater.spark.operator.blobs import by_bucket, in_large_batches, ipc, read, read_all
from slackwater.spark.operator.kernel import kernel_of
from slackwater.spark.operator.operator import Operator, blobs_of

STEPS = (window(tuples(1_000_000)), grouped("sum"))
DOCUMENT = encode(Chain(Input(COLUMNS, "ts"), STEPS))


class Store:
    """The state of one key, as the handle of a stateful processor gives it, and the bytes that were written to it."""

    def __init__(self) -> None:
        self.value: tuple[Any, ...] | None = None
        self.entries: dict[tuple[str], tuple[bytes]] = {}
        self.timers: set[int] = set()
        self.written = 0

    def getValueState(self, name: str, schema: str) -> Store:  # noqa: N802
        return self

    def getMapState(self, name: str, key: str, value: str) -> Store:  # noqa: N802
        return self

    def get(self) -> tuple[Any, ...] | None:
        return self.value

    def update(self, value: tuple[Any, ...]) -> None:
        self.value = value

    def getValue(self, key: tuple[str]) -> tuple[bytes] | None:  # noqa: N802
        return self.entries.get(key)

    def updateValue(self, key: tuple[str], value: tuple[bytes]) -> None:  # noqa: N802
        assert key not in self.entries, "a piece is written once"
        self.entries[key] = value
        self.written += len(value[0])

    def removeKey(self, key: tuple[str]) -> None:  # noqa: N802
        del self.entries[key]

    def registerTimer(self, at: int) -> None:  # noqa: N802
        self.timers.add(at)

    def deleteTimer(self, at: int) -> None:  # noqa: N802
        self.timers.remove(at)


class Clock:
    """The timer values of a batch."""

    def __init__(self, watermark: int) -> None:
        self.watermark = watermark

    def getCurrentWatermarkInMs(self) -> int:  # noqa: N802
        return self.watermark


def operator(store: Store, about: str = "it") -> Operator:
    made = Operator(partial(kernel_of, DOCUMENT, "S"), about, ("result",))
    made.init(store)  # type: ignore[arg-type]
    return made


def blobs(*given: pa.RecordBatch) -> pd.DataFrame:
    rows = [(0, "S", 0, piece, each.num_rows, ipc(each)) for piece, each in enumerate(given)]
    return pd.DataFrame(rows, columns=["bucket", "input", "part", "piece", "rows", "body"])


def made(number: int, size: int) -> pa.RecordBatch:
    rng = np.random.default_rng(number)
    times = (np.arange(size) + number * size) * 1000
    return batch(rng.integers(0, 5, size), rng.integers(0, 9, size), times)


def test_only_what_is_new_is_written_however_large_the_window_is():
    store, size, written = Store(), MOST, []
    kernel = ChainKernel(Chain(Input(COLUMNS, "ts"), STEPS))
    state = kernel.init()
    for number in range(6):
        given, watermark = made(number, size), (number + 1) * size
        before = store.written
        # A new operator each time, as after a restart: all that it knows is in the store.
        pieces = blobs(given.slice(100), given.slice(0, 100))
        (frame,) = operator(store).handleInputRows(None, iter([pieces]), Clock(watermark))
        written.append(store.written - before)
        rows = pa.concat_batches([given.slice(100), given.slice(0, 100)])
        state, wanted = kernel.step(state, rows, watermark * 1000)
        assert read_all(list(frame[frame["output"] == "result"]["body"])).equals(wanted)
        assert store.timers == {watermark + 1}
    assert max(written[2:]) < 2 * written[1]
    assert len(store.entries) >= 5


def test_a_timer_steps_without_rows():
    store = Store()
    given = batch([1, 1], [2.0, 3.0], [5_000, 9_000])
    list(operator(store).handleInputRows(None, iter([blobs(given)]), Clock(0)))
    (frame,) = operator(store).handleExpiredTimer(None, Clock(6), None)
    assert frame["output"].tolist() == ["result"]
    assert read_all(frame["body"].tolist()).column("a").to_pylist() == [2.0]
    assert store.timers == {7}


def test_rows_of_an_output_are_counted_even_if_nobody_reads_them():
    rows = batch([1, 1], [2.0, 3.0], [1_000, 8_000])
    made = blobs_of({"result": rows, "refused/S": rows, "refused/T": rows.slice(0, 0)}, ("result",))
    assert made[["output", "rows"]].to_numpy().tolist() == [["result", 2], ["refused/S", 2]]
    assert made["body"].tolist() == [ipc(rows), b""]


def test_a_missing_piece_and_another_query_are_errors():
    store = Store()
    list(operator(store).handleInputRows(None, iter([blobs(made(0, 10))]), Clock(0)))
    with pytest.raises(RunError, match="SW-553"):
        list(operator(store, "that").handleExpiredTimer(None, Clock(50), None))
    store.entries.clear()
    with pytest.raises(RunError, match="SW-554"):
        list(operator(store).handleExpiredTimer(None, Clock(50), None))


def test_rows_go_to_their_buckets_in_order():
    rows = pa.record_batch({"v": [1, 2, 3, 4, 5], "__bucket": [7, 0, 7, 7, 0]})
    (whole,) = in_large_batches(iter([rows.slice(0, 2), rows.slice(2)]))
    found = {bucket: own.column("v").to_pylist() for bucket, own in by_bucket(whole)}
    assert found == {7: [1, 3, 4], 0: [2, 5]}
    assert read(ipc(rows))[0].equals(rows)
