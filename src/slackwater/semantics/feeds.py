"""Finite streams as they arrive: batches of rows, a punctuation after each, and the resulting clock.

Batches are numbered from 0. The punctuation in force in batch N is the one given after batch N - 1; before the first it
is the beginning of time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

BEGINNING = -(2**63)
"""The punctuation before the first batch: no row is late."""
END_OF_TIME = 2**63 - 1
"""The punctuation of a flush under EMIT FINAL, and the end of a lifetime without an end."""


@dataclass(frozen=True, slots=True)
class FeedBatch:
    """Rows in order of arrival, and the punctuation that the controller gives after them.

    None repeats the previous punctuation. A batch may be empty.
    """

    rows: tuple[Mapping[str, Any], ...] = ()
    punctuation: int | None = None


@dataclass(frozen=True, slots=True)
class Feed:
    """One stream, as the batches in which it arrives.

    >>> Feed.of([{"t": 1}, {"t": 2}], punctuations=[2], cuts=[1])
    Feed(batches=(FeedBatch(rows=({'t': 1},), punctuation=2), FeedBatch(rows=({'t': 2},), punctuation=None)))
    """

    batches: tuple[FeedBatch, ...] = ()

    @classmethod
    def of(
        cls, rows: Sequence[Mapping[str, Any]], punctuations: Sequence[int | None] = (), cuts: Iterable[int] = ()
    ) -> Feed:
        """Return the rows cut before the given positions. Missing punctuations repeat the last one."""
        edges = [0, *cuts, len(rows)]
        parts = [tuple(rows[start:end]) for start, end in pairwise(edges)]
        given = [*punctuations, *[None] * max(0, len(parts) - len(punctuations))]
        parts += [()] * (len(given) - len(parts))
        return cls(tuple(FeedBatch(part, mark) for part, mark in zip(parts, given, strict=True)))


@dataclass(frozen=True, slots=True)
class Clock:
    """The punctuation in force in each batch of a run. It never goes back (WIN, after 6.2).

    >>> clock = Clock.of([5, 3, None], batches=4)
    >>> clock.in_force == (BEGINNING, 5, 5, 5), clock.first_beyond(4), clock.first_beyond(5)
    (True, 1, None)

    With `everything` the last batch, a flush under EMIT CHANGES, releases every row, also rows beyond its punctuation.
    """

    in_force: tuple[int, ...]
    everything: bool = False

    @classmethod
    def of(cls, punctuations: Sequence[int | None], batches: int) -> Clock:
        """Return the clock of one stream over `batches` batches."""
        in_force, latest = [BEGINNING], BEGINNING
        for mark in [*punctuations, *[None] * batches]:
            latest = latest if mark is None else max(latest, mark)
            in_force.append(latest)
        return cls(tuple(in_force[:batches]))

    def add_flush(self, end: int, furthest: int) -> Clock:
        """Return the clock with a flush: one more batch, in which the punctuation is `end` and every row is released.

        If the `furthest` row is beyond `end`, there must be a tick in which it is released.
        """
        rest = furthest >= max([*self.in_force, end])
        return Clock((*self.in_force, max([*(mark + rest for mark in self.in_force), end])), rest)

    def at(self, batch: int) -> int:
        """Return the punctuation in force in a batch; before the first batch, the beginning of time."""
        return self.in_force[batch] if batch >= 0 else BEGINNING

    def first_beyond(self, time: int) -> int | None:
        """Return the first batch whose punctuation is greater than `time`.

        A window that ends at `time` is complete there.
        """
        return next((batch for batch, mark in enumerate(self.in_force) if mark > time), None)

    def slower(self, other: Clock) -> Clock:
        """Return the clock of an operator that needs both streams: the smaller punctuation of each batch."""
        slower = tuple(min(one, two) for one, two in zip(self.in_force, other.in_force, strict=True))
        return Clock(slower, self.everything and other.everything)

    def wait_for_slots(self, length: int) -> Clock:
        """Return the clock of rows that are known only when a slot of this length has passed."""
        ends = (BEGINNING, END_OF_TIME)
        slotted = tuple(mark if mark in ends else mark - mark % length for mark in self.in_force)
        return Clock(slotted, self.everything)

    @property
    def latest(self) -> int:
        """Return the last punctuation that is not a flush."""
        return max((mark for mark in self.in_force if mark != END_OF_TIME), default=BEGINNING)

    @property
    def flushed(self) -> bool:
        return END_OF_TIME in self.in_force
