"""Decode the readings of gauges: the rows of a batch, or sums over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slackwater.disorder.clock import EARLIEST, Times
from slackwater.disorder.held import Run, merged
from slackwater.disorder.tally import LAST, Tally

NONE = EARLIEST
HEAD = 9
SUMS = 11
CLOSE = 1 << 20
"""The largest range of values that is counted in an array. For a larger range, an array takes longer than a sort."""
LISTED, ADDED_UP = 0, 1
"""Kinds of reading: rows, or sums. A third kind has both, perhaps with a sample of the rows."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The rows of one micro-batch in arrival order; `rows` counts those without an event time as well.

    A tick says for how long no row has come (`silence`), or that no more will (`beyond`: how far the punctuation
    is to go beyond the newest row). `newest` is the newest row of any stream of the query that is not suspect,
    `furthest` the newest of all, if the punctuation is to go beyond that.
    """

    rows: int
    event: Times
    arrival: Times
    source: Times | None = None
    silence: int = 0
    beyond: int | None = None
    newest: int = 0
    furthest: int = 0


@dataclass(frozen=True, slots=True)
class BatchSums:
    """Sums over a batch: the numbers of rows before the punctuation (`late`), before 1970 (`early`), from the future
    (`suspect`) and `on_time`.

    `arrivals` is the sum of the arrivals of rows on time, `clock` the latest arrival, `newest` the newest row that is
    neither early nor suspect, `tally` the tally of such rows unless they are listed, `furthest` the newest of all rows.
    """

    late: int
    early: int
    suspect: int
    on_time: int
    arrivals: int
    clock: int
    newest: int
    tally: Tally | None
    furthest: int


@dataclass(frozen=True, slots=True)
class Reading:
    """The readings of all partitions: a batch of rows, and `sums` over them if not all are listed.

    `lost` is the number of rows that missed a window, or their place.
    """

    batch: Batch
    sums: BatchSums | None = None
    lost: int = 0


class NumberReader:
    """Reads numbers, and lists of numbers that begin with their length, one after the other."""

    def __init__(self, values: Times) -> None:
        self.values = values
        self.at = 0

    def take(self, count: int) -> Times:
        found = self.values[self.at : self.at + count]
        self.at += count
        return found

    def read_list(self) -> Times:
        return self.take(int(self.take(1)[0]))

    def read_counts(self) -> Run:
        """Read values with their counts: first those near a base, packed as one number each, then the others."""
        base, near = int(self.take(1)[0]), self.read_list()
        value, count = self.read_list().reshape(-1, 2).T
        return np.concatenate([base + (near >> 32), value]), np.concatenate([near & 0xFFFFFFFF, count])


def read_parts(parts: Sequence[bytes], *, in_arrival_order: bool) -> Reading:
    """Return the reading of a batch from those of its partitions, in the order of the partitions."""
    cuts = [NumberReader(np.frombuffer(part, "<i8")) for part in parts]
    heads = np.array([cut.take(HEAD) for cut in cuts], np.int64).reshape(-1, HEAD)
    rows = int(heads[:, 2].sum())
    silence, beyond, newest, furthest = (_told(heads[:, place]) for place in (4, 5, 6, 7))
    tick = silence or 0, beyond, newest or 0, furthest or 0
    sums = np.array([cut.take(SUMS) for cut in cuts], np.int64).reshape(-1, SUMS)
    lost = int(sums[:, 10].sum())
    kinds = set(heads[:, 8].tolist())
    if kinds == {ADDED_UP}:
        empty = np.empty(0, np.int64)
        return Reading(Batch(rows, empty, empty, None, *tick), _added_up(sums, _tally(sums, cuts)), lost)
    event, arrival, source = _joined([[cut.read_list() for _ in range(3)] for cut in cuts])
    if in_arrival_order and np.any(arrival[1:] < arrival[:-1]):
        order = np.argsort(arrival, kind="stable")
        event, arrival = event[order], arrival[order]
        source = source[order] if len(source) else source
    batch = Batch(rows, event, arrival, source if len(source) else None, *tick)
    return Reading(batch, None if LISTED in kinds or not kinds else _added_up(sums, None), lost)


def write_listed(rows: int, event: Times, arrival: Times, source: Times) -> bytes:
    """Return the reading of a partition with so many rows, in which all rows with an event time are listed.

    >>> made = write_listed(3, np.array([5, 7]), np.array([6, 9]), np.array([], np.int64))
    >>> read_parts([made], in_arrival_order=True).batch
    Batch(rows=3, event=array([5, 7]), arrival=array([6, 9]), source=None, silence=0, beyond=None, newest=0, furthest=0)
    """
    head = [0, 0, rows, rows - len(event), *[NONE] * (HEAD - 5), LISTED]
    listed = [np.concatenate([[len(column)], column]) for column in (event, arrival, source)]
    return np.concatenate([head, np.zeros(SUMS, np.int64), *listed]).astype("<i8").tobytes()


def _added_up(sums: Times, tally: Tally | None) -> BatchSums:
    late, early, suspect, on_time, arrivals = sums[:, :5].sum(axis=0).tolist()
    clock, newest = sums[:, 5:7].max(axis=0).tolist()
    return BatchSums(late, early, suspect, on_time, arrivals, clock, newest, tally, int(sums[:, 9].max()))


def _tally(sums: Times, cuts: Sequence[NumberReader]) -> Tally | None:
    counted = [(cut.read_counts(), cut.read_counts()) for cut in cuts]
    event, arrival = _joined([(cut.read_list(), cut.read_list()) for cut in cuts])
    if not len(event):
        return None
    last = _last_arrived(arrival)
    others = np.ones(len(arrival), bool)
    others[last] = False
    newest_before = int(max(sums[:, 7].max(), event[others].max(initial=EARLIEST)))
    clock_before = int(max(sums[:, 8].max(), arrival[others].max(initial=EARLIEST)))
    return Tally(
        *_add_counts([times for times, _ in counted]),
        max(clock_before, int(arrival[last[-1]])),
        *_add_counts([delays for _, delays in counted]),
        event[last],
        arrival[last],
        newest_before,
        clock_before,
    )


def _last_arrived(arrival: Times) -> Times:
    """Return the places of the last rows, sorted by arrival; rows with the same arrival keep their order.

    >>> _last_arrived(np.array([5, 3, 5])).tolist()
    [1, 0, 2]
    """
    first = np.partition(arrival, -LAST)[-LAST] if len(arrival) > LAST else EARLIEST
    latest = np.flatnonzero(arrival >= first)
    return latest[np.argsort(arrival[latest], kind="stable")][-LAST:]


def _add_counts(runs: Sequence[Run]) -> Run:
    """Return each value once, sorted, with its total count.

    Values of a batch are mostly close together: then they are counted in an array, without a sort.

    >>> [each.tolist() for each in _add_counts([(np.array([7, 5]), np.array([1, 2])), (np.array([7]), np.array([3]))])]
    [[5, 7], [2, 4]]
    """
    value, count = np.concatenate([run[0] for run in runs]), np.concatenate([run[1] for run in runs])
    if not len(value) or int(value.max()) - int(value.min()) > CLOSE + 4 * len(value):
        return merged([(value, count)])
    low = value.min()
    found = np.bincount(value - low, weights=count)
    places = np.flatnonzero(found)
    return low + places, found[places].astype(np.int64)


def _joined(parts: Sequence[Sequence[Times]]) -> list[Times]:
    return [np.concatenate(each) for each in zip(*parts, strict=True)] or [np.empty(0, np.int64)] * 3


def _told(values: Times) -> int | None:
    found = int(values.max(initial=NONE))
    return None if found == NONE else found
