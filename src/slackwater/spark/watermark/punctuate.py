"""A controller with its account: the step from batch to batch, with a state that is kept as bytes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace

import numpy as np

from slackwater.algebra.lengths import TICKS_PER_MS
from slackwater.algebra.nodes import Policy
from slackwater.algebra.policies import longest_silence
from slackwater.disorder import NO_PUNCTUATION, Controller
from slackwater.disorder.clock import LATEST, minus
from slackwater.disorder.state import pack, unpack
from slackwater.spark.watermark.policy import controller_of
from slackwater.spark.watermark.readings import Batch, Reading

EPOCH = 0
"""Spark's watermark starts here: a row before 1970 is late to every query that has a watermark."""
VERSION = 1
LATER = {"furthest", "capped", "capped_time", "ahead", "lost"}
"""Fields that were added to accounts of version 1 later: an older checkpoint may not have them."""
EVERY_ROW = -1
"""The value of `furthest` in a tick, and of `ahead` in an account, that means: release every row."""
END = LATEST // TICKS_PER_MS - 1
"""The latest possible punctuation: in microseconds, Spark's unit, it must fit into int64."""


@dataclass(frozen=True, slots=True)
class Account:
    """The counts and times of the control of one stream since the query began.

    Times are in milliseconds, points in time since 1970: `datetime.fromtimestamp(account.punctuation / 1000)`.

    rows         all rows = `on_time` + `late` + `untimed`, exactly
    late         rows behind the punctuation when they came; `late / rows` is held against DRATIO
    lost         late rows that an answer left out, since it was given before they came: they missed a window, or their
                 place among the rows. Of a DataFrame the windows are not known: its late rows that missed their place,
                 which a window of the query may still take in
    untimed      rows without an event time
    suspect      rows stamped more than SKEW after their arrival, which move nothing; they are among the others
    punctuation  what has happened before it is taken to be complete: the watermark. 0 before there is one
    newest       the newest event time of a row that is not suspect
    furthest     the newest event time of all rows whose windows no flush has closed yet
    ahead        for the batch of a flush that releases suspect rows: Spark's watermark (EVERY_ROW for a changelog);
                 otherwise 0
    clock        the latest arrival
    silence      how long ago that was when a tick last told; 0 while rows come
    held         rows that wait for the punctuation to pass them
    held_time    how long rows have waited, all together: `held_time / on_time` is the mean
    capped       rows that came while WITHIN, SLACK or BSIZE had raised the punctuation: for them the ratio was given up
    capped_time  for how long that was so, by the arrivals
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
    furthest: int = EPOCH
    capped: int = 0
    capped_time: int = 0
    ahead: int = EPOCH
    lost: int = 0

    @property
    def on_time(self) -> int:
        return self.rows - self.late - self.untimed

    @property
    def closed(self) -> bool:
        """Return whether the punctuation is beyond the newest row, after a flush or a silence."""
        return bool(self.newest) and self.punctuation > self.newest


def account_in(kept: bytes) -> Account:
    """Return the account in the kept state of a control."""
    found = unpack(kept, "control", VERSION)
    lacking = LATER - set(found.batch.schema.names)
    return Account(**{field.name: found.integer(field.name) for field in fields(Account) if field.name not in lacking})


class Controlled:
    """One controller with its account, restored from `kept`. It is that of the policy, unless one is given."""

    def __init__(
        self, policy: Policy, *, in_arrival_order: bool, kept: bytes | None, controller: Controller | None = None
    ) -> None:
        self.in_arrival_order = in_arrival_order
        self.idle = longest_silence(policy) // TICKS_PER_MS
        self.controller = controller or controller_of(policy)
        self.account = Account()
        if kept is not None:
            self.controller.restore(unpack(kept, "control", VERSION).blob("controller"))
            self.account = account_in(kept)

    def enter(self, reading: Reading) -> Account:
        """Give a batch and its ticks to the controller, and return the account after it."""
        after = observe_batch(self.controller, self.account, reading)
        self.account = observe_ticks(self.controller, after, reading.batch, self.idle)
        return self.account

    @property
    def delay(self) -> int:
        """Return the milliseconds from the watermark to the newest row, or IDLE if there is no watermark yet."""
        account = self.account
        return max(0, account.newest - account.punctuation) if account.punctuation else self.idle

    def kept(self) -> bytes:
        return pack("control", VERSION, {**asdict(self.account), "controller": self.controller.state()})


def observe_batch(controller: Controller, before: Account, reading: Reading) -> Account:
    """Give a batch to the controller and return the account after it.

    A row is late if it is before the punctuation *before* the batch (docs/semantics.md).
    """
    rows, capping = reading.batch.rows, controller.progress.capping
    counts = _counts(controller, before, reading)
    progress = controller.progress
    clock = max(before.clock, counts.clock)
    return replace(
        before,
        punctuation=max(before.punctuation, EPOCH if progress.punctuation == NO_PUNCTUATION else progress.punctuation),
        rows=before.rows + rows,
        late=before.late + counts.late,
        lost=before.lost + reading.lost,
        untimed=before.untimed + rows - counts.late - counts.on_time,
        suspect=before.suspect + counts.suspect,
        held=progress.held,
        clock=clock,
        newest=max(before.newest, counts.newest),
        furthest=max(before.furthest, counts.furthest),
        silence=0 if rows else before.silence,
        capped=progress.capped,
        capped_time=before.capped_time + (max(0, clock - before.clock) if capping and before.clock else 0),
        # Little's law: rows that are held from one batch to the next wait for as long as the clock moves between them.
        held_time=before.held_time
        + _wrapped(clock * counts.on_time - counts.arrivals)
        + (before.held * (clock - before.clock) if before.clock else 0),
    )


@dataclass(frozen=True, slots=True)
class _Counts:
    """Counts of a batch: late rows, rows on time and the sum of their arrivals, suspect rows, and the latest times."""

    late: int
    on_time: int
    suspect: int
    arrivals: int
    clock: int
    newest: int
    furthest: int


def _counts(controller: Controller, before: Account, reading: Reading) -> _Counts:
    """Give a batch to the controller, as rows or as sums, and return the counts of the batch."""
    sums = reading.sums
    if sums is None:
        return _listed(controller, before, reading.batch)
    if sums.tally is None and len(reading.batch.event):
        _observe(controller, reading.batch)
    else:
        controller.enter(sums.tally, sums.late - sums.early, sums.suspect)
    latest = max(EPOCH, sums.clock), max(EPOCH, sums.newest), max(EPOCH, sums.furthest)
    return _Counts(sums.late, sums.on_time, sums.suspect, sums.arrivals, *latest)


def _listed(controller: Controller, before: Account, batch: Batch) -> _Counts:
    suspect = _observe(controller, batch)
    on_time = batch.event >= before.punctuation
    arrivals = int(batch.arrival[on_time].sum(dtype=np.int64))
    late = int(np.count_nonzero(~on_time))
    latest = (
        int(batch.arrival.max(initial=EPOCH)),
        _newest(batch, controller.skew),
        int(batch.event.max(initial=EPOCH)),
    )
    return _Counts(late, len(on_time) - late, suspect, arrivals, *latest)


def _observe(controller: Controller, batch: Batch) -> int:
    """Give the rows of a batch to the controller, and return how many of them are suspect."""
    before, after_epoch = controller.progress.suspect, batch.event >= EPOCH
    source = None if batch.source is None else batch.source[after_epoch]
    controller.observe(batch.event[after_epoch], batch.arrival[after_epoch], source)
    return controller.progress.suspect - before


def _wrapped(time: int) -> int:
    """Return a difference of two sums, one of which may have overflowed int64."""
    return (time + 2**63) % 2**64 - 2**63


def observe_ticks(controller: Controller, before: Account, batch: Batch, idle: int) -> Account:
    """Return the account after the ticks of a batch.

    If a stream is silent for longer than `idle`, its punctuation follows the clock: it is as far beyond the newest row
    as the silence is longer than `idle`. A stream that has ended is flushed.
    """
    newest = before.newest or batch.newest
    silence = 0 if batch.rows else max(batch.silence, before.silence)
    if silence > idle and newest:
        controller.advance(newest + silence - idle)
    elif batch.beyond is None:
        return before if before.ahead == EPOCH else replace(before, ahead=EPOCH)
    standing = max(before.punctuation, controller.progress.punctuation)
    ahead = EPOCH
    if batch.beyond is not None:
        standing, ahead = flush_punctuation(controller, newest, standing, batch.beyond, batch)
    return replace(
        before,
        punctuation=standing,
        ahead=ahead,
        furthest=before.furthest if batch.beyond is None or batch.furthest else before.newest,
        held=controller.progress.held,
        silence=silence,
        held_time=before.held_time + before.held * (silence - before.silence),
    )


def flush_punctuation(controller: Controller, newest: int, standing: int, beyond: int, batch: Batch) -> tuple[int, int]:
    """Return the punctuation after a tick of a flush, `beyond` the newest row, and the watermark that goes ahead of it.

    Neither the controller nor the punctuation follows suspect rows. Spark's watermark goes beyond the furthest row for
    one batch; the next tick of the flush, without that row, takes it back. A changelog releases every row instead, for
    which the punctuation must move by at least a millisecond.
    """
    every = batch.furthest == EVERY_ROW
    if newest:
        controller.advance(min(max(newest + beyond, batch.newest + beyond, standing + every), END))
    standing = max(controller.progress.punctuation, standing, EPOCH)
    if every:
        return standing, EVERY_ROW
    return standing, max(min(batch.furthest + beyond, END), standing) if batch.furthest else EPOCH


def _newest(batch: Batch, skew: int) -> int:
    return int(batch.event[minus(batch.event, batch.arrival) <= skew].max(initial=EPOCH))
