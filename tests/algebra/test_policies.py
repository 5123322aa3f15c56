"""Disorder policies: the table of language.md."""

import pytest

from slackwater.algebra.nodes import Policy
from slackwater.algebra.policies import effective, in_words, parse_ratio
from slackwater.errors import QueryError


@pytest.mark.parametrize(
    ("policy", "dratio", "estimator"),
    [
        (Policy(), 0.001, "budget"),
        (Policy(slack=10), None, "slack"),
        (Policy(dratio=0.05), 0.05, "budget"),
        (Policy(dratio=0.05, slack=20), 0.05, "budget"),
        (Policy(dratio=0.05, slack=0), 0.05, "budget"),
        (Policy(bsize=100), 0.001, "budget"),
        (Policy(dratio=0.05, estimator="adaptive"), 0.05, "adaptive"),
    ],
)
def test_what_is_in_force(policy: Policy, dratio: float | None, estimator: str):
    full = effective(policy)
    assert (full.dratio, full.estimator, full.idle, full.skew) == (dratio, estimator, 600_000_000, 300_000_000)


def test_defaults_are_said_to_be_defaults():
    assert in_words(Policy(dratio=0.01, bsize=100, idle=30_000_000)) == (
        "DRATIO 1% USING budget (default) BSIZE 100 IDLE 30 seconds SKEW 5 minutes (default)"
    )
    assert in_words(Policy(slack=10)).startswith("SLACK 10 IDLE")
    assert "USING budget (default) WITHIN 30 seconds IDLE" in in_words(Policy(dratio=0.01, within=30_000_000))


@pytest.mark.parametrize(
    ("text", "ratio"), [("1%", 0.01), ("0.5 %", 0.005), ("0.01", 0.01), (0.05, 0.05), ("99%", 0.99)]
)
def test_ratios(text: str | float, ratio: float):
    assert parse_ratio(text) == pytest.approx(ratio)


@pytest.mark.parametrize("text", ["0%", "100%", 0, 1, "101%", "-1%", "many", "", "%", 2, -0.1, float("nan"), "nan%"])
def test_what_is_no_ratio(text: str | float):
    with pytest.raises(QueryError, match="SW-113"):
        parse_ratio(text)
