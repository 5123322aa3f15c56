"""Make a policy from what a user states about disorder, and the controller for a policy."""

from __future__ import annotations

from typing import Any

from slackwater.algebra.checks import check_cap
from slackwater.algebra.lengths import TICKS_PER_MS, ticks_of
from slackwater.algebra.nodes import Policy
from slackwater.algebra.policies import effective, parse_ratio
from slackwater.disorder import ESTIMATORS, Controller, controller
from slackwater.disorder.source_hold import SourceHold
from slackwater.errors import InputError, nearest

UNIT = "ms"
"""The resolution of Spark's watermark. The controller uses it as well, so that both find the same rows late."""


def policy_of(
    dratio: float | str | None = None,
    *,
    slack: int | None = None,
    bsize: int | None = None,
    estimator: str | None = None,
    idle: str | None = None,
    skew: str | None = None,
    within: str | None = None,
) -> Policy:
    """Return a policy from the arguments of a user. Raise an error if one of them is wrong.

    >>> policy_of(dratio="1%", idle="30 seconds")
    Policy(dratio=0.01, slack=None, bsize=None, estimator=None, idle=30000000, skew=None, within=None)
    """
    if estimator is not None and estimator not in ESTIMATORS:
        raise InputError("SW-422", f"unknown estimator {estimator!r}", hint=nearest(estimator, ESTIMATORS))
    times = ticks_of(idle), ticks_of(skew), ticks_of(within)
    policy = Policy(parse_ratio(dratio), slack, bsize, estimator, *times)
    check_cap(policy)
    return policy


def controller_of(policy: Policy) -> Controller:
    """Return a new controller for a policy, with the defaults of the language filled in."""
    full = effective(policy)
    idle = (full.idle or 0) // TICKS_PER_MS
    # `budget` estimates how many rows a silent sender may still send; the other estimators wait for the sender.
    silence: dict[str, Any] = {"idle": idle} if full.estimator == "budget" else {"hold": SourceHold(idle, unit=UNIT)}
    return controller(
        full.dratio,
        full.estimator or "slack",
        full.slack,
        full.bsize,
        unit=UNIT,
        skew=None if full.skew is None else full.skew // TICKS_PER_MS,
        within=None if full.within is None else max(1, full.within // TICKS_PER_MS),
        **silence,
    )
