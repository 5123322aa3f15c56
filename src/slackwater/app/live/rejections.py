"""Warnings of a run about rejected rows, if they are many."""

from __future__ import annotations

from slackwater.spark.run.progress import Progress, Rejections

MANY = 0.1
"""The share of rejected rows of a stream above which the run warns. A larger value hides more rejections."""
AGAIN = 10
"""The factor by which the number of rejected rows must grow before the next warning."""
REASONS = 3
"""The largest number of reasons that a warning lists."""


class RejectionTotals:
    """The sums of rejected rows since the run began, by pipeline and stream."""

    def __init__(self) -> None:
        self.sums: dict[tuple[str, str], Rejections] = {}
        self.told: dict[tuple[str, str], int] = {}

    def enter(self, record: Progress) -> list[str]:
        """Add the rejections of a batch; return the warnings that are due now, one for each stream."""
        said = []
        for each in record.rejections:
            key = record.pipeline, each.stream
            self.sums[key] = total = self.sums[key] + each if key in self.sums else each
            if total.rejected > MANY * total.rows and total.rejected >= AGAIN * self.told.get(key, 0):
                self.told[key] = total.rejected
                said.append(in_words(total))
        return said


def in_words(found: Rejections) -> str:
    """Return how many rows were rejected, the most frequent reasons, an example, and where to read all of them.

    >>> reasons = {"no value for user INT": 50}
    >>> print(in_words(Rejections("Clicks", "counts$rejected", 50, 50, reasons, "anna,/start")))
    50 of 50 rows of Clicks were rejected (100%); the stream counts$rejected has them
      50 rows: no value for user INT
      for example: anna,/start
    """
    share = f"{found.rejected:,} of {found.rows:,} rows of {found.stream} were rejected"
    lines = [f"{share} ({found.rejected / found.rows:.0%}); the stream {found.side} has them"]
    most = sorted(found.reasons.items(), key=lambda each: -each[1])[:REASONS]
    lines += [f"{count:,} rows: {reason}" for reason, count in most]
    if found.example:
        lines.append(f"for example: {printable(found.example)}")
    return "\n  ".join(lines)


def printable(text: str) -> str:
    """Return a text in one line, without characters that a terminal would take for commands.

    >>> printable("a\\x1b[31m\\nb")
    'a\\ufffd[31m\\ufffdb'
    """
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
