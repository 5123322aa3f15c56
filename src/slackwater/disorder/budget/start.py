"""The start of a stream: how old it is, and which share of its rows is probably later than that."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slackwater.disorder.budget.histogram import BUCKETS, PER_OCTAVE, bucket
from slackwater.disorder.budget.tail import beyond
from slackwater.disorder.clock import EARLIEST, Times, clamp, minus
from slackwater.disorder.state import Fields, Value
from slackwater.disorder.tally import Tally

Floats = NDArray[np.float64]

STEP = PER_OCTAVE // 4
"""Of buckets: the age of a stream is in one step until it has grown by a fifth or so."""


class Start:
    """When a stream began, by its first row, and which rows it has shown since.

    A row that had been sent before is later than the stream was old as it came. The stream gets older, so the share of
    these is that of the step of age that it is in and of the one before.

    >>> start = Start()
    >>> start.begin(Tally.of(np.array([100, 40, 108, 109]), np.array([100, 108, 109, 110])))
    >>> start.sent_before                               # 40 is one of the three rows of the last two steps
    0.3333333333333333
    >>> start.enter(Tally.of(np.array([190, 191]), np.array([200, 201])), clock=201, began=100)
    >>> start.sent_before
    0.0
    """

    __slots__ = ("_before", "_events", "_rows", "_step", "arrival", "delayed", "event")

    def __init__(self) -> None:
        self.arrival = self.event = EARLIEST
        self._step = self.delayed = 0
        self._rows: Times = np.zeros(2, np.int64)
        self._before: Times = np.zeros(2, np.int64)
        self._events: Floats = np.zeros(BUCKETS)  # rows by how long after the start their event time is

    def begin(self, batch: Tally) -> None:
        """The first batch is looked at row by row."""
        event, arrival = batch.rows
        self.arrival, self.event = int(arrival[0]), int(event[0])
        steps = _step(minus(arrival, np.int64(self.arrival)))
        self._step = int(steps.max())
        back = np.minimum(self._step - steps, 2)
        self._rows = np.bincount(back, minlength=3)[:2]
        self._before = np.bincount(back[event < self.event], minlength=3)[:2]

    def enter(self, batch: Tally, clock: int, began: int) -> None:
        """A later batch, the arrival clock after it, and the event time at which the stream began."""
        step = max(self._step, int(_step(np.array([self._age(clock)]))[0]))
        new = np.zeros(min(2, step - self._step), np.int64)
        self._rows, self._before = (np.append(new, each)[:2] for each in (self._rows, self._before))
        self._step = step
        self._rows[0] += batch.size
        self._before[0] += batch.before(began)

    def count(self, batch: Tally, began: int) -> None:
        """Enter the event times of any batch."""
        event, rows = batch.since(began)
        placed = np.bincount(bucket(minus(event, np.int64(began))), weights=rows)
        self._events[: len(placed)] += placed

    @property
    def sent_before(self) -> float:
        return float(self._before.sum() / max(1, int(self._rows.sum())))

    def later(self, delays: Floats, age: int, *, released: bool, grain: int) -> float:
        """The share of rows that are probably later than the stream is old, by the number of rows per delay so far."""
        return beyond(delays, self._events, age, released=released, grain=grain)

    def elapsed(self, clocks: tuple[int, int]) -> tuple[int, int]:
        """How far the arrival clock and the newest timestamp had moved since the first row."""
        return self._age(clocks[0]), clamp(clocks[1] - self.event)

    def _age(self, clock: int) -> int:
        return clamp(clock - self.arrival)

    def fields(self) -> dict[str, Value]:
        return {
            "first_arrival": self.arrival,
            "first_event": self.event,
            "delayed": self.delayed,
            "step": self._step,
            "step_rows": self._rows,
            "step_before": self._before,
            "start_events": self._events,
        }

    def restore(self, fields: Fields) -> None:
        self.arrival, self.event = fields.integer("first_arrival"), fields.integer("first_event")
        self.delayed, self._step = fields.integer("delayed"), fields.integer("step")
        self._rows, self._before = fields.times("step_rows"), fields.times("step_before")
        self._events = fields.numbers("start_events")


def _step(age: Times) -> Times:
    return bucket(age) // STEP
