"""Ticks: when they are given, what they do to the punctuation, and how far a flush must go."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from slackwater.disorder.clock import EARLIEST, LATEST
from slackwater.disorder.state import pack
from slackwater.lang import bind_query
from slackwater.spark.run.ticks import Silence, Tick, beyond, flushing
from slackwater.spark.watermark.policy import controller_of, policy_of
from slackwater.spark.watermark.punctuate import (
    EVERY_ROW,
    LATER,
    Account,
    Controlled,
    account_in,
    observe_batch,
    observe_ticks,
)
from slackwater.spark.watermark.readings import Batch, BatchSums, Reading
from slackwater.testing.catalog import CATALOG

NONE = np.empty(0, np.int64)
COUNTS = "SELECT COUNT(*) AS n FROM Readings [RANGE 2 seconds SLIDE 2 seconds]"
IDLE = 30_000
RELEASING = [Tick(beyond=1, newest=9, furthest=EVERY_ROW), Tick(beyond=1, newest=9)]


def after_rows() -> tuple[object, Account]:
    """Return a controller with slack 3 and its account after rows at 10 to 14 s: the punctuation is at 11 s."""
    controller = controller_of(policy_of(slack=3, idle="30 seconds"))
    times = np.arange(10_000, 15_000, 1_000)
    return controller, observe_batch(controller, Account(), Reading(Batch(5, times, times)))


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
    found = observe_ticks(controller, account, Batch(0, NONE, NONE, silence=silence, beyond=beyond), IDLE)
    assert (found.punctuation, controller.progress.punctuation) == (punctuation, max(punctuation, 11_000))
    assert (found.rows, found.late) == (5, 0)


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize(
    ("ahead", "watermark"),
    [
        (3_600_000, 3_602_000),
        (253_402_300_799_999, 253_402_300_801_999),  # the end of the year 9999
        (LATEST // 1_000, LATEST // 1_000 - 1),  # the last that Spark has
    ],
)
def test_a_flush_closes_windows_of_rows_from_the_future_and_goes_back_to_the_clock(listed, ahead, watermark):
    controller, account = after_rows()
    one = Batch(1, np.array([ahead]), np.array([15_000]))
    if listed:
        account = observe_batch(controller, account, Reading(one))
    else:
        sums = BatchSums(0, 0, 1, 1, 15_000, 15_000, EARLIEST, None, ahead)
        account = observe_batch(controller, account, Reading(replace(one, event=NONE, arrival=NONE), sums))
    assert (account.punctuation, account.newest, account.suspect, account.furthest) == (11_000, 14_000, 1, ahead)
    silent = observe_ticks(restored(controller), account, Batch(0, NONE, NONE, silence=40_000), IDLE)
    assert silent.punctuation == 24_000
    away = observe_ticks(controller, account, Batch(0, NONE, NONE, beyond=2_000, furthest=ahead), IDLE)
    assert (away.ahead, away.punctuation, controller.progress.punctuation) == (watermark, 16_000, 16_000)
    back = observe_ticks(controller, away, Batch(0, NONE, NONE, beyond=2_000), IDLE)
    assert (back.ahead, back.punctuation, back.newest, back.furthest) == (0, 16_000, 14_000, 14_000)
    honest = Reading(Batch(2, np.array([15_000, 17_000]), np.array([18_000, 18_000])))
    assert observe_batch(controller, back, honest).late == 1


def restored(controller: object) -> object:
    """Return a copy of a controller, because a controller cannot go back."""
    other = controller_of(policy_of(slack=3, idle="30 seconds"))
    other.restore(controller.state())
    return other


def test_a_flush_of_suspect_rows_alone_closes_their_windows_and_leaves_the_clock_where_it_was():
    controller = controller_of(policy_of(slack=3))
    account = observe_batch(controller, Account(), Reading(Batch(1, np.array([900_000]), np.array([5_000]))))
    away = observe_ticks(controller, account, Batch(0, NONE, NONE, beyond=2_000, furthest=900_000), IDLE)
    back = observe_ticks(controller, away, Batch(0, NONE, NONE, beyond=2_000), IDLE)
    assert (account.newest, away.ahead, away.punctuation, back.ahead, back.punctuation) == (0, 902_000, 0, 0, 0)


def test_a_flush_of_a_changelog_releases_suspect_rows_at_the_newest_honest_one():
    controller, account = after_rows()
    suspect = Reading(Batch(1, np.array([900_000]), np.array([15_000])))
    account = observe_batch(controller, account, suspect)
    every = Batch(0, NONE, NONE, beyond=1, furthest=EVERY_ROW)
    away = observe_ticks(controller, account, every, IDLE)
    assert (away.punctuation, away.ahead) == (14_001, EVERY_ROW)
    again = observe_ticks(controller, away, every, IDLE)
    assert again.punctuation == 14_002, "there must be a time at which these rows can be released"
    back = observe_ticks(controller, again, Batch(0, NONE, NONE, beyond=1), IDLE)
    assert (back.punctuation, back.ahead) == (14_002, 0)


@pytest.mark.parametrize(
    ("text", "readers", "ticks"),
    [
        (
            COUNTS,
            None,
            [Tick(beyond=4_001, newest=9, furthest=90), Tick(beyond=4_001, newest=9), Tick(None, 0, 4_001, 9)],
        ),
        (COUNTS, [bind_query("SELECT id FROM Readings", CATALOG)], [Tick(beyond=4_001, newest=9)]),
        (f"{COUNTS} EMIT CHANGES", None, RELEASING),
        ("SELECT id FROM Readings EMIT CHANGES", None, RELEASING),
    ],
    ids=["windows", "a view", "changes at boundaries", "changes"],
)
def test_the_ticks_of_a_flush(text, readers, ticks):
    assert flushing(bind_query(text, CATALOG), 9, 90, readers) == ticks
    assert flushing(bind_query(text, CATALOG), 9, 9, readers) == [replace(ticks[0], furthest=0)]


def test_a_flush_goes_beyond_the_newest_row_of_every_stream():
    controller, account = after_rows()
    found = observe_ticks(controller, account, Batch(0, NONE, NONE, beyond=2_000, newest=90_000), IDLE)
    assert found.punctuation == 92_000


def test_a_checkpoint_of_before_the_newest_row_of_all_was_kept_is_read():
    kept = {name: value for name, value in asdict(Account(rows=3, newest=7)).items() if name not in LATER}
    assert account_in(pack("control", 1, kept)) == Account(rows=3, newest=7)


def test_the_account_counts_the_rows_and_the_time_for_which_a_cap_gave_up_the_ratio():
    control = Controlled(policy_of("1%", within="2 seconds"), in_arrival_order=True, kept=None)
    for start in range(0, 30_000, 1_000):  # nothing is released by the estimate so soon, and all rows wait
        times = np.arange(start, start + 1_000, 500)
        control.enter(Reading(Batch(2, times, times)))
    assert control.account.punctuation == 29_500 - 2_000
    assert (control.account.rows, control.account.capped) == (60, 54), "a row falls due in the third batch"
    assert control.account.capped_time == 27_000
    again = Controlled(policy_of("1%", within="2 seconds"), in_arrival_order=True, kept=control.kept())
    assert again.account == control.account
    silent = control.enter(Reading(Batch(0, NONE, NONE, silence=2_500)))
    assert silent.punctuation == 29_500 + 500, "a stream that is silent for longer than WITHIN goes on with the clock"


def test_rows_that_come_after_all_are_late_against_the_raised_punctuation():
    controller, account = after_rows()
    account = observe_ticks(controller, account, Batch(0, NONE, NONE, silence=40_000), IDLE)
    again = np.array([20_000, 30_000])
    account = observe_batch(controller, account, Reading(Batch(2, again, np.array([60_000, 60_000]))))
    assert (account.rows, account.late, account.on_time, account.silence) == (7, 1, 6, 0)


def test_a_silent_stream_that_never_had_a_row_goes_by_the_newest_of_the_others():
    controller = controller_of(policy_of(slack=3))
    found = observe_ticks(controller, Account(), Batch(0, NONE, NONE, silence=31_000, newest=50_000), IDLE)
    assert found.punctuation == 51_000
    unknown = observe_ticks(controller_of(policy_of(slack=3)), Account(), Batch(0, NONE, NONE, silence=31_000), IDLE)
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
    assert silence.due(160) == [Tick("Readings", silence=60_000, newest=90_000)]
    assert silence.due(200) == [], "its windows are closed"
    silence.heard_of("Readings", 8, 91_000, now=200)
    assert silence.due(201) == []
