"""Ticks: when they are given, what they do to the punctuation, and how far a flush must go."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from slackwater.disorder.clock import EARLIEST, LATEST
from slackwater.disorder.state import pack
from slackwater.lang import bind_query
from slackwater.spark.run.ticks import Silence, Tick, beyond
from slackwater.spark.watermark.policy import controller_of, stated
from slackwater.spark.watermark.punctuate import LATER, Account, Controlled, account_in, observed, ticked
from slackwater.spark.watermark.readings import Batch, Reading, Sums
from slackwater.testing.catalog import CATALOG

NONE = np.empty(0, np.int64)
IDLE = 30_000


def after_rows() -> tuple[object, Account]:
    """Slack 3: rows at 10 to 14 s; the three latest are held, so the punctuation stands at 11 s."""
    controller = controller_of(stated(slack=3, idle="30 seconds"))
    times = np.arange(10_000, 15_000, 1_000)
    return controller, observed(controller, Account(), Reading(Batch(5, times, times)))


@pytest.mark.parametrize(
    ("silence", "beyond", "punctuation"),
    [
        (0, None, 11_000),
        (30_000, None, 11_000),  # not longer than stated
        (30_500, None, 14_500),  # the newest row and half a second
        (40_000, None, 24_000),
        (0, 6_001, 20_001),
        (40_000, 2_000, 24_000),
    ],
)
def test_a_tick_raises_the_punctuation(silence, beyond, punctuation):
    controller, account = after_rows()
    found = ticked(controller, account, Batch(0, NONE, NONE, silence=silence, beyond=beyond), IDLE)
    assert (found.punctuation, controller.progress.punctuation) == (punctuation, max(punctuation, 11_000))
    assert (found.rows, found.late) == (5, 0)


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize(
    ("ahead", "punctuation"),
    [
        (3_600_000, 3_602_000),
        (253_402_300_799_999, 253_402_300_801_999),  # the end of the year 9999
        (LATEST // 1_000, LATEST // 1_000 - 1),  # the last that Spark has
    ],
)
def test_a_flush_goes_beyond_rows_from_the_future_which_move_nothing_else(listed, ahead, punctuation):
    controller, account = after_rows()
    one = Batch(1, np.array([ahead]), np.array([15_000]))
    if listed:
        account = observed(controller, account, Reading(one))
    else:
        sums = Sums(0, 0, 1, 1, 15_000, 15_000, EARLIEST, None, ahead)
        account = observed(controller, account, Reading(replace(one, event=NONE, arrival=NONE), sums))
    assert (account.punctuation, account.newest, account.suspect, account.furthest) == (11_000, 14_000, 1, ahead)
    silent = ticked(controller, account, Batch(0, NONE, NONE, silence=40_000), IDLE)
    assert silent.punctuation == 24_000
    assert ticked(controller, account, Batch(0, NONE, NONE, beyond=2_000), IDLE).punctuation == punctuation


def test_a_flush_goes_beyond_the_newest_row_of_every_stream():
    controller, account = after_rows()
    found = ticked(controller, account, Batch(0, NONE, NONE, beyond=2_000, newest=90_000), IDLE)
    assert found.punctuation == 92_000


def test_a_checkpoint_of_before_the_newest_row_of_all_was_kept_is_read():
    kept = {name: value for name, value in asdict(Account(rows=3, newest=7)).items() if name not in LATER}
    assert account_in(pack("control", 1, kept)) == Account(rows=3, newest=7)


def test_the_account_counts_the_rows_and_the_time_for_which_a_cap_gave_up_the_ratio():
    control = Controlled(stated("1%", within="2 seconds"), in_arrival_order=True, kept=None)
    for start in range(0, 30_000, 1_000):  # nothing is released by the estimate so soon, and all rows wait
        times = np.arange(start, start + 1_000, 500)
        control.enter(Reading(Batch(2, times, times)))
    assert control.account.punctuation == 29_500 - 2_000
    assert (control.account.rows, control.account.capped) == (60, 54), "a row falls due in the third batch"
    assert control.account.capped_time == 27_000
    again = Controlled(stated("1%", within="2 seconds"), in_arrival_order=True, kept=control.kept())
    assert again.account == control.account
    silent = control.enter(Reading(Batch(0, NONE, NONE, silence=2_500)))
    assert silent.punctuation == 29_500 + 500, "a stream that is silent for longer than WITHIN goes on with the clock"


def test_rows_that_come_after_all_are_late_against_the_raised_punctuation():
    controller, account = after_rows()
    account = ticked(controller, account, Batch(0, NONE, NONE, silence=40_000), IDLE)
    again = np.array([20_000, 30_000])
    account = observed(controller, account, Reading(Batch(2, again, np.array([60_000, 60_000]))))
    assert (account.rows, account.late, account.on_time, account.silence) == (7, 1, 6, 0)


def test_a_silent_stream_that_never_had_a_row_goes_by_the_newest_of_the_others():
    controller = controller_of(stated(slack=3))
    found = ticked(controller, Account(), Batch(0, NONE, NONE, silence=31_000, newest=50_000), IDLE)
    assert found.punctuation == 51_000
    unknown = ticked(controller_of(stated(slack=3)), Account(), Batch(0, NONE, NONE, silence=31_000), IDLE)
    assert unknown == Account()


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("SELECT COUNT(*) AS n FROM Readings [RANGE 5 seconds SLIDE 2 seconds]", 7_001),
        ("SELECT id FROM Readings", 1),
        (
            "SELECT MAX(n) AS m FROM (SELECT id, COUNT(*) AS n FROM Readings [RANGE 5 seconds SLIDE 2 seconds]"
            " GROUP BY id) AS q [RANGE 10 seconds SLIDE 10 seconds]",
            27_001,
        ),
    ],
)
def test_a_flush_goes_beyond_every_window_with_the_newest_row(text, milliseconds):
    assert beyond(bind_query(text, CATALOG)) == milliseconds


def test_only_what_is_silent_is_told_so_and_only_while_windows_may_be_open():
    plan = bind_query("SELECT COUNT(*) AS n FROM Readings [RANGE 5 seconds SLIDE 5 seconds IDLE 20 seconds]", CATALOG)
    silence = Silence(plan, now=0)
    assert silence.due(100) == [], "no row has come yet"
    silence.heard_of("Readings", 7, 90_000, now=100)
    assert silence.due(115) == []
    assert silence.due(121) == [Tick("Readings", silence=21_000, newest=90_000)]
    assert silence.due(121.5) == [], "told a moment ago"
    silence.heard_of("Readings", 7, 90_000, now=122)
    assert silence.due(123) == [Tick("Readings", silence=23_000, newest=90_000)]
    assert silence.due(200) == [], "its windows are closed"
    silence.heard_of("Readings", 8, 91_000, now=200)
    assert silence.due(201) == []
