"""Drop ratios, which users write as `1%`."""

from __future__ import annotations

import re

from slackwater.errors import QueryError


def parse_ratio(value: str | float | None) -> float | None:
    """Return the share between 0 and 1, both excluded, that `"1%"`, `"0.01"` or a number states.

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
    if not 0 < ratio < 1:
        raise _wrong(value, ratio)
    return ratio


def _wrong(value: str | float, ratio: float = -1) -> QueryError:
    if re.fullmatch(r"\s*\d+\s*[a-zA-Z]+\s*", str(value)):
        hint = f"a share of the rows stands here, not a delay: write 1% WITHIN {value} (in Python within='{value}')"
    elif ratio == 0:
        hint = "no wait is long enough for every row: write a small share such as 0.01%"
    elif ratio >= 1 and "%" not in str(value):
        hint = f"for {value} per cent write '{value}%'; shares are numbers such as 0.01 or texts such as 1%"
    elif ratio == 1:
        hint = "to wait for no row write SLACK 0 (in Python slack=0)"
    else:
        hint = "write the share of rows that may be late, such as 1%"
    return QueryError(
        "SW-113",
        f"{value} is not a drop ratio",
        expected="a share above 0% and below 100%",
        hint=hint,
    )
