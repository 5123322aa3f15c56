"""The synthetic streams are what they say: checked by counting, not by the code that made them."""

import numpy as np
import pytest

from slackwater.testing import disordered as streams

KINDS = [
    streams.normal,
    streams.changing,
    streams.pareto,
    streams.lognormal_drift,
    streams.two_modes,
    streams.bursts,
    streams.outage,
]


def delays(stream):
    return (stream.arrival - stream.event) / stream.ticks


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_in_arrival_order_and_a_seed_repeats_them(kind):
    one, again, other = (kind(20_000, seed=seed, cut=False) for seed in (5, 5, 6))
    assert (np.diff(one.arrival) >= 0).all()
    assert np.array_equal(one.event, again.event)
    assert not np.array_equal(one.event[:100], other.event[:100])
    assert delays(one).min() >= 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_unit_changes_the_numbers_only(kind):
    milli, micro = (kind(5_000, seed=2, ticks=ticks, cut=False) for ticks in (1_000, 1_000_000))
    assert np.array_equal(milli.event, micro.event // 1_000)


def test_a_recording_is_cut_at_the_last_generated_row():
    whole, cut = streams.normal(20_000, mu=0.5, cut=False), streams.normal(20_000, mu=0.5)
    assert len(whole) == 20_000
    assert len(cut) < 20_000
    assert cut.arrival[-1] <= whole.event.max() + 1


def test_delays_have_the_stated_shape():
    assert np.mean(delays(streams.normal(50_000, mu=6, sigma=1, cut=False))) == pytest.approx(6, abs=0.05)
    heavy = delays(streams.pareto(200_000, cut=False))
    assert np.mean(heavy > 1.0) == pytest.approx(10**-1.5, rel=0.1)
    slow = delays(streams.two_modes(100_000, cut=False)) > 5
    assert slow.mean() == pytest.approx(0.015, rel=0.1)


def test_a_changing_stream_changes():
    stream = streams.changing(100_000, every=2.0, rate=5_000.0, cut=False)
    phase = (stream.event - stream.event.min()) // 2_000
    means = [delays(stream)[phase == each].mean() for each in range(8)]
    assert max(means) - min(means) > 1.5


def test_only_the_broken_source_is_late_and_in_order():
    stream = streams.outage(40_000, seed=3)
    broken = stream.source == 0
    assert delays(stream)[broken].max() > 50
    assert delays(stream)[~broken].max() < 5
    backlog = broken & (delays(stream) > 5)
    assert (np.diff(stream.event[backlog]) >= 0).all()


def test_bursts_are_bursts():
    stream = streams.bursts(100_000, cut=False)
    per_second = np.bincount((stream.event - stream.event.min()) // 1_000)
    assert per_second.max() > 8 * np.median(per_second)


def test_far_future_rows_are_a_year_ahead():
    stream = streams.far_future(streams.normal(200_000, seed=1))
    ahead = delays(stream) < -streams.YEAR / 2
    assert 5 <= ahead.sum() <= 50
