"""The controller inside a query: its state is Spark's state, its punctuations are rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from slackwater.algebra.nodes import Policy
from slackwater.disorder import NO_PUNCTUATION, Controller
from slackwater.disorder.state import pack, unpack
from slackwater.spark.policy import controller_of
from slackwater.spark.summary import Batch, unpacked

EPOCH = 0
"""Spark's watermark starts here: a row before 1970 is late to every query that has a watermark."""
VERSION = 1


@dataclass(frozen=True, slots=True)
class Account:
    """What the control of one stream has seen since the query began; times in milliseconds.

    `rows` = on time + `late` + `untimed`, exactly; `suspect` rows are among the others.
    """

    punctuation: int = EPOCH
    rows: int = 0
    late: int = 0
    untimed: int = 0
    suspect: int = 0
    held: int = 0
    clock: int = EPOCH
    held_time: int = 0

    @property
    def on_time(self) -> int:
        return self.rows - self.late - self.untimed


ACCOUNT_SCHEMA = ", ".join(f"{field.name} long" for field in fields(Account))


class Punctuate(StatefulProcessor):
    """Hosts one controller: each batch of summary rows yields one row with the punctuation and the account."""

    def __init__(self, policy: Policy, *, in_arrival_order: bool) -> None:
        self.policy = policy
        self.in_arrival_order = in_arrival_order

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.kept = handle.getValueState("controller", "state binary")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        controller, account = self._restored()
        account = observed(controller, account, unpacked(rows, in_arrival_order=self.in_arrival_order))
        record = pack("control", VERSION, {**asdict(account), "controller": controller.state()})
        self.kept.update((record,))
        yield pd.DataFrame([asdict(account)])

    def close(self) -> None:
        """Nothing is open: Spark owns the state."""

    def _restored(self) -> tuple[Controller, Account]:
        controller = controller_of(self.policy)
        kept = self.kept.get()
        if kept is None:
            return controller, Account()
        found = unpack(bytes(kept[0]), "control", VERSION)
        controller.restore(found.blob("controller"))
        return controller, Account(**{field.name: found.integer(field.name) for field in fields(Account)})


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
        # Little: what is held from one batch to the next waits for as long as the clock moves between them.
        held_time=before.held_time + waited + (before.held * (clock - before.clock) if before.clock else 0),
    )
