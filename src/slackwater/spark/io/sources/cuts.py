"""Cut a recording into micro-batches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from slackwater.algebra.lengths import Length

Times = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cuts:
    """The row after which each batch ends, and when the batch is due, in ticks of arrival after the first row."""

    ends: Times
    due: Times

    @classmethod
    def of(cls, arrival: Times, batch: Length) -> Cuts:
        """Return cuts of `batch` rows, or of `batch` time of arrival. Batches without rows are left out.

        >>> Cuts.of(np.array([5, 6, 9, 30]), Length.parse("3 microseconds")).ends
        array([2, 3, 4])
        """
        if not len(arrival):
            return cls(arrival, arrival)
        since = np.maximum.accumulate(arrival) - arrival[0]
        if batch.is_time:
            slot = since // batch.amount
            ends = np.append(np.flatnonzero(np.diff(slot)) + 1, len(arrival))
            return cls(ends, (slot[ends - 1] + 1) * batch.amount)
        ends = np.append(np.arange(batch.amount, len(arrival), batch.amount), len(arrival))
        return cls(ends, since[ends - 1])

    def after(self, row: int) -> int:
        """Return the end of the batch that begins with this row, or the row itself if there is none."""
        place = int(np.searchsorted(self.ends, row, side="right"))
        return int(self.ends[place]) if place < len(self.ends) else row

    def due_at(self, end: int) -> int:
        return int(self.due[np.searchsorted(self.ends, end)])
