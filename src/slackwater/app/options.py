"""Options as users write them."""

from __future__ import annotations

from slackwater.algebra.lengths import MICROSECONDS, Length
from slackwater.errors import InputError


def parse_duration(text: str | None) -> float | None:
    """Seconds from a time such as `20 seconds`.

    >>> parse_duration("2 minutes")
    120.0
    """
    if text is None:
        return None
    length = Length.parse(text)
    if not length.is_time:
        raise InputError(
            "SW-407", f"'{text}' is not a time", expected="a time such as '20 seconds'", hint="use a unit of time"
        )
    return length.amount / MICROSECONDS["second"]
