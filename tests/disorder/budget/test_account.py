"""How fast the account of a drop ratio spends, worked out by hand."""

from dataclasses import replace
from math import exp

import pytest

from slackwater.disorder.budget.account import RatioAccount
from slackwater.disorder.budget.settings import DEFAULT

OWN = replace(DEFAULT, reserve=0.02, gain_rows=10.0, gain_share=0.1, strictest=-2.0, cautious_rows=10.0)


def account(rows, late):
    made = RatioAccount(0.01, OWN)
    made.enter(rows, late)
    return made


def test_nothing_is_spent_before_the_budget_has_come_to_ten_rows():
    assert account(999, 0).level == 0.01 * exp(-2)
    assert account(1_000, 8).level == 0.01


def test_a_debt_lowers_the_level_and_nothing_raises_it_above_the_ratio():
    assert account(100_000, 0).level == account(100_000, 980).level == 0.01
    assert account(100_000, 1_000).level == pytest.approx(0.01 * exp(-20 / 110)), "2% are kept back"
    assert account(100_000, 5_000).level == account(100_000, 5_000).strictest == 0.01 * exp(-2)


def test_what_is_kept_back_is_not_to_spare():
    assert account(100_000, 930).spare == pytest.approx(50)
    assert account(100_000, 990).spare == pytest.approx(-10)
