"""The controller: an estimator together with the caps and guards that a query can state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from slackwater.defaults import SKEW_SECONDS
from slackwater.disorder.clock import Times, clamp, minus, ticks_per_second, times
from slackwater.disorder.estimator import NO_PUNCTUATION, Estimator, Excusing, Explaining, Sources, Tallying
from slackwater.disorder.estimator import estimator as build
from slackwater.disorder.held import EMPTY, Held, Run, deltas, joined
from slackwater.disorder.state import pack, unpack
from slackwater.disorder.tally import Tally
from slackwater.errors import InputError

VERSION = 2


class Tallies(IntEnum):
    """Says whether the controller accepts tallies instead of rows: never, now, or after the first rows."""

    NEVER = 0
    NOW = 1
    SOON = 2


@dataclass(frozen=True, slots=True)
class ControllerCounts:
    """Exact counts since the start, and the current punctuation.

    `uncapped` is the punctuation without the caps; `capped` counts the rows that came while a cap had raised it.
    """

    rows: int = 0
    late: int = 0
    suspect: int = 0
    held: int = 0
    punctuation: int = NO_PUNCTUATION
    uncapped: int = NO_PUNCTUATION
    capped: int = 0

    @property
    def ratio(self) -> float:
        """Return the share of rows that were late."""
        return self.late / self.rows if self.rows else 0.0

    @property
    def capping(self) -> bool:
        """Return whether a cap has raised the punctuation, so that the drop ratio is not kept."""
        return self.punctuation > self.uncapped


class Hold(Protocol):
    """A lower limit beside the estimate: keeps the punctuation back for a silent or backlogged source."""

    def observe(self, event: Times, arrival: Times, source: Sources) -> int:
        """Return the largest punctuation that this batch allows, or the latest time if no source is waited for."""

    def state(self) -> bytes: ...

    def restore(self, state: bytes) -> None: ...


class Controller:
    """Observes batches and returns the punctuation after each.

    The steps, in order:

    - Rows stamped more than ``skew`` after their arrival are *suspect*: the estimator does not see them, and they are
      not counted as held.
    - The estimate is lowered to the limit that ``hold`` sets for silent sources.
    - It is raised until at most ``cap`` rows are held and it lies at most ``within`` behind the newest event time.
      These caps take priority over the estimate and the hold.
    - It never decreases.

    ``released`` holds the event times that the last batch released, with the number of rows of each.
    """

    __slots__ = ("_estimator", "_held", "_hold", "_newest", "_progress", "cap", "released", "skew", "within")

    def __init__(
        self,
        estimator: Estimator,
        *,
        skew: int,
        cap: int | None = None,
        within: int | None = None,
        hold: Hold | None = None,
    ) -> None:
        self.skew = skew
        self.cap = cap
        self.within = within
        self._newest = NO_PUNCTUATION
        self._estimator = estimator
        self._hold = hold
        self._held = Held()
        self._progress = ControllerCounts()
        self.released: Run = (EMPTY, EMPTY)

    @property
    def progress(self) -> ControllerCounts:
        return self._progress

    def observe(self, event: npt.ArrayLike, arrival: npt.ArrayLike, source: Sources | None = None) -> int:
        """Return the punctuation after this batch. Its rows are late if before the punctuation of the previous call."""
        event, arrival = times(event), times(arrival)
        _same_length(event, arrival, source)
        suspect = minus(event, arrival) > self.skew
        late = int(np.count_nonzero(event < self._progress.punctuation))
        suspects = int(np.count_nonzero(suspect))
        if suspects:
            honest = ~suspect
            event, arrival = event[honest], arrival[honest]
            if source is not None:
                wrong, source = source[suspect], source[honest]
                if isinstance(self._estimator, Excusing):
                    self._estimator.excuse(wrong, source)
        if not len(event):
            return self._entered(late, suspects, None, self._estimate(event, arrival, source))
        tally = Tally.of(event, arrival)
        alone = source is None and isinstance(self._estimator, Tallying)
        return (
            self.enter(tally, late, suspects)
            if alone
            else self._entered(late, suspects, tally, self._estimate(event, arrival, source))
        )

    def enter(self, tally: Tally | None, late: int, suspects: int = 0) -> int:
        """Return the punctuation after a batch that is given as a tally, if `tallies` allows it.

        The tally holds the rows that are not suspect, or is None if there are none. `late` counts all late rows,
        including suspect ones.
        """
        estimator = self._estimator
        if tally is None or not isinstance(estimator, Tallying):
            return self._entered(late, suspects, tally, NO_PUNCTUATION)
        return self._entered(late, suspects, tally, estimator.tallied(tally))

    @property
    def tallies(self) -> Tallies:
        """Return whether a batch may be given as a tally instead of rows."""
        if not isinstance(self._estimator, Tallying):
            return Tallies.NEVER
        return Tallies.NOW if self._estimator.started else Tallies.SOON

    def _entered(self, late: int, suspects: int, tally: Tally | None, estimate: int) -> int:
        before = self._progress
        if tally is not None:
            self._held.add(*tally.since(before.punctuation))
            # A row stamped after its arrival moves the punctuation no further than its arrival.
            self._newest = max(self._newest, min(tally.newest, tally.clock))
        uncapped = max(before.uncapped, estimate)
        punctuation = max(before.punctuation, uncapped, self._capped())
        self.released = self._held.release(punctuation)
        rows = suspects + (0 if tally is None else tally.size)
        self._progress = ControllerCounts(
            before.rows + rows,
            before.late + late,
            before.suspect + suspects,
            len(self._held),
            punctuation,
            uncapped,
            before.capped + rows * before.capping,
        )
        return punctuation

    def advance(self, punctuation: int) -> int:
        """Raise the punctuation without rows, because the stream has ended or was silent for too long."""
        before = self._progress
        uncapped, punctuation = max(before.uncapped, punctuation), max(before.punctuation, punctuation)
        self.released = joined([self.released, self._held.release(punctuation)])
        self._progress = replace(before, held=len(self._held), punctuation=punctuation, uncapped=uncapped)
        return punctuation

    def _estimate(self, event: Times, arrival: Times, source: Sources | None) -> int:
        estimate = self._estimator.observe(event, arrival, source)
        if self._hold is None or source is None:
            return estimate
        return min(estimate, self._hold.observe(event, arrival, source))

    def _capped(self) -> int:
        """Return the smallest punctuation that the caps allow. WITHIN starts when the first row falls due."""
        rows = NO_PUNCTUATION if self.cap is None else self._held.beyond(self.cap)
        if self.within is None:
            return rows
        due = clamp(self._newest - self.within)
        return max(rows, due) if self._progress.punctuation > NO_PUNCTUATION or self._held.oldest < due else rows

    def explain(self) -> str:
        """Return a sentence that says what holds the punctuation where it is now."""
        if self._progress.capping:
            full = self.cap is not None and self._progress.held >= self.cap
            held = f"{self._progress.held:,} rows are held, as many as may be"
            return f"{held if full else 'the hold has reached its cap'}: the ratio is given up"
        if isinstance(self._estimator, Explaining):
            return self._estimator.explain()
        return f"{self._progress.held:,} rows are held by the estimate"

    def state(self) -> bytes:
        progress, (held, counts) = self._progress, self._held.rows()
        return pack(
            "controller",
            VERSION,
            {
                "rows": progress.rows,
                "late": progress.late,
                "suspect": progress.suspect,
                "punctuation": progress.punctuation,
                "uncapped": progress.uncapped,
                "capped": progress.capped,
                "newest": self._newest,
                "held": deltas(held),
                "counts": counts,
                "estimator": self._estimator.state(),
                "hold": b"" if self._hold is None else self._hold.state(),
            },
        )

    def restore(self, state: bytes) -> None:
        fields = unpack(state, "controller", VERSION)
        self._estimator.restore(fields.blob("estimator"))
        if self._hold is not None and (held_back := fields.blob("hold")):
            self._hold.restore(held_back)
        self._held = Held.of(np.cumsum(fields.times("held")), fields.times("counts"))
        self._progress = ControllerCounts(
            fields.integer("rows"),
            fields.integer("late"),
            fields.integer("suspect"),
            len(self._held),
            fields.integer("punctuation"),
            fields.integer("uncapped", fields.integer("punctuation")),
            fields.integer("capped", 0),
        )
        self._newest = fields.integer("newest", NO_PUNCTUATION)


def controller(
    dratio: float | None = 0.01,
    estimator: str = "budget",
    slack: int | None = None,
    bsize: int | None = None,
    *,
    unit: str = "us",
    skew: int | None = None,
    within: int | None = None,
    hold: Hold | None = None,
    **options: Any,
) -> Controller:
    """Return the controller that a query's bracket describes.

    ``dratio`` alone is adaptive. With ``slack`` n > 0 at most n rows are held; ``slack`` 0 keeps the adaptive
    punctuation and says that no buffer reorders rows. ``dratio`` None with ``slack`` n is a fixed buffer of n rows.
    ``bsize`` n holds back at most n rows, whatever the other parameters say. ``within`` keeps the punctuation at most
    that far behind the newest event time. All times, also ``within`` and ``skew`` (default 5 minutes), are counted in
    ``unit``. ``options`` go to the estimator.
    """
    if within is not None and within <= 0:
        raise InputError("SW-424", f"within {within} would hold nothing back at all", expected="a time above 0")
    for name, rows in (("slack", slack), ("bsize", bsize)):
        if rows is not None and rows < 0:
            raise InputError("SW-424", f"{name} {rows} is negative", expected="a number of rows, 0 or more")
    if dratio is None:
        if slack is None:
            raise InputError("SW-425", "neither a drop ratio nor a slack is given", hint="give dratio or slack")
        estimator = "slack"
    if estimator == "slack" and slack is not None:
        options["size"], slack = slack, None
    caps = [rows for rows in (slack or None, bsize) if rows is not None]
    return Controller(
        build(estimator, dratio=0.01 if dratio is None else dratio, unit=unit, **options),
        skew=clamp(SKEW_SECONDS * ticks_per_second(unit) if skew is None else skew),
        cap=min(caps, default=None),
        within=within,
        hold=hold,
    )


def _same_length(event: Times, arrival: Times, source: Sources | None) -> None:
    if len(event) != len(arrival) or (source is not None and len(source) != len(event)):
        raise InputError(
            "SW-426",
            f"a batch has {len(event)} event times, {len(arrival)} arrival times"
            + (f" and {len(source)} sources" if source is not None else ""),
            expected="as many of each",
        )
