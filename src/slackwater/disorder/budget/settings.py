"""Every number of `budget`, with its unit and what it does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of `budget`. None of them depends on a stream; docs/design/budget.md shows what each is worth.

    Parameters
    ----------
    recent
        Rows: how far back the memory of recent rows looks.
    latest
        Rows: how many of the latest rows are looked at one by one.
    dips
        Whether bursts of late rows that could not be afforded once more make the delay longer.
    surprise
        Standard deviations: recent and latest rows count if more of them are late than chance explains by so many.
    reserve
        Share of D N that is never planned to be spent. Larger: fewer ratios missed by a hair, longer holds.
    gain_rows, gain_share
        Rows, and share of D N: the level falls by a factor of e for so many late rows too many.
    strictest
        Logarithm of the smallest factor by which the account lowers the level.
    cautious_rows
        Rows of D N before anything is spent.
    first_rows, first_share
        Rows, and share of those among which one may be late: before that, nothing is released.
    delayed_rows
        Rows with more than the quick delay before anything is released, unless most have: quick rows come first.
    prompt_rows, prompt_share
        Rows after which a stream counts as without delays if a smaller share of them has one.
    start_delays
        Delays that a stream must have lasted before anything is released.
    start_level
        Logarithm of the factor by which the level of these delays is below D.
    stretch
        Times the longest delay: the delay where a level is too small to be read off the rows.
    longest
        Times the delay that D itself asks for: the delay is never longer, so that a debt is repaid by patience.
    quick_share
        Share of the rows that may lie ahead of the clock, or before the front of a sender that is behind.
    quick_rows
        Rows within which the delay of quick rows follows.
    seen_times
        Event times that are remembered, so that the punctuation stops at one of them.
    seen_delays
        Delays that the punctuation may stay behind its aim for that: windows wait for it, too.
    sender_rows
        Rows after which the habits of a sender are known.
    sender_lags
        Times its usual lag: a sender that lags by more is behind.
    sender_share
        Share of the rows to spare that senders who are behind may cost.
    most_senders
        Senders that are followed at a time; more are not told apart.
    """

    recent: float = 8_192.0
    latest: tuple[int, ...] = (256, 1_024)
    dips: bool = True
    surprise: float = 3.0
    reserve: float = 0.03
    gain_rows: float = 8.0
    gain_share: float = 0.03
    strictest: float = -2.5
    cautious_rows: float = 5.0
    first_rows: int = 60
    first_share: float = 0.1
    delayed_rows: int = 100
    prompt_rows: int = 300
    prompt_share: float = 0.02
    start_delays: float = 1.5
    start_level: float = -1.5
    stretch: float = 1.4
    longest: float = 4.0
    quick_share: float = 0.05
    quick_rows: float = 1_024.0
    seen_times: int = 1_024
    seen_delays: float = 3.0
    sender_rows: int = 30
    sender_lags: float = 5.0
    sender_share: float = 0.7
    most_senders: int = 4_096


DEFAULT = Settings()
