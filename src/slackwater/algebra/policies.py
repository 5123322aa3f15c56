"""Disorder policies: drop ratios that users write as `1%`, the defaults filled in, and policies as text."""

from __future__ import annotations

import re
from dataclasses import replace

from slackwater.algebra.lengths import Kind, Length
from slackwater.algebra.nodes import Policy
from slackwater.defaults import IDLE_SECONDS, SKEW_SECONDS
from slackwater.errors import QueryError

DEFAULT_DRATIO = 0.001
"""The share of rows that may be late if a query states none. A larger share holds rows for a shorter time."""
DEFAULT_ESTIMATOR = "budget"
DEFAULT_IDLE = Length.of(IDLE_SECONDS, "seconds").amount
DEFAULT_SKEW = Length.of(SKEW_SECONDS, "seconds").amount


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
        raise _not_a_ratio(value) from cause
    if not 0 < ratio < 1:
        raise _not_a_ratio(value, ratio)
    return ratio


def effective(policy: Policy) -> Policy:
    """Return the policy with defaults for everything that the bracket does not state.

    >>> effective(Policy(slack=10)).estimator, effective(Policy(bsize=100)).dratio
    ('slack', 0.001)
    """
    fixed = policy.dratio is None and policy.slack is not None
    return replace(
        policy,
        dratio=None if fixed else DEFAULT_DRATIO if policy.dratio is None else policy.dratio,
        estimator="slack" if fixed else policy.estimator or DEFAULT_ESTIMATOR,
        idle=DEFAULT_IDLE if policy.idle is None else policy.idle,
        skew=DEFAULT_SKEW if policy.skew is None else policy.skew,
    )


def longest_silence(policy: Policy) -> int:
    """Return how long, in ticks, to wait for a stream without rows: IDLE, but no longer than WITHIN.

    >>> longest_silence(Policy(dratio=0.01, within=30_000_000)) == Length.of(30, "seconds").amount
    True
    """
    full = effective(policy)
    return min(full.idle or 0, full.idle or 0 if full.within is None else full.within)


def in_words(policy: Policy) -> str:
    """Return the policy as clauses, with each default marked.

    >>> in_words(Policy(dratio=0.05))
    'DRATIO 5% USING budget (default) IDLE 10 minutes (default) SKEW 5 minutes (default)'
    """
    full = effective(policy)
    parts = []
    if full.dratio is not None:
        parts.append(_mark_default(f"DRATIO {ratio_text(full.dratio)}", policy.dratio is None))
        parts.append(_mark_default(f"USING {full.estimator}", policy.estimator is None))
    if full.within is not None:
        parts.append(f"WITHIN {Length(full.within, Kind.TIME)}")
    parts += [f"{name} {value}" for name, value in (("SLACK", full.slack), ("BSIZE", full.bsize)) if value is not None]
    for name, stated, value in (("IDLE", policy.idle, full.idle), ("SKEW", policy.skew, full.skew)):
        parts.append(_mark_default(f"{name} {Length(value or 0, Kind.TIME)}", stated is None))
    return " ".join(parts)


def ratio_text(ratio: float) -> str:
    """Return a ratio as a user writes it.

    >>> ratio_text(0.001), ratio_text(0.05)
    ('0.1%', '5%')
    """
    return f"{ratio * 100:.10g}%"


def _mark_default(clause: str, default: bool) -> str:
    return f"{clause} (default)" if default else clause


def _not_a_ratio(value: str | float, ratio: float = -1) -> QueryError:
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
