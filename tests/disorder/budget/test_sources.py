"""Senders that fall silent or catch up, on traces in which ignoring them breaks the ratio."""

import numpy as np
import pytest

from slackwater.disorder import controller
from slackwater.disorder.budget.sources import Senders, SourceHold, keys
from slackwater.disorder.clock import LATEST
from slackwater.disorder.replay.replaying import batches_by_rows, replay
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
    trusting = controller(0.01, "budget", unit="ms", skew=LATEST)
    _, broken = replay(batches_by_rows(stream.event, stream.arrival, 64), trusting)
    assert found.late_share <= 0.01
    assert guarded.progress.suspect == np.count_nonzero(stream.event > stream.arrival + 300_000)
    assert broken.late_share > 0.01 or broken.mean_hold > 2 * found.mean_hold


def steady(start, stop, senders=2):
    time = np.arange(start, stop)
    return time, time, time % senders


def test_a_sender_is_waited_for_where_it_stopped_until_it_has_caught_up():
    senders = Senders(idle=10_000)
    senders.observe(*steady(0, 1_000))
    assert senders.waited_for() == (LATEST, 0.0)
    alone = np.arange(1_000, 1_400)
    senders.observe(alone, alone, np.zeros(400, np.int64))
    front, owed = senders.waited_for()
    assert front == 999
    assert owed == pytest.approx(200, rel=0.05)  # a row every other tick for 400 ticks
    backlog = np.arange(1_001, 1_201, 2)
    now = np.full(100, 1_400)
    mine = senders.observe(backlog, now, np.ones(100, np.int64))
    assert mine.all()
    assert senders.waited_for()[0] >= 999
    senders.observe(*steady(1_401, 1_500))
    assert senders.waited_for() == (LATEST, 0.0)


def test_a_pause_without_a_backlog_becomes_a_habit():
    senders = Senders(idle=10**9)
    time = np.arange(0, 1_000)
    senders.observe(time, time, time % 2)
    for start in range(1_000, 9_000, 2_000):
        alone = np.arange(start, start + 1_000)
        senders.observe(alone, alone, np.zeros(1_000, np.int64))
        both = np.arange(start + 1_000, start + 2_000)
        senders.observe(both, both, both % 2)
    alone = np.arange(9_000, 10_000)
    senders.observe(alone, alone, np.zeros(1_000, np.int64))
    assert senders.waited_for()[0] == LATEST


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
    for start in range(4_096, 10_000, 500):
        hold.observe(*steady(start, start + 500))
    alone = np.arange(10_096, 10_396)
    assert hold.observe(alone, alone, np.zeros(300, np.int64)) == 10_095


def test_state_goes_on_where_it_was():
    first, second = SourceHold(unit="s"), SourceHold(unit="s")
    first.observe(*steady(0, 200))
    second.restore(first.state())
    alone = np.arange(200, 400), np.arange(200, 400), np.zeros(200, np.int64)
    assert first.observe(*alone) == second.observe(*alone) < LATEST


def test_keys_of_texts_are_stable_and_apart():
    names = np.array(["a", "b", "a", "ä"])
    assert keys(names)[0] == keys(names)[2]
    assert len(set(keys(names).tolist())) == 3
    assert keys(np.array(["a"])).tolist() == keys(np.array(["a"], object)).tolist()
