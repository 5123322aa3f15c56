"""The board of all watched pipelines: the state of each, and its problems."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from time import time
from typing import Any

from slackwater.app.monitor.delays import DelayHistogram
from slackwater.app.monitor.history import History

Event = Mapping[str, Any]
"""A message of a run about itself. Its `kind` is batch (a progress record), pipeline, rows, state or error."""
Feed = Callable[[Event], None]
"""Receives events as they come. It must not block."""
SILENT = 30.0
"""Seconds without a row after which a source counts as silent. Larger: the warning comes later."""
SHOWN = 12
"""The number of latest answers, and of latest late rows, that are kept. Larger: longer tables on the page."""
PIPELINES = 200
"""The most pipelines that are kept. If there are more, the one with the oldest event is dropped."""


class Level(StrEnum):
    """The state of a pipeline: red if a promise is broken, amber if somebody should look, green otherwise."""

    GOOD = "good"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(slots=True)
class Followed:
    """One pipeline: its latest record, its history, and its latest answers and late rows."""

    name: str
    history: History = field(default_factory=History)
    delays: DelayHistogram = field(default_factory=DelayHistogram)
    record: Mapping[str, Any] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
    answers: deque[Mapping[str, Any]] = field(default_factory=lambda: deque(maxlen=SHOWN))
    late_rows: deque[Mapping[str, Any]] = field(default_factory=lambda: deque(maxlen=SHOWN))
    state: str = "stopped"
    error: str = ""
    heard: float = 0.0
    rows_at: float = 0.0

    @property
    def allowed(self) -> float | None:
        """Return the share of rows that may be late, or None if the query states none."""
        allowed = self.record.get("allowed")
        return None if allowed is None else float(allowed)

    @property
    def ratio(self) -> float:
        return float(self.record.get("ratio", 0.0))

    @property
    def behind(self) -> float:
        """Return the seconds from the punctuation to the clock."""
        return self.history.total("lag")

    @property
    def closed(self) -> bool:
        streams = self.record.get("streams", ())
        return bool(streams) and all(each.get("closed") for each in streams)

    def troubles(self, now: float) -> list[tuple[Level, str]]:
        """Return the problems of the pipeline, the worst first."""
        return sorted(self._troubles(now), key=lambda each: each[0] is not Level.BROKEN)

    def level(self, now: float) -> Level:
        return next((level for level, _ in self.troubles(now)), Level.GOOD)

    def _troubles(self, now: float) -> Iterator[tuple[Level, str]]:
        if self.state == "failed":
            yield Level.BROKEN, f"failed: {self.error}" if self.error else "failed"
        for each in self.record.get("streams", ()):
            if _is_broken(each):
                yield Level.BROKEN, f"{each['stream']}: more rows are late than the query allows"
        if self.state != "running":
            return
        silence = now - self.rows_at
        if self.rows_at and silence > SILENT:
            yield Level.WARNING, f"no row for {silence:,.0f} s"
        trigger, seconds = self.about.get("trigger") or 0, self.record.get("seconds", 0)
        if trigger and seconds > trigger:
            yield Level.WARNING, f"a batch takes {seconds:.1f} s, its trigger {trigger:.1f} s"
        rows, rejected = self.record.get("rows_in", 0), self.record.get("rejected", 0)
        if rows and rejected > rows / 10:
            yield Level.WARNING, f"{rejected / rows:.0%} of the rows are rejected"


class Board:
    """Collects the events of all runs for pages, metrics and notebooks."""

    def __init__(self, clock: Callable[[], float] = time) -> None:
        self.clock = clock
        self.pipelines: dict[str, Followed] = {}
        self.version = 0

    def enter(self, event: Event) -> None:
        """Record an event. Events of unknown kinds are ignored."""
        take = {
            "batch": self._batch,
            "pipeline": self._pipeline,
            "rows": self._rows,
            "state": self._state,
        }.get(str(event.get("kind")))
        if take is not None and event.get("pipeline"):
            take(self._followed(str(event["pipeline"])), event)
            self.version += 1

    def worst(self) -> Level:
        """Return the worst state of all pipelines."""
        now = self.clock()
        levels = {each.level(now) for each in self.pipelines.values()}
        return next((level for level in (Level.BROKEN, Level.WARNING) if level in levels), Level.GOOD)

    def _followed(self, name: str) -> Followed:
        if name not in self.pipelines and len(self.pipelines) >= PIPELINES:
            del self.pipelines[min(self.pipelines.values(), key=lambda each: each.heard).name]
        found = self.pipelines.setdefault(name, Followed(name))
        found.heard = self.clock()
        return found

    def _batch(self, followed: Followed, event: Event) -> None:
        followed.record = event
        followed.history.enter(event)
        if event.get("rows_in") or not followed.rows_at:
            followed.rows_at = event["at"] / 1_000
        if not event.get("earlier"):
            followed.state = "running"
        for each in event.get("streams", ()):
            followed.delays.enter(event["at"], each.get("delays", ((), ())))
            for time_of_event, arrival in each.get("late_rows", ()):
                row = {"stream": each["stream"], "event": time_of_event, "arrival": arrival, "against": each["against"]}
                followed.late_rows.append(row)

    def _pipeline(self, followed: Followed, event: Event) -> None:
        followed.about = event
        followed.state, followed.error = "starting", ""

    def _rows(self, followed: Followed, event: Event) -> None:
        followed.answers.extend(event.get("rows", ())[-SHOWN:])

    def _state(self, followed: Followed, event: Event) -> None:
        followed.state = str(event.get("state", ""))
        followed.error = str(event.get("error", ""))


def _is_broken(stream: Mapping[str, Any]) -> bool:
    """Return whether more rows of a stream were late than it allows. One late row is always allowed."""
    allowed = stream.get("allowed")
    return allowed is not None and stream["late"] > max(1.0, allowed * stream["rows"])


def missed_windows(event: int, punctuation: int, length: int, slide: int) -> tuple[int, int, int]:
    """Return the number of closed windows that a row of this event time missed, their first start and their last end.

    All times are in ms.

    >>> missed_windows(event=7_200, punctuation=12_500, length=5_000, slide=1_000)
    (5, 3000, 12000)
    >>> missed_windows(event=7_200, punctuation=7_900, length=5_000, slide=1_000)[0]
    0
    """
    first = (event // slide + 1) * slide
    last = min(event + length, punctuation) // slide * slide
    return max(0, (last - first) // slide + 1), first - length, last
