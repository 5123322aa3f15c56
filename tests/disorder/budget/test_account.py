"""How fast the account of a drop ratio spends, worked out by hand."""

from dataclasses import replace
from math import exp, sqrt

import pytest

from slackwater.disorder.budget.account import Account
from slackwater.disorder.budget.settings import DEFAULT

OWN = replace(
    DEFAULT, reserve=0.02, reserve_deviations=1.0, burst_reserve=0.25, gain_rows=10.0, gain_share=0.1,
    strictest=-2.0, loosest=0.5, cautious_rows=10.0,
)  # fmt: skip


def account(rows, late):
    made = Account(0.01, OWN)
    made.enter(rows, late)
    return made


def test_nothing_is_spent_before_the_budget_has_come_to_ten_rows():
    assert account(999, 0).level == 0.01 * exp(-2)
    # 10 allowed: the reserve is 0.2 and a fifth of a deviation
    assert account(1_000, 8).level == pytest.approx(0.01 * exp((2 - 0.2 - 0.2 * sqrt(10)) / 11))


def test_unspent_budget_raises_the_level_and_a_debt_lowers_it():
    reserve = 20 + sqrt(1_000)
    assert account(100_000, 930).level == pytest.approx(0.01 * exp((70 - reserve) / 110))
    assert account(100_000, 1_000).level == pytest.approx(0.01 * exp(-reserve / 110))
    assert account(100_000, 5_000).level == 0.01 * exp(-2)
    assert account(100_000, 0).level == 0.01 * exp(0.5)


def test_an_account_that_is_on_its_course_aims_below_the_ratio():
    made = account(100_000, 948)
    assert made.allowed - made.reserve == pytest.approx(948, abs=0.5)
    assert made.level == pytest.approx(0.01, rel=0.01)


def test_the_worst_burst_is_kept_for_another_up_to_a_quarter_of_the_budget():
    made = account(50_000, 400)
    made.enter(10_000, 250)  # from 100 below the allowed rows to 50 above
    made.enter(40_000, 280)
    assert made.reserve == 150
    made = account(10_000, 0)
    made.enter(10_000, 350)  # from 100 below to 150 above
    made.enter(20_000, 30)
    assert made.reserve == 100


def test_what_is_unspent_is_never_negative():
    assert account(1_000, 4).unspent == 6
    assert account(1_000, 40).unspent == 0
