"""The history of one pipeline in bounded memory: all recent batches, and older ones thinned out."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

RECENT = 600
"""The recent batches that are kept one by one. Larger: pages show more detail and take longer to send."""
OLDER = 600
"""The most points for all older batches; beyond that, neighbours are merged. Larger: finer, but slower pages."""
MINUTE = 60_000
"""Milliseconds over which `ratio_minute` is computed."""
PARTS = ("addBatch", "queryPlanning", "walCommit", "commitOffsets", "latestOffset", "getBatch", "other")
"""The parts of a batch in drawing order. Spark's other parts are added to `other`."""
TOTALS = ("rows_in", "rows_out", "on_time", "late", "lost", "rejected", "suspect", "refused")
"""The counts that a history adds up: a point has the sum so far, so that thinning loses no row."""
GAUGES = ("held", "ratio", "seconds", "state_bytes", "state_rows")
COLUMNS = ("at", *TOTALS, *GAUGES, "ratio_minute", "newest", "lag", "hold_p50", "hold_mean", "hold_p99", *PARTS)


class History:
    """The points of a pipeline, as columns of equal length.

    >>> history = History(recent=4, older=2)
    >>> for batch in range(20):
    ...     history.enter({"at": 1_000 * batch, "rows_in": 10, "seconds": 0.2})
    >>> len(history), history.columns["rows_in"][-1], history.columns["at"][-4:]
    (6, 200, [16000, 17000, 18000, 19000])
    >>> history.columns["at"][:2]
    [7000, 15000]
    """

    def __init__(self, recent: int = RECENT, older: int = OLDER) -> None:
        self.recent = recent
        self.older = older
        self.columns: dict[str, list[float]] = {name: [] for name in COLUMNS}
        self._stride, self._points, self._last = 1, 0, 0

    def __len__(self) -> int:
        return len(self.columns["at"])

    def enter(self, record: Mapping[str, Any]) -> None:
        """Add the point of a batch, and merge older points if there are too many."""
        point = self._point(record)
        for name in COLUMNS:
            self.columns[name].append(point[name])
        if len(self) > self._points + self.recent:
            self._age()

    def total(self, name: str) -> float:
        """Return the latest value of a column: for counts, the sum so far."""
        return self.columns[name][-1] if len(self) else 0

    def since(self, name: str, time: float) -> float:
        """Return how many rows were counted under this name since a time."""
        return self.total(name) - self._before(name, time)

    def rate(self, name: str, over: float = 10_000) -> float:
        """Return the rows per second over the last `over` milliseconds, at least over one batch."""
        at = self.columns["at"]
        if len(at) < 2:
            return self.total(name) / self.columns["seconds"][-1] if at and self.columns["seconds"][-1] else 0.0
        first = min(bisect_left(at, at[-1] - over), len(at) - 2)
        seconds = (at[-1] - at[first]) / 1_000
        return (self.total(name) - self.columns[name][first]) / seconds if seconds else 0.0

    def rates(self, name: str) -> list[float]:
        """Return the rows per second at each point, since the point before."""
        at, counts = self.columns["at"], self.columns[name]
        pairs = zip(at, at[1:], counts, counts[1:], strict=False)
        rates = [(after - before) * 1_000 / max(1.0, end - begin) for begin, end, before, after in pairs]
        return [*(rates[:1] or [0.0] * len(at)), *rates]

    def _before(self, name: str, time: float) -> float:
        at = self.columns["at"]
        place = bisect_right(at, time)
        return self.columns[name][place - 1] if place else 0

    def _point(self, record: Mapping[str, Any]) -> dict[str, float]:
        hold, parts = record.get("hold", {}), record.get("parts", {})
        clock = record.get("clock", 0)
        point: dict[str, float] = {"at": max(record["at"], self.total("at"))}
        point |= {name: self.total(name) + record.get(name, 0) for name in TOTALS}
        point |= {name: record.get(name, 0) for name in GAUGES}
        point |= {f"hold_{name}": hold.get(name, 0.0) / 1_000 for name in ("p50", "mean", "p99")}
        point |= {name: parts.get(name, 0) / 1_000 for name in PARTS}
        point["other"] += sum(time for name, time in parts.items() if name not in PARTS) / 1_000
        point["newest"] = _behind(clock, record.get("newest", 0))
        point["lag"] = _behind(clock, record.get("punctuation", 0))
        point["ratio_minute"] = self._recent_ratio(point)
        return point

    def _recent_ratio(self, point: Mapping[str, float]) -> float:
        minute_ago = point["at"] - MINUTE
        rows, late = (point[name] - self._before(name, minute_ago) for name in ("rows_in", "late"))
        return late / rows if rows else 0.0

    def _age(self) -> None:
        """Turn the first recent point into an older one, or merge it into the last older one."""
        if self._last % self._stride:
            self._merge(self._points - 1)
        else:
            self._points, self._last = self._points + 1, 0
        self._last += 1
        if self._points > self.older:
            for first in range(self._points // 2):
                self._merge(first)
            self._points -= self._points // 2
            self._stride *= 2

    def _merge(self, first: int) -> None:
        """Merge two points into the later one, which gets the durations of the slower batch."""
        self._keep_slower(first, first + 1)
        for values in self.columns.values():
            del values[first]

    def _keep_slower(self, dropped: int, kept: int) -> None:
        seconds = self.columns["seconds"]
        if seconds[dropped] > seconds[kept]:
            for name in ("seconds", *PARTS):
                self.columns[name][kept] = self.columns[name][dropped]


def _behind(clock: int, time: int) -> float:
    """Return the seconds from a time to the clock, 0 if either is not known yet."""
    return (clock - time) / 1_000 if clock and time else 0.0


def spark_line(values: Sequence[float], width: int) -> list[float]:
    """Return at most `width` values that show the course of all: each is the largest of its part.

    >>> spark_line([1, 5, 2, 8, 3, 1], 3)
    [5, 8, 3]
    """
    if len(values) <= width:
        return list(values)
    edges = [round(place * len(values) / width) for place in range(width + 1)]
    return [max(values[begin:end]) for begin, end in pairwise(edges)]
