"""The controller inside a query: its state is Spark's state, its punctuations are rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from slackwater.algebra.nodes import Policy
from slackwater.algebra.policies import effective
from slackwater.disorder import NO_PUNCTUATION, Controller
from slackwater.disorder.clock import minus
from slackwater.disorder.state import pack, unpack
from slackwater.spark.policy import TICKS_PER_MS, controller_of
from slackwater.spark.state_files import StateFiles, batch_number
from slackwater.spark.summary import Batch, unpacked

EPOCH = 0
"""Spark's watermark starts here: a row before 1970 is late to every query that has a watermark."""
VERSION = 1


@dataclass(frozen=True, slots=True)
class Account:
    """What the control of one stream has seen since the query began; times in milliseconds.

    `rows` = on time + `late` + `untimed`, exactly; `suspect` rows are among the others. `newest` is the newest event
    time of an honest row, `clock` the latest arrival, and `silence` how long ago that was when a tick last told.
    """

    punctuation: int = EPOCH
    rows: int = 0
    late: int = 0
    untimed: int = 0
    suspect: int = 0
    held: int = 0
    clock: int = EPOCH
    held_time: int = 0
    newest: int = EPOCH
    silence: int = 0

    @property
    def on_time(self) -> int:
        return self.rows - self.late - self.untimed


ACCOUNT_SCHEMA = ", ".join(f"{field.name} long" for field in fields(Account))


def account_in(kept: bytes) -> Account:
    """The account that was kept with a controller's state."""
    found = unpack(kept, "control", VERSION)
    return Account(**{field.name: found.integer(field.name) for field in fields(Account)})


class Controlled:
    """One controller with its account, from bytes to bytes."""

    def __init__(self, policy: Policy, *, in_arrival_order: bool, kept: bytes | None) -> None:
        self.in_arrival_order = in_arrival_order
        self.idle = (effective(policy).idle or 0) // TICKS_PER_MS
        self.controller = controller_of(policy)
        self.account = Account()
        if kept is not None:
            self.controller.restore(unpack(kept, "control", VERSION).blob("controller"))
            self.account = account_in(kept)

    def enter(self, frames: Iterable[pd.DataFrame]) -> Account:
        """The account after the batch that these summary rows make up."""
        batch = unpacked(frames, in_arrival_order=self.in_arrival_order)
        self.account = ticked(self.controller, observed(self.controller, self.account, batch), batch, self.idle)
        return self.account

    def kept(self) -> bytes:
        return pack("control", VERSION, {**asdict(self.account), "controller": self.controller.state()})


class Punctuate(StatefulProcessor):
    """Hosts one controller in Spark's state store: each batch yields one row with the punctuation and the account."""

    def __init__(self, policy: Policy, *, in_arrival_order: bool) -> None:
        self.policy = policy
        self.in_arrival_order = in_arrival_order

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.state = handle.getValueState("controller", "state binary")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        found = self.state.get()
        kept = None if found is None else bytes(found[0])
        controlled = Controlled(self.policy, in_arrival_order=self.in_arrival_order, kept=kept)
        account = controlled.enter(rows)
        self.state.update((controlled.kept(),))
        yield pd.DataFrame([asdict(account)])

    def close(self) -> None:
        """Nothing is open: Spark owns the state."""


@dataclass(frozen=True, slots=True)
class PunctuateInFiles:
    """Hosts one controller with its state in files of the query's checkpoint, one per batch, for `mapInArrow`.

    A stateless operator costs half of a stateful one (docs/design/control.md). What it reads and writes is told by the
    number of the batch, so that a repeated batch does the same again.
    """

    policy: Policy
    folder: str
    in_arrival_order: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        frames = [batch.to_pandas() for batch in batches if batch.num_rows]
        files, number = StateFiles(self.folder), batch_number()
        kept = files.read(number)
        if not frames:
            files.write(number, kept or b"")
            return
        controlled = Controlled(self.policy, in_arrival_order=self.in_arrival_order, kept=kept or None)
        account = controlled.enter(frames)
        files.write(number, controlled.kept())
        yield pa.RecordBatch.from_pylist([asdict(account)])


def observed(controller: Controller, before: Account, batch: Batch) -> Account:
    """The account after a batch: rows are late against the punctuation *before* it (language.md)."""
    after_epoch = batch.event >= EPOCH
    source = None if batch.source is None else batch.source[after_epoch]
    punctuation = controller.observe(batch.event[after_epoch], batch.arrival[after_epoch], source)
    progress = controller.progress
    clock = max(before.clock, int(batch.arrival.max(initial=EPOCH)))
    on_time = batch.event >= before.punctuation
    waited = int(np.sum(clock - batch.arrival[on_time], dtype=np.int64))
    return replace(
        before,
        punctuation=max(before.punctuation, EPOCH if punctuation == NO_PUNCTUATION else punctuation),
        rows=before.rows + batch.rows,
        late=before.late + int(np.count_nonzero(~on_time)),
        untimed=before.untimed + batch.rows - len(batch.event),
        suspect=progress.suspect,
        held=progress.held,
        clock=clock,
        newest=max(before.newest, _newest(batch, controller.skew)),
        silence=0 if batch.rows else before.silence,
        # Little: what is held from one batch to the next waits for as long as the clock moves between them.
        held_time=before.held_time + waited + (before.held * (clock - before.clock) if before.clock else 0),
    )


def ticked(controller: Controller, before: Account, batch: Batch, idle: int) -> Account:
    """The account after a tick. A stream that is silent for longer than `idle` is taken to go on with the clock from
    its newest row; one that has ended goes `beyond` all its windows."""
    newest = before.newest or batch.newest
    silence = 0 if batch.rows else max(batch.silence, before.silence)
    targets = [newest + silence - idle] if silence > idle else []
    targets += [] if batch.beyond is None else [newest + batch.beyond]
    if not targets or not newest:
        return before
    return replace(
        before,
        punctuation=max(before.punctuation, controller.advance(max(targets))),
        held=controller.progress.held,
        silence=silence,
        held_time=before.held_time + before.held * (silence - before.silence),
    )


def _newest(batch: Batch, skew: int) -> int:
    return int(batch.event[minus(batch.event, batch.arrival) <= skew].max(initial=EPOCH))
