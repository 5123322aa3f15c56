"""Delays as counts in logarithmic buckets, as in the records of a pipeline."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence

PER_OCTAVE = 8
"""Buckets per doubling of the delay: bucket 0 is below 1 ms, bucket i ends at 2 ** (i / 8) ms. Fixed by the records."""
WINDOW = 60_000
"""Milliseconds for which a batch counts as recent. Larger: the recent distribution reacts more slowly."""


class DelayHistogram:
    """The delays of the rows of one pipeline: of all rows, and of the last minute.

    >>> delays = DelayHistogram()
    >>> delays.enter(0, [[0, 9, 80], [50, 40, 10]])
    >>> round(upper(delays.at_share(delays.all, 0.95)), 3), delays.at_share(delays.all, 0.1)
    (1.024, 0)
    """

    def __init__(self) -> None:
        self.all: Counter[int] = Counter()
        self.recent: Counter[int] = Counter()
        self._batches: deque[tuple[int, Mapping[int, int]]] = deque()

    def enter(self, at: int, counted: Sequence[Sequence[int]]) -> None:
        """Add the delays of a batch that ended at this time. Batches older than a minute are no longer recent."""
        batch = dict(zip(*counted, strict=True))
        self.all.update(batch)
        self.recent.update(batch)
        self._batches.append((at, batch))
        while self._batches and self._batches[0][0] < at - WINDOW:
            self.recent.subtract(self._batches.popleft()[1])

    def shares(self, counts: Mapping[int, int], buckets: Sequence[int]) -> list[float]:
        """Return the share of rows in each of these buckets."""
        rows = sum(counts.values())
        return [counts.get(each, 0) / rows if rows else 0.0 for each in buckets]

    def at_share(self, counts: Mapping[int, int], share: float) -> int:
        """Return the smallest bucket such that this share of the rows has a delay in it or below."""
        left = share * sum(counts.values())
        for bucket in sorted(counts):
            left -= counts[bucket]
            if left <= 1e-9:
                return bucket
        return max(counts, default=0)

    def fixed_delay(self, late: float) -> float:
        """Return the fixed delay of `withWatermark`, in seconds, that would have made this share of rows late."""
        return upper(self.at_share(self.all, 1.0 - late))


def upper(bucket: int) -> float:
    """Return the end of a bucket in seconds."""
    return float(2.0 ** (bucket / PER_OCTAVE)) / 1_000


def lower(bucket: int) -> float:
    """Return the start of a bucket in seconds. Bucket 0 is drawn like the others."""
    return upper(bucket - 1)
