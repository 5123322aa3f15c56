"""Rows per stretch of event time against plain counting, and what is said to be still to come of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.disorder.budget.census import BEHIND, BY_AGE, BY_COUNT, SETTLED, STRETCHES, Census, Forecast
from slackwater.disorder.budget.histogram import LARGEST
from slackwater.disorder.clock import EARLIEST
from slackwater.disorder.tally import Tally

WHEN = 1_000_000


def counted(event, arrival, delay, batch=100):
    """A census of these rows, in batches, with stretches for this delay; the rows are sorted by arrival."""
    census = Census()
    for first in range(0, len(event), batch):
        rows = slice(first, first + batch)
        census.enter(Tally.of(event[rows], arrival[rows]), int(arrival[rows].max()), delay, WHEN)
    return census


def arriving(delay, every=10, missing=None):
    """Rows sent every so many ticks, with these delays, without those that are missing: by arrival."""
    event = WHEN + np.arange(len(delay)) * every
    arrival = event + delay
    kept = np.ones(len(delay), bool) if missing is None else ~missing
    order = np.argsort(arrival[kept], kind="stable")
    return event[kept][order], arrival[kept][order]


def survival(delays):
    """The share of these delays above each bucket."""
    return np.mean(np.asarray(delays)[:, None] > LARGEST[None, :1_200], axis=0)


@settings(max_examples=60, deadline=None)
@given(
    late=st.lists(st.integers(0, 3_000), min_size=1, max_size=400),
    pace=st.integers(0, 20),
    delays=st.lists(st.integers(1, 40_000), min_size=1, max_size=4),
)
def test_stretches_hold_what_came_whatever_their_length_was_before(late, pace, delays):
    arrival = WHEN + np.arange(len(late)) * pace
    event = arrival - np.array(late)
    census, known, wide = Census(), EARLIEST, 0
    for number, part in enumerate(np.array_split(np.arange(len(late)), len(delays))):
        if len(part):
            head = int(arrival[part[-1]])
            census.enter(Tally.of(event[part], arrival[part]), head, delays[number], int(event.min()))
            known = max(known, census._first * census._width)  # what is older has left, and does not come back
            wide = max(wide, census._width)  # where a stretch was halved, its rows are taken to be even
    ends = (census._first + np.arange(STRETCHES + 1)) * census._width
    for place in range(0, STRETCHES + 1, 64):
        found = census._rows[:place].sum()
        assert np.count_nonzero((event >= known + wide) & (event < ends[place] - wide)) <= found
        assert found <= np.count_nonzero(event < ends[place] + wide)
    assert ends[BEHIND] <= arrival.max() < ends[BEHIND + 1]


def test_the_rate_is_that_of_what_is_settled():
    census = counted(*arriving(np.full(40_000, 300), every=1), delay=1_000)
    assert census.ready
    assert census._rate / census._width == pytest.approx(1, rel=0.01)
    assert census.informs(0.01)


@pytest.mark.parametrize(("ticks", "ready"), [(700, False), (1_000, True)])
def test_a_rate_is_known_as_soon_as_a_part_of_a_delay_is_settled(ticks, ready):
    """What is settled is 1,024 ticks old: rows of the first 276 of 1,000, and none that tell of 700."""
    event = WHEN + np.arange(ticks * 20) // 20
    census = counted(event, event + 300, delay=1_000)
    assert census.ready == ready
    if ready:
        assert census._rate / census._width == pytest.approx(20, rel=0.01)


def test_rows_that_come_after_their_stretch_is_settled_count_too():
    delay = np.where(np.arange(40_000) % 4 == 0, 9_000, 0)
    census = counted(*arriving(delay), delay=1_000)
    settled = census._first + BEHIND - SETTLED
    assert census._rate / census._width == pytest.approx(1 / 10, rel=0.05), settled


def test_a_rate_that_is_not_even_informs_of_nothing():
    bursts = np.cumsum(np.where(np.arange(40_000) // 500 % 2, 1, 20)) + WHEN
    census = counted(bursts, bursts + 300, delay=1_000)
    assert census.ready
    assert not census.informs(0.05)


def test_silence_counts_as_time_without_rows_but_not_for_ever():
    event, arrival = arriving(np.full(40_000, 300))
    census = counted(event, arrival, delay=1_000)
    later = np.array([event[-1] + 10**12])
    census.enter(Tally.of(later, later), int(later[0]), 1_000, WHEN)
    assert census._rate / census._width == pytest.approx(1 / 10, rel=0.2)


SPREAD = np.random.default_rng(2).integers(0, 1_000, 60_000)


def lacking(share):
    """A stream in which this share of a second is still missing, 1.6 seconds after it began."""
    event = WHEN + np.arange(60_000) * 10
    now = int(event[-1])
    missing = (event > now - 1_600) & (event < now - 600) & (np.random.default_rng(4).random(60_000) < share)
    census = counted(*arriving(np.zeros(60_000, np.int64), missing=missing), delay=1_000)
    return census.forecast(now, np.stack([survival(SPREAD)] * 2), WHEN, 10**9)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
def test_what_a_stretch_lacks_is_to_come(share):
    forecast = lacking(share)
    rate = 0.1 * forecast.width
    middle = len(forecast.rows) - 1 - int(800 / forecast.width)  # of an age that a fifth of the rows exceed
    assert forecast.to_come[BY_AGE][middle] == pytest.approx(0.2 * rate, rel=0.1)
    assert forecast.to_come[BY_COUNT][middle] == pytest.approx(share * rate, abs=0.07 * rate)


def test_what_is_older_than_every_delay_is_not_to_come():
    forecast = lacking(0.8)
    assert forecast.to_come[BY_COUNT][: -int(1_100 / forecast.width)].max() == 0


def test_where_more_came_than_the_rate_explains_the_rate_is_wrong():
    """Ten times as many rows in the last 1.5 seconds: as many more are to come as delays say."""
    slow, fast = WHEN + np.arange(40_000) * 10, WHEN + 400_000 + np.arange(1_500)
    event = np.concatenate([slow, fast])
    arrived = (event + np.random.default_rng(3).integers(0, 1_000, len(event))) <= fast[-1]
    census = counted(event[arrived], event[arrived], delay=1_000)
    forecast = census.forecast(int(fast[-1]), np.stack([survival(SPREAD)] * 2), WHEN, 10**9)
    middle = len(forecast.rows) - 1 - int(500 / forecast.width)
    assert forecast.to_come[BY_COUNT][middle] > 2 * forecast.to_come[BY_AGE][middle]


whole = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=30)


@given(stretches=whole, price=st.floats(0.1, 10), after=st.integers(-1, 30))
def test_no_other_end_of_a_stretch_is_worth_more(stretches, price, after):
    rows, to_come = np.array(stretches, float).T
    reached = Forecast(rows, (to_come,), 0, 100, EARLIEST).reach(0, price, after * 100 + 99)
    worth = np.concatenate([[0.0], np.cumsum((rows - price * to_come)[after + 1 :])])
    best = float(worth.max())
    if best <= 0:
        assert reached == after * 100 + 99
    else:
        # Within a stretch of its end: part of that one, or of the next one, may do better still.
        place = (reached + 1) / 100 - after - 1
        assert min(abs(place - np.flatnonzero(worth == best))) <= 1


def test_it_never_stays_behind_what_is_the_earliest():
    never = Forecast(np.zeros(5), (np.ones(5),), 10, 100, earliest=1_234)
    assert never.reach(0, 1.0, after=EARLIEST) == 1_234
    assert never.reach(0, 1.0, after=2_000) == 2_000
