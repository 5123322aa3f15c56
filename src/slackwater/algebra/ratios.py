"""Drop ratios: what a user writes as `1%`."""

from __future__ import annotations

from math import isfinite

from slackwater.errors import QueryError


def parse_ratio(value: str | float | None) -> float | None:
    """A share between 0 and 1 from `"1%"`, `"0.01"` or a number.

    >>> parse_ratio("1%"), parse_ratio(0.05), parse_ratio(None)
    (0.01, 0.05, None)
    """
    if value is None:
        return None
    try:
        ratio = (
            float(value.strip().removesuffix("%")) / 100 if isinstance(value, str) and "%" in value else float(value)
        )
    except ValueError as cause:
        raise _wrong(value) from cause
    if not (isfinite(ratio) and 0 <= ratio <= 1):
        raise _wrong(value)
    return ratio


def _wrong(value: str | float) -> QueryError:
    return QueryError(
        "SW-113",
        f"{value} is not a drop ratio",
        expected="a share from 0% to 100%",
        hint="write the share of rows that may be late, such as 1%",
    )
