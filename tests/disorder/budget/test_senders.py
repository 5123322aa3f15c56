"""Senders that fall silent or catch up, on traces in which ignoring them breaks the ratio."""

import numpy as np
import pytest

from slackwater.disorder import controller
from slackwater.disorder.budget.senders import Senders, keys
from slackwater.disorder.clock import LATEST
from slackwater.disorder.replay.replaying import batches_by_rows, replay
from slackwater.disorder.source_hold import SourceHold
from slackwater.testing import disordered as streams


def late_share(stream, source, name="budget", **options):
    batches = batches_by_rows(stream.event, stream.arrival, 64, source)
    _, found = replay(batches, controller(0.01, name, unit="ms", **options))
    return found.late_share


@pytest.fixture(scope="module")
def outage():
    return streams.outage(24_000, rate=60, length=60, seed=44)


def test_ignoring_an_outage_breaks_the_ratio_and_naming_the_senders_keeps_it(outage):
    assert late_share(outage, None) > 0.015
    assert late_share(outage, outage.source) <= 0.01


def test_names_are_as_good_as_numbers(outage):
    names = np.array([f"meter {each}" for each in range(8)])[outage.source]
    assert late_share(outage, names) == late_share(outage, outage.source)


def test_an_idle_timeout_gives_a_sender_up(outage):
    assert late_share(outage, outage.source, idle=5_000) > 0.015


def test_any_estimator_can_wait_for_its_senders(outage):
    without = late_share(outage, outage.source, "quantile")
    waiting = late_share(outage, outage.source, "quantile", hold=SourceHold(unit="ms"))
    assert without > 0.015
    assert waiting < without / 2


def test_far_future_rows_are_suspect_and_move_nothing():
    stream = streams.far_future(streams.normal(20_000, rate=200, seed=45), one_in=500)
    guarded = controller(0.01, "budget", unit="ms")
    _, found = replay(batches_by_rows(stream.event, stream.arrival, 64), guarded)
    assert found.late_share <= 0.01
    assert guarded.progress.suspect == np.count_nonzero(stream.event > stream.arrival + 300_000)
    trusting = controller(0.01, "budget", unit="ms", skew=LATEST)
    _, trusted = replay(batches_by_rows(stream.event, stream.arrival, 64), trusting)
    assert trusted.late_share <= 0.01, "few rows ahead of the clock do not move it"


def steady(start, stop, senders=2):
    time = np.arange(start, stop)
    return time, time, time % senders


def silent(senders, start, stop, step=10):
    """Send rows of sender 0 alone, in batches of `step` ticks."""
    for first in range(start, stop, step):
        alone = np.arange(first, first + step)
        senders.observe(alone, alone, np.zeros(step, np.int64))


def test_a_sender_is_waited_for_where_it_stopped_until_it_has_caught_up():
    senders = Senders(idle=10_000)
    for first in range(0, 1_000, 10):
        senders.observe(*steady(first, first + 10))
    assert senders.reach(990, 0.0) == 990
    silent(senders, 1_000, 1_400)
    assert senders.reach(1_390, 0.0) == 999
    waiting = senders.waiting(1_390)
    assert (waiting.key, waiting.silent) == (1, 400)
    assert waiting.owed == pytest.approx(195, rel=0.05)  # a row every other tick for 391 ticks
    backlog = np.arange(1_001, 1_201, 2)
    assert senders.observe(backlog, np.full(100, 1_400), np.ones(100, np.int64)).all()
    assert 999 <= senders.reach(1_390, 0.0) <= 1_011, "the first 5% of the rows that have just come"
    for first in range(1_401, 1_500, 10):
        senders.observe(*steady(first, first + 10))
    assert senders.reach(1_490, 0.0) == 1_490
    assert senders.waiting(1_490) is None


def test_a_few_rows_that_are_sent_again_do_not_stop_a_sender_that_has_caught_up():
    senders = Senders(idle=10_000)
    for first in range(0, 1_000, 100):
        senders.observe(*steady(first, first + 100))
    silent(senders, 1_000, 1_400)
    for first in range(1_400, 2_000, 100):
        event, arrival, sender = steady(first, first + 100)
        again = np.where(np.arange(100) == 51, 1_001, event)  # one of the 50 rows of sender 1
        senders.observe(again, arrival, sender)
    assert senders.reach(1_990, 0.0) == 1_990


def test_the_punctuation_goes_as_far_as_the_rows_owed_are_worth():
    senders = Senders(idle=10_000)
    for first in range(0, 1_000, 10):
        senders.observe(*steady(first, first + 10))
    silent(senders, 1_000, 1_400)
    assert senders.reach(1_390, 50.0) == pytest.approx(999 + 100, abs=3)
    assert senders.reach(1_390, 500.0) == 1_390
    assert not senders.awaited.any(), "nobody is waited for if all that is owed may be lost"


def test_two_silent_senders_share_what_may_be_lost():
    senders = Senders(idle=10_000)
    for first in range(0, 900, 9):
        senders.observe(*steady(first, first + 9, senders=3))
    for first in range(900, 990, 9):  # 2 falls silent first
        time = np.arange(first, first + 9)
        senders.observe(time, time, time % 2)
    silent(senders, 990, 1_490)
    fronts = sorted(senders.front[senders.behind].tolist())
    assert fronts == [899, 989]
    # Sender 2 sent a row in three ticks, sender 1 a little more: 30 rows are owed at 989, and then two in three ticks.
    assert senders.reach(1_480, 10.0) == pytest.approx(899 + 30, abs=2)
    assert senders.reach(1_480, 65.0) == pytest.approx(989 + 50, abs=5)


def test_a_sender_that_always_uploads_in_bulk_is_not_behind():
    """Each of 8 machines uploads every 80 ticks what it has gathered."""
    senders = Senders(idle=10**9)
    for now in range(80, 4_000, 10):
        machine = now // 10 % 8
        gathered = np.arange(max(0, now - 80), now)
        senders.observe(gathered, np.full(len(gathered), now), np.full(len(gathered), machine))
        if now > 400:
            assert not senders.behind.any()


def test_an_idle_timeout_ends_the_wait():
    senders = Senders(idle=300)
    for first in range(0, 1_000, 10):
        senders.observe(*steady(first, first + 10))
    silent(senders, 1_000, 1_250)
    assert senders.reach(1_240, 0.0) == 999
    silent(senders, 1_250, 1_400)
    assert senders.reach(1_390, 0.0) == 1_390


def test_a_clock_that_is_ahead_does_not_make_a_sender_late():
    senders = Senders(idle=10_000)
    for first in range(0, 1_000, 10):
        time = np.arange(first, first + 10)
        senders.observe(time + np.where(time % 2, 500, 0), time, time % 2)
    assert not senders.behind.any()
    silent(senders, 1_000, 1_300)
    assert senders.reach(1_290, 0.0) == 1_290, "its rows are of times to come"
    silent(senders, 1_300, 1_700)
    assert senders.reach(1_690, 0.0) == 1_499


def test_more_senders_than_are_followed_are_harmless():
    hold = SourceHold(unit="s")
    time = np.arange(20_000)
    assert hold.observe(time, time, time % 9_999) == LATEST
    assert len(hold.state()) < 1_000_000


def test_senders_that_are_given_up_make_room_for_others():
    """As many senders as are followed come and go; of two that come after them one falls silent."""
    hold = SourceHold(idle=1_000, unit="s")
    gone = np.arange(4_096)
    hold.observe(gone, gone, gone + 2)
    for start in range(4_096, 10_096, 100):
        hold.observe(*steady(start, start + 100))
    for start in range(10_096, 10_896, 100):
        alone = np.arange(start, start + 100)
        reached = hold.observe(alone, alone, np.zeros(100, np.int64))
    assert reached == 10_095


def test_state_goes_on_where_it_was():
    first, second = SourceHold(unit="s"), SourceHold(unit="s")
    for start in range(0, 2_000, 100):
        first.observe(*steady(start, start + 100))
    second.restore(first.state())
    for start in range(2_000, 2_500, 100):
        alone = np.arange(start, start + 100), np.arange(start, start + 100), np.zeros(100, np.int64)
        assert first.observe(*alone) == second.observe(*alone)
    assert second.observe(*alone) < LATEST


def test_keys_of_texts_are_stable_and_apart():
    names = np.array(["a", "b", "a", "ä"])
    assert keys(names)[0] == keys(names)[2]
    assert len(set(keys(names).tolist())) == 3
    assert keys(np.array(["a"])).tolist() == keys(np.array(["a"], object)).tolist()


def test_a_sender_whose_clock_jumps_ahead_is_not_waited_for():
    """All its rows are suspect, so that it looks silent; naming the senders must not cost anything."""
    stream = streams.outage(24_000, rate=60, length=0.001, seed=46)
    wrong = (stream.source == 3) & (np.arange(len(stream.event)) > 6_000)
    event = stream.event + np.where(wrong, 86_400_000, 0)
    holds = []
    for source in (None, stream.source):
        _, found = replay(batches_by_rows(event, stream.arrival, 64, source), controller(0.01, "budget", unit="ms"))
        holds.append(found.mean_hold)
    assert holds[1] < 1.05 * holds[0]
