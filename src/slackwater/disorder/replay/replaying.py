"""Replay a recorded stream through a controller and measure the result.

The clock of a batch is the arrival of its last row, because that is when its punctuation is known. A row is late if its
event time is below the punctuation of the batch before its own. A row is held from its arrival to the first batch whose
punctuation has reached its event time; a row that no punctuation reached is held to the end of the recording. Late rows
are lost, not held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

NOTHING_YET = np.iinfo(np.int64).min


class Observer(Protocol):
    """A controller or an estimator to replay."""

    def observe(self, event: Ints, arrival: Ints, source: NDArray[Any] | None = None) -> int: ...


@dataclass(frozen=True, slots=True)
class Measures:
    """The late rows and the hold of a replay. Times are in the stream's own unit."""

    rows: int
    late: int
    mean_hold: float
    p99_hold: float
    mean_held: float
    max_held: int
    worst_tenth: float

    @property
    def late_share(self) -> float:
        return self.late / self.rows if self.rows else 0.0


@dataclass(frozen=True, slots=True)
class Batches:
    """A stream cut into micro-batches: the end of each, and its clock (the arrival of its last row)."""

    event: Ints
    arrival: Ints
    source: NDArray[Any] | None
    ends: Ints
    clock: Ints

    @property
    def batch_of(self) -> Ints:
        """Return the number of the batch of each row."""
        return np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))

    def __iter__(self) -> Iterator[tuple[Ints, Ints, NDArray[Any] | None]]:
        start = 0
        for end in self.ends.tolist():
            source = None if self.source is None else self.source[start:end]
            yield self.event[start:end], self.arrival[start:end], source
            start = end

    def before(self, per_batch: Ints, first: int = NOTHING_YET) -> Ints:
        """Return, for each row, the value after the batch before its own."""
        return np.concatenate([np.array([first], np.int64), per_batch[:-1]])[self.batch_of]


def batches_by_rows(event: Ints, arrival: Ints, rows: int, source: NDArray[Any] | None = None) -> Batches:
    """Cut a stream every `rows` rows.

    >>> batches_by_rows(np.arange(5), np.arange(5), 2).ends
    array([2, 4, 5])
    """
    ends = np.append(np.arange(rows, len(event), rows), len(event))
    return _batches(event, arrival, source, ends)


def batches_by_time(event: Ints, arrival: Ints, length: int, source: NDArray[Any] | None = None) -> Batches:
    """Cut a stream every `length` ticks of the arrival clock, as a trigger interval does.

    Empty batches are left out.
    """
    trigger = (arrival - arrival[0]) // length
    ends = np.append(np.flatnonzero(np.diff(trigger)) + 1, len(event))
    return _batches(event, arrival, source, ends)


def _batches(event: Ints, arrival: Ints, source: NDArray[Any] | None, ends: Ints) -> Batches:
    ends = np.unique(ends[ends > 0]).astype(np.int64)
    clock = np.maximum.accumulate(arrival)[ends - 1]
    return Batches(event.astype(np.int64), arrival.astype(np.int64), source, ends, clock)


def replay(
    batches: Batches, observer: Observer, progress: Callable[[int], None] | None = None
) -> tuple[Ints, Measures]:
    """Return the punctuation after each batch, and the measures of the replay."""
    punctuation = np.empty(len(batches.ends), np.int64)
    for number, (event, arrival, source) in enumerate(batches):
        punctuation[number] = observer.observe(event, arrival, source)
        if progress is not None:
            progress(len(event))
    return punctuation, measure(batches, punctuation)


def late_rows(batches: Batches, punctuation: Ints) -> Bools:
    """Return a mask of the rows below the punctuation of the batch before their own."""
    return batches.event < batches.before(punctuation)


def holds(batches: Batches, punctuation: Ints) -> tuple[Floats, Ints]:
    """Return how long each row is held, and the batch after which it is released (the number of batches if never)."""
    released = np.maximum(np.searchsorted(punctuation, batches.event, side="left"), batches.batch_of)
    clock = np.append(batches.clock, batches.clock[-1])
    return (clock[released] - batches.arrival).astype(np.float64), released


def measure(batches: Batches, punctuation: Ints) -> Measures:
    """Return late share, hold, rows held and the worst tenth of one run."""
    late = late_rows(batches, punctuation)
    hold, released = holds(batches, punctuation)
    kept = hold[~late]
    arrived = np.cumsum(np.bincount(batches.batch_of[~late], minlength=len(batches.ends)))
    gone = np.cumsum(np.bincount(released[~late], minlength=len(batches.ends) + 1))[:-1]
    held = arrived - gone
    return Measures(
        rows=len(late),
        late=int(late.sum()),
        mean_hold=float(kept.mean()) if len(kept) else 0.0,
        p99_hold=float(np.quantile(kept, 0.99)) if len(kept) else 0.0,
        mean_held=float(held.mean()),
        max_held=int(held.max()),
        worst_tenth=worst_share(late, max(1, len(late) // 10)),
    )


def worst_share(late: Bools, window: int) -> float:
    """Return the largest late share over any `window` consecutive rows.

    >>> worst_share(np.array([True, False, True, True]), 2)
    1.0
    """
    total = np.concatenate([[0], np.cumsum(late)])
    return float((total[window:] - total[:-window]).max() / window)
