"""The smallest hold that any punctuation could have for a number of lost rows: exact, by a price per row.

A punctuation that never decreases closes event times in order. Let C(e) be the batch after which it passed e. A row of
batch b is lost iff b > C(e). The punctuation reached e, and released the rows that carry e, when it had passed the
event time before e: at A(e) = C(before e) <= C(e). So the state of a sweep over event times is one number, the batch C,
and with a price x per lost row

    f_e(C) = x * lost(e, C) + min over A <= C of [ f_before(A) + hold(e, A) ].

A state is dominated if a lower state costs no more, because the lower one can still move up. All states below every
batch to come are merged into one. The sweep yields g(x) = min(hold + x * lost), which is concave and piecewise linear.
Its tangents are intersected until one more sweep finds nothing below them. Then g(x) - x * late is the smallest hold at
`late` lost rows if that number is a corner of the convex hull. Between two corners it is the straight line that joins
them, which no punctuation can undercut.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from slackwater.disorder.replay.replaying import Batches, Floats, Ints

SWEEPS = 40
"""The most sweeps in the search for the price."""
THIN = 32
"""Event times between two calls of `thin`. Fewer calls keep more states; more calls cost more themselves."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """The smallest total hold at a number of lost rows, and the price of a row at which it is reached."""

    late: int
    rows: int
    hold: float
    price: float

    @property
    def mean_hold(self) -> float:
        kept = self.rows - self.late
        return self.hold / kept if kept else 0.0


@dataclass(frozen=True, slots=True)
class Tangent:
    """The result of one sweep: hold and lost rows of a cheapest punctuation at a price."""

    price: float
    hold: float
    lost: int

    def at(self, price: float) -> float:
        return self.hold + price * self.lost


def optimum(batches: Batches, late: int) -> Optimum:
    """Return the smallest hold at `late` lost rows.

    Searches the price at which a cheapest punctuation loses that many rows.
    """
    sweep = Sweep(batches)
    longest = float(batches.clock[-1] - batches.arrival.min()) + 1.0
    many = sweep(0.0)
    few = sweep(longest * len(batches.event))  # at this price no row is lost
    if many.lost <= late:
        return Optimum(late, len(batches.event), many.hold, 0.0)
    for _ in range(SWEEPS):
        price = (few.hold - many.hold) / (many.lost - few.lost)
        found = sweep(price)
        if found.at(price) >= few.at(price) - 1e-9 * (1.0 + abs(few.at(price))):
            break
        many, few = (found, few) if found.lost > late else (many, found)
    price = (few.hold - many.hold) / (many.lost - few.lost)
    return Optimum(late, len(batches.event), few.at(price) - price * late, price)


States = tuple[Ints, Floats, Ints]
"""Batches C in increasing order, the cost of each (decreasing), and the number of rows lost so far."""


class Sweep:
    """Rows in event order, and the dynamic programme over them at a given price."""

    def __init__(self, batches: Batches) -> None:
        order = np.lexsort((batches.batch_of, batches.event))
        self.batch = batches.batch_of[order]
        self.clock = (batches.clock - batches.clock[0]).astype(np.float64)
        self.wait = (batches.clock[self.batch] - batches.arrival[order]).astype(np.float64)
        event = batches.event[order]
        self.starts = np.flatnonzero(np.concatenate([[True], event[1:] != event[:-1]]))
        self.lowest = np.minimum.accumulate(self.batch[::-1])[::-1]  # the earliest batch of the remaining rows

    def groups(self) -> Iterator[tuple[int, int]]:
        """Return where the rows of each event time begin and end, in the order of their batches."""
        return zip(self.starts.tolist(), [*self.starts[1:].tolist(), len(self.batch)], strict=True)

    def __call__(self, price: float) -> Tangent:
        # Nothing is lost in the first batch, so the lowest state is 0.
        states: States = np.zeros(1, np.int64), np.zeros(1), np.zeros(1, np.int64)
        lowest, batches = self.lowest.tolist(), self.batch.tolist()
        penalty = price - self.wait
        to_come, counted = np.bincount(self.batch), 0
        for number, (start, end) in enumerate(self.groups()):
            if number % THIN == 0:
                np.subtract.at(to_come, self.batch[counted:start], 1)
                counted = start
                states = self.thin(states, to_come, lowest[start], price)
            if end == start + 1:
                states = self.one(states, batches[start], float(penalty[start]))
            else:
                states = self.several(states, self.batch[start:end], penalty[start:end])
        _, cost, lost = states
        best = int(np.argmin(cost))
        total = float(cost[best]) + float(self.wait.sum())
        return Tangent(price, total - price * int(lost[best]), int(lost[best]))

    def thin(self, states: States, to_come: Ints, lowest: int, price: float) -> States:
        """Merge states below every batch to come; drop a state if a higher one is better whatever comes.

        Every plan from C1 < C2 is also possible from C2, with every release at C2 or later. That loses no more rows,
        and holds each of the n remaining rows up to C2 longer by at most clock(C2) - clock(C1). So C1 is not needed if
        it costs that much more. (The price must exceed the wait for a row's own batch, otherwise losing rows is a
        gain.)
        """
        state, cost, lost = states
        if len(state) > 1 and state[1] < lowest:
            below = int(state.searchsorted(lowest)) - 1
            state, cost, lost = state[below:], cost[below:], lost[below:]
        if len(state) == 1 or price < self.wait.max(initial=0.0):
            return state, cost, lost
        longer = np.cumsum(to_come[lowest : state[-1] + 1])[state[1:] - lowest]
        needed = cost[:-1] - cost[1:] < longer * np.diff(self.clock[state])
        needed = np.append(needed, True)
        return state[needed], cost[needed], lost[needed]

    def one(self, states: States, batch: int, penalty: float) -> States:
        """Process one row: states from its batch on hold it; lower states lose it, or move up to its batch.

        The penalty is the price minus the wait for the end of the row's own batch, which a lost row does not have.
        """
        state, cost, lost = states
        place = int(state.searchsorted(batch))
        above = cost[place:] + (self.clock[state[place:]] - self.clock[batch])
        if place == 0:
            return drop_dominated(state, above, lost)
        moves = penalty > 0.0
        entry = cost[place - 1] if moves else cost[place - 1] + penalty
        keep = above < np.minimum.accumulate(np.concatenate([[entry], above]))[:-1]
        return (
            np.concatenate([state[:place], np.array([batch])[:moves], state[place:][keep]]),
            np.concatenate([cost[:place] + penalty, [entry][:moves], above[keep]]),
            np.concatenate([lost[:place] + 1, lost[place - 1 : place][:moves], lost[place:][keep]]),
        )

    def several(self, states: States, batch: Ints, penalty: Floats) -> States:
        """Process all rows of one event time, for all states and batches at once."""
        state, cost, lost = states
        arrived = batch.searchsorted(state, side="right")
        spent = np.concatenate([[0.0], np.cumsum(self.clock[batch])])
        state, cost, lost = drop_dominated(state, cost + arrived * self.clock[state] - spent[arrived], lost)
        reached = np.union1d(state, batch[batch > state[0]])
        origin = state.searchsorted(reached, side="right") - 1
        arrived = batch.searchsorted(reached, side="right")
        owed = np.concatenate([[0.0], np.cumsum(penalty)])
        return drop_dominated(reached, cost[origin] + owed[-1] - owed[arrived], lost[origin] + len(batch) - arrived)


def drop_dominated(state: Ints, cost: Floats, lost: Ints) -> States:
    """Return the states that cost less than every lower state."""
    keep = np.concatenate([[True], cost[1:] < np.minimum.accumulate(cost)[:-1]])
    return state[keep], cost[keep], lost[keep]
