"""Why rows of a stream were rejected, as each batch of a query tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from slackwater.spark.io.rejects import EXAMPLE, MALFORMED, REJECTED, UNTIMED


@dataclass(frozen=True, slots=True)
class Rejections:
    """How many rows of a stream came, how many of them were rejected, why (a row may have several reasons), and one.

    `side` is the stream that has all of them.
    """

    stream: str
    side: str
    rows: int
    rejected: int
    reasons: Mapping[str, int] = field(default_factory=dict)
    example: str = ""

    def __add__(self, other: Rejections) -> Rejections:
        names = [*self.reasons, *(name for name in other.reasons if name not in self.reasons)]
        reasons = {name: self.reasons.get(name, 0) + other.reasons.get(name, 0) for name in names}
        rows, rejected = self.rows + other.rows, self.rejected + other.rejected
        return replace(self, rows=rows, rejected=rejected, reasons=reasons, example=self.example or other.example)


def with_reasons(found: Rejections, observed: Mapping[str, Any]) -> Rejections:
    """Return the rejections of a batch with what the metrics of its progress say of them; most formats say nothing."""
    told = {name.lower(): row for name, row in observed.items()}.get(f"{REJECTED}.{found.stream}".lower())
    counts = {} if told is None else dict(told.asDict() if hasattr(told, "asDict") else told)
    example, malformed = counts.pop(EXAMPLE, None), int(counts.pop(MALFORMED, 0) or 0)
    reasons = {reason: int(count) for reason, count in counts.items() if count}
    if found.rejected > malformed:
        reasons[UNTIMED] = found.rejected - malformed
    return replace(found, reasons=reasons, example=example or "")
