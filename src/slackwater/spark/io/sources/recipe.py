"""A generated stream as a function of its options: any interval of it can be made again at any time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from slackwater.errors import InputError
from slackwater.spark.io.sources.delays import DELAYS, Delays
from slackwater.spark.io.sources.populations import POPULATIONS, Columns
from slackwater.spark.options import Option, OptionKind, Options, OptionTable

PAGE = 1_000_000
"""Ticks per page: one second. Each page has a random generator of its own, which makes it repeatable."""
LINKS = 8
"""The number of links. An outage cuts off the senders of one; a larger number means fewer senders per outage."""
CATCH_UP = 10
"""The speed at which the backlog of an outage arrives, relative to the speed at which it was made."""
HELD_UP = "__held_up"
GENERATE = OptionTable(
    "generate",
    (
        Option("stream", OptionKind.CHOICE, "vehicles", "What the rows are about.", tuple(POPULATIONS)),
        Option("rate", OptionKind.NUMBER, "1000", "How many rows arrive in a second, on average.", least=0.001),
        Option("rows", OptionKind.WHOLE, None, "After how many rows the stream ends; without it, it has no end."),
        Option("senders", OptionKind.WHOLE, "100", "How many senders the rows come from.", least=1),
        *DELAYS,
        Option("outage", OptionKind.TIME, "0 seconds", "For how long some senders are cut off, again and again."),
        Option("outage_every", OptionKind.TIME, "5 minutes", "How often an outage begins."),
        Option("seed", OptionKind.WHOLE, "0", "Another number gives another stream of the same kind."),
        Option("start", OptionKind.MOMENT, "2024-01-01T00:00:00", "When the first row may arrive."),
        Option("event", OptionKind.TEXT, "timestamp", "The name of the column with the event time."),
        Option("arrival", OptionKind.TEXT, "received", "The name of the column with the arrival time."),
        Option(
            "pace", OptionKind.PACE, "1", "How many times as fast as real time it is; max does not wait.", least=0.001
        ),
        Option(
            "batch", OptionKind.TIME, None, "The arrival time of a batch; 1 second at pace max, else what has arrived."
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """The parameters of a stream. Times are ticks since `start`; rows are in order of arrival.

    Arrivals are random, and an event time is the arrival minus a delay. This is equivalent to random event times with
    independent delays.
    """

    stream: str
    rate: float
    rows: int | None
    senders: int
    delays: Delays
    outage: int
    outage_every: int
    seed: int
    start: int
    event: str
    arrival: str

    @classmethod
    def of(cls, options: Options) -> Recipe:
        outage, every = options["outage"], options["outage_every"]
        if outage * (1 + 1 / CATCH_UP) >= every / 2:
            raise InputError(
                "SW-443", "an outage and its backlog last longer than half of outage_every",
                hint="make the outage shorter or rarer",
            )  # fmt: skip
        names = ("stream", "rate", "rows", "senders", "outage", "outage_every", "seed", "start", "event", "arrival")
        return cls(delays=Delays.of(options), **{name: options[name] for name in names})

    @property
    def schema(self) -> str:
        return f"{POPULATIONS[self.stream][1]}, `{self.event}` timestamp, `{self.arrival}` timestamp"

    @property
    def end(self) -> int | None:
        """Return the arrival time at which the stream stops, in ticks since `start`; None if it has no end."""
        return None if self.rows is None else PAGE * int(np.ceil(self.rows / self.rate))

    def between(self, since: int, until: int) -> Columns:
        """Return the rows that arrive in [since, until), in order of arrival; times in ticks since 1970."""
        parts = [self._drawn(since, until, backlog=False)]
        for down in self._outages(since, until):
            back = down + self.outage
            first, last = (down + CATCH_UP * (max(edge, back) - back) for edge in (since, until))
            parts.append(self._drawn(first, min(last + CATCH_UP, back), backlog=True))
        merged = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        arrival = merged[self.arrival]
        here = np.flatnonzero((arrival >= since) & (arrival < until))
        order = here[np.argsort(arrival[here], kind="stable")]
        rows = {name: values[order] for name, values in merged.items()}
        return rows | {name: rows[name] + self.start for name in (self.event, self.arrival)}

    def _drawn(self, first: int, last: int, *, backlog: bool) -> Columns:
        """Return the rows of the pages from `first` to `last` that an outage delayed (`backlog`) or did not delay."""
        pages = [self._page(page) for page in range(first // PAGE, -(-last // PAGE))]
        if not pages:
            pages = [self._page(0, empty=True)]
        merged = {name: np.concatenate([page[name] for page in pages]) for name in pages[0]}
        chosen = merged.pop(HELD_UP) == backlog
        return {name: values[chosen] for name, values in merged.items()}

    def _page(self, number: int, *, empty: bool = False) -> Columns:
        rng = np.random.default_rng([self.seed, 0, number])
        most = np.inf if self.rows is None else self.rows
        before, after = (int(min(most, np.floor(self.rate * page))) for page in (number, number + 1))
        rows = 0 if empty else after - before
        nominal = np.sort(PAGE * (number + rng.random(rows)))
        sender = rng.integers(0, self.senders, rows)
        event = nominal - self.delays.draw(rng, nominal)
        columns = POPULATIONS[self.stream][0](rng, event / 1e6, sender)
        arrival, held_up = self._delivered(nominal, sender)
        times = {self.event: np.floor(event).astype(np.int64), self.arrival: np.floor(arrival).astype(np.int64)}
        return {**columns, **times, HELD_UP: held_up}

    def _delivered(
        self, nominal: npt.NDArray[np.float64], sender: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        if not self.outage:
            return nominal, np.zeros(len(nominal), bool)
        number = nominal // self.outage_every
        down = (number + 0.5) * self.outage_every
        cut = (nominal >= down) & (nominal < down + self.outage) & (sender % LINKS == number % LINKS)
        return np.where(cut, down + self.outage + (nominal - down) / CATCH_UP, nominal), cut

    def _outages(self, since: int, until: int) -> list[int]:
        """Return the beginnings of the outages whose backlog arrives in this interval."""
        if not self.outage:
            return []
        numbers = range(max(0, since // self.outage_every - 1), until // self.outage_every + 1)
        downs = [int((number + 0.5) * self.outage_every) for number in numbers]
        lasts = self.outage + self.outage // CATCH_UP
        return [down for down in downs if down + self.outage < until and down + lasts >= since]
