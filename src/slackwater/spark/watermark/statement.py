"""The account of a stream as `sw.accounts` returns it: counts, and times as `datetime` and `timedelta`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from slackwater.spark.watermark.punctuate import EPOCH, Account

LAST = 253_402_300_799_999
"""The last millisecond of the year 9999, which is the last that a `datetime` can hold."""


@dataclass(frozen=True, slots=True)
class Statement:
    """The account of one stream since the query began. Points in time are in UTC, or None if there is none.

    rows         all rows = `on_time` + `late` + `untimed`, exactly
    on_time      rows that were not late when they came
    late         rows behind the punctuation when they came; `late / rows` is held against DRATIO
    lost         late rows that an answer left out, since it was given before they came: they missed a window, or their
                 place among the rows. Of a DataFrame the windows are not known: its late rows that missed their place,
                 which a window of the query may still take in. Under Spark Connect each of several controlled
                 DataFrames of a query goes by its own watermark, and may count more rows
    untimed      rows without an event time
    suspect      rows stamped more than SKEW after their arrival, which move nothing; they are among the others
    held         rows that wait for the punctuation to pass them
    punctuation  what has happened before it is taken to be complete: the watermark
    newest       the newest event time of a row that is not suspect
    furthest     the newest event time of all rows whose windows no flush has closed yet
    clock        the latest arrival
    silence      how long ago that was when a tick last told; nothing while rows come
    held_time    how long rows have waited, all together: `held_time / on_time` is the mean
    capped       rows that came while WITHIN, SLACK or BSIZE had given up the ratio
    capped_time  for how long they had
    """

    rows: int
    on_time: int
    late: int
    lost: int
    untimed: int
    suspect: int
    held: int
    punctuation: datetime | None
    newest: datetime | None
    furthest: datetime | None
    clock: datetime | None
    silence: timedelta
    held_time: timedelta
    capped: int
    capped_time: timedelta

    @classmethod
    def of(cls, account: Account) -> Statement:
        """Return the statement of an account."""
        found: dict[str, Any] = {name: getattr(account, name) for name in COUNTS}
        found |= {name: moment(getattr(account, name)) for name in POINTS}
        found |= {name: timedelta(milliseconds=getattr(account, name)) for name in LENGTHS}
        return cls(**found)

    def __str__(self) -> str:
        """Return one line for a terminal.

        >>> print(Statement.of(Account(rows=1_000, late=9, lost=2, untimed=1, punctuation=250)))
        1,000 rows in = 990 on time + 9 late + 1 rejected; late 0.90%, 2 lost; 0 held;
        watermark 1970-01-01 00:00:00.250 UTC
        """
        share = self.late / self.rows if self.rows else 0.0
        at = self.punctuation.replace(tzinfo=None) if self.punctuation else None
        mark = f"; watermark {at.isoformat(' ', 'milliseconds')} UTC" if at else ""
        return (
            f"{self.rows:,} rows in = {self.on_time:,} on time + {self.late:,} late + {self.untimed:,} rejected; "
            f"late {share:.2%}, {self.lost:,} lost; {self.held:,} held{mark}"
        ) + (f"; {self.suspect:,} stamped in the future" if self.suspect else "")


COUNTS = ("rows", "on_time", "late", "lost", "untimed", "suspect", "held", "capped")
POINTS = ("punctuation", "newest", "furthest", "clock")
LENGTHS = ("silence", "held_time", "capped_time")


def moment(milliseconds: int) -> datetime | None:
    """Return a point in time; None if there is none yet. A time after the year 9999 becomes the last millisecond of it.

    >>> str(moment(1_704_110_400_250)), moment(0), moment(2**53).year
    ('2024-01-01 12:00:00.250000+00:00', None, 9999)
    """
    if milliseconds == EPOCH:
        return None
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=min(milliseconds, LAST))
