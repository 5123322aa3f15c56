"""How fast the account of a drop ratio spends, worked out by hand."""

from math import sqrt

import pytest

from slackwater.disorder.budget.account import LOOSEST, STRICTEST, Account


def account(rows, late):
    made = Account(0.01)
    made.enter(rows, late)
    return made


def test_nothing_is_spent_before_the_budget_has_come_to_twenty_rows():
    assert account(1_999, 0).correction(settled=False) == STRICTEST
    # 20 allowed; the reserve is 0.4 and two fifths of 1.5 sqrt(20)
    assert account(2_000, 17).correction(settled=False) == pytest.approx((3 - 0.4 - 0.6 * sqrt(20)) / 13)


def test_a_settled_stream_spends_at_once_on_credit():
    assert account(1_000, 0).correction(settled=True) == LOOSEST
    # 10 allowed and 10 on credit, 12 late; the reserve is the burst of 2
    assert account(1_000, 12).correction(settled=True) == LOOSEST
    # 21 late: a burst of 11, for which a quarter of the budget is kept
    assert account(1_000, 21).correction(settled=True) == pytest.approx((20 - 21 - 2.5) / 11.5)


def test_the_credit_shrinks_from_a_budget_of_25_rows_and_is_gone_at_50():
    gained = [
        account(rows, late).correction(settled=True) - account(rows, late).correction(settled=False)
        for rows, late in ((2_500, 30), (3_750, 36), (5_000, 50))
    ]
    assert gained == pytest.approx([10 / 13.75, 5 / 15.625, 0])


def test_what_is_left_raises_the_level_and_what_is_overspent_lowers_it():
    reserve = 20 + 1.5 * sqrt(1_000)
    assert account(100_000, 930).correction(settled=False) == pytest.approx((70 - reserve) / 160)
    assert account(100_000, 1_050).correction(settled=False) == pytest.approx((-50 - reserve) / 160)
    assert account(100_000, 5_000).correction(settled=False) == STRICTEST
    assert account(100_000, 0).correction(settled=False) == LOOSEST


def test_what_the_worst_burst_took_is_kept_for_another_up_to_a_quarter_of_the_budget():
    made = account(50_000, 400)
    made.enter(10_000, 250)  # from 100 below what is allowed to 50 above
    made.enter(40_000, 280)
    assert made.correction(settled=False) == pytest.approx((70 - 150) / 160)
    made = account(10_000, 0)
    made.enter(10_000, 350)  # 100 below to 150 above
    made.enter(20_000, 30)
    assert made.correction(settled=False) == pytest.approx((20 - 100) / 70)


def test_a_steady_stream_needs_a_smaller_reserve():
    assert account(100_000, 1_000).correction(settled=False, steady=True) == pytest.approx(-0.8 * sqrt(1_000) / 160)


def test_a_steady_stream_spends_what_is_left_faster_while_that_may_be_chance():
    assert account(100_000, 0).correction(settled=False, steady=True) == pytest.approx(0.1 + 0.5 / sqrt(1_000))
    assert account(2_000, 0).correction(settled=False, steady=True) == pytest.approx(0.1 + 0.5 / sqrt(20))
    assert account(500, 0).correction(settled=True, steady=True) == 0.3
    assert account(100_000, 1_001).correction(settled=False, steady=True) < -0.3, "it has not been that steady"
