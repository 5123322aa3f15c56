"""Disorder policies with their defaults filled in, and as text."""

from __future__ import annotations

from dataclasses import replace

from slackwater.algebra.lengths import Kind, Length
from slackwater.algebra.nodes import Policy
from slackwater.defaults import IDLE_SECONDS, SKEW_SECONDS

DEFAULT_DRATIO = 0.001
"""The share of rows that may be late if a query states none. A larger share holds rows for a shorter time."""
DEFAULT_ESTIMATOR = "budget"
DEFAULT_IDLE = Length.of(IDLE_SECONDS, "seconds").amount
DEFAULT_SKEW = Length.of(SKEW_SECONDS, "seconds").amount


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
        parts.append(_marked(f"DRATIO {ratio_text(full.dratio)}", policy.dratio is None))
        parts.append(_marked(f"USING {full.estimator}", policy.estimator is None))
    if full.within is not None:
        parts.append(f"WITHIN {Length(full.within, Kind.TIME)}")
    parts += [f"{name} {value}" for name, value in (("SLACK", full.slack), ("BSIZE", full.bsize)) if value is not None]
    for name, stated, value in (("IDLE", policy.idle, full.idle), ("SKEW", policy.skew, full.skew)):
        parts.append(_marked(f"{name} {Length(value or 0, Kind.TIME)}", stated is None))
    return " ".join(parts)


def ratio_text(ratio: float) -> str:
    """Return a ratio as a user writes it.

    >>> ratio_text(0.001), ratio_text(0.05)
    ('0.1%', '5%')
    """
    return f"{ratio * 100:.10g}%"


def _marked(clause: str, default: bool) -> str:
    return f"{clause} (default)" if default else clause
