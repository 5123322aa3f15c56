"""What gauges tell of a batch: rows, or what they add up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slackwater.disorder.clock import EARLIEST, Times
from slackwater.disorder.held import Run, merged
from slackwater.disorder.tally import LAST, Tally

NONE = EARLIEST
HEAD = 8
SUMS = 8


@dataclass(frozen=True, slots=True)
class Batch:
    """The rows of one micro-batch in arrival order; `rows` counts those without an event time as well.

    A tick says for how long no row has come (`silence`), or that no more will (`beyond`: how far the punctuation
    is to go beyond the newest row); `newest` is that of any stream of the query.
    """

    rows: int
    event: Times
    arrival: Times
    source: Times | None = None
    silence: int = 0
    beyond: int | None = None
    newest: int = 0


@dataclass(frozen=True, slots=True)
class Sums:
    """A batch that was added up: all rows that are behind the punctuation (`late`), before 1970 (`early`), from the
    future (`suspect`) or `on_time`, of which `arrivals` is the sum; the latest arrival; and the tally of the others."""

    late: int
    early: int
    suspect: int
    on_time: int
    arrivals: int
    clock: int
    tally: Tally | None


@dataclass(frozen=True, slots=True)
class Reading:
    """The readings of all partitions: a batch of rows, with `sums` of them where those are not listed."""

    batch: Batch
    sums: Sums | None = None


class Cut:
    """Takes one number, or one row of numbers with its length before it, after the other."""

    def __init__(self, values: Times) -> None:
        self.values = values
        self.at = 0

    def take(self, count: int) -> Times:
        found = self.values[self.at : self.at + count]
        self.at += count
        return found

    def listed(self) -> Times:
        return self.take(int(self.take(1)[0]))

    def counted(self) -> Run:
        """Values with their counts: those near a base, each pair in one number, then the others."""
        base, near = int(self.take(1)[0]), self.listed()
        value, count = self.listed().reshape(-1, 2).T
        return np.concatenate([base + (near >> 32), value]), np.concatenate([near & 0xFFFFFFFF, count])


def read(parts: Sequence[bytes], *, in_arrival_order: bool) -> Reading:
    """The reading that the partitions' readings make up, in the order of the partitions."""
    cuts = [Cut(np.frombuffer(part, "<i8")) for part in parts]
    heads = np.array([cut.take(HEAD) for cut in cuts], np.int64).reshape(-1, HEAD)
    rows = int(heads[:, 2].sum())
    silence, beyond, newest = (_told(heads[:, place]) for place in (4, 5, 6))
    tick = silence or 0, beyond, newest or 0
    if len(heads) and heads[:, 7].all():
        empty = np.empty(0, np.int64)
        return Reading(Batch(rows, empty, empty, None, *tick), _added_up(cuts))
    event, arrival, source = _joined([[cut.listed() for _ in range(3)] for cut in cuts])
    if in_arrival_order and np.any(arrival[1:] < arrival[:-1]):
        order = np.argsort(arrival, kind="stable")
        event, arrival = event[order], arrival[order]
        source = source[order] if len(source) else source
    return Reading(Batch(rows, event, arrival, source if len(source) else None, *tick))


def _added_up(cuts: Sequence[Cut]) -> Sums:
    sums = np.array([cut.take(SUMS) for cut in cuts], np.int64)
    late, early, suspect, on_time, arrivals = sums[:, :5].sum(axis=0).tolist()
    counted = [(cut.counted(), cut.counted()) for cut in cuts]
    last = [(cut.listed(), cut.listed()) for cut in cuts]
    event, count = merged([each[0] for each in counted])
    tally = None
    if len(event):
        delay, delay_count = merged([each[1] for each in counted])
        last_event, last_arrival = _joined(last)
        order = np.argsort(last_arrival, kind="stable")
        last_event, last_arrival = last_event[order], last_arrival[order]
        before = int(max(sums[:, 6].max(), last_event[:-LAST].max(initial=EARLIEST)))
        clock_before = int(max(sums[:, 7].max(), last_arrival[:-LAST].max(initial=EARLIEST)))
        clock = max(clock_before, int(last_arrival[-1]))
        lasts = last_event[-LAST:], last_arrival[-LAST:]
        tally = Tally(event, count, clock, delay, delay_count, *lasts, before, clock_before)
    return Sums(late, early, suspect, on_time, arrivals, int(sums[:, 5].max()), tally)


def _joined(parts: Sequence[Sequence[Times]]) -> list[Times]:
    return [np.concatenate(each) for each in zip(*parts, strict=True)] or [np.empty(0, np.int64)] * 3


def _told(values: Times) -> int | None:
    found = int(values.max(initial=NONE))
    return None if found == NONE else found
