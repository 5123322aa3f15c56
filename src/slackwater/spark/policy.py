"""What a user writes about disorder, as the algebra's policy, and the controller that keeps it."""

from __future__ import annotations

from slackwater.algebra.lengths import Length
from slackwater.algebra.nodes import Policy
from slackwater.disorder import ESTIMATORS, Controller, controller
from slackwater.errors import InputError, nearest

DEFAULT_DRATIO = 0.001
DEFAULT_ESTIMATOR = "adaptive"
UNIT = "ms"
"""Spark's watermark has this resolution, so the controller reckons in it: then its late rows are Spark's."""
TICKS_PER_MS = 1_000


def stated(
    dratio: float | str | None = None,
    *,
    slack: int | None = None,
    bsize: int | None = None,
    estimator: str | None = None,
    idle: str | None = None,
    skew: str | None = None,
) -> Policy:
    """The policy that these arguments state, each checked.

    >>> stated(dratio="1%", idle="30 seconds")
    Policy(dratio=0.01, slack=None, bsize=None, estimator=None, idle=30000000, skew=None)
    """
    if estimator is not None and estimator not in ESTIMATORS:
        raise InputError("SW-422", f"unknown estimator {estimator!r}", hint=nearest(estimator, ESTIMATORS))
    return Policy(share(dratio), slack, bsize, estimator, ticks(idle), ticks(skew))


def share(dratio: float | str | None) -> float | None:
    """A drop ratio given as a share or as a text in per cent.

    >>> share("0.5%"), share(0.01), share(None)
    (0.005, 0.01, None)
    """
    if dratio is None:
        return None
    try:
        found = float(dratio.strip().removesuffix("%")) / 100 if isinstance(dratio, str) else float(dratio)
    except ValueError:
        found = float("nan")
    if not 0 <= found <= 1 or (isinstance(dratio, str) and not dratio.strip().endswith("%")):
        raise InputError(
            "SW-423",
            f"drop ratio {dratio!r} is not a share of rows",
            expected="a text such as '1%', or a number from 0 to 1",
            hint="write 1 per cent as '1%' or as 0.01",
        )
    return found


def ticks(length: str | None) -> int | None:
    """A duration such as '30 seconds' in ticks."""
    if length is None:
        return None
    parsed = Length.parse(length)
    if not parsed.is_time:
        raise InputError("SW-427", f"'{length}' is not a time", expected="a time such as '30 seconds'")
    return parsed.amount


def controller_of(policy: Policy) -> Controller:
    """A new controller for a policy, with the defaults of the language filled in."""
    dratio = policy.dratio if policy.dratio is not None or policy.slack is not None else DEFAULT_DRATIO
    return controller(
        dratio,
        policy.estimator or DEFAULT_ESTIMATOR,
        policy.slack,
        policy.bsize,
        unit=UNIT,
        skew=None if policy.skew is None else policy.skew // TICKS_PER_MS,
    )
