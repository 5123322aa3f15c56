"""Generated streams: repeatable in any cut, and what their options say."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.errors import InputError
from slackwater.spark.io.sources.recipe import GENERATE, Recipe
from slackwater.spark.options import Options

SECOND = 1_000_000


def recipe(**options: str) -> Recipe:
    return Recipe.of(Options(GENERATE, options))


def delays(rows: dict[str, np.ndarray]) -> np.ndarray:
    return (rows["received"] - rows["timestamp"]) / SECOND


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["vehicles", "sensors", "pulses", "body_conditions"]),
    st.sampled_from(["0 seconds", "3 seconds"]),
    st.lists(st.integers(0, 40 * SECOND), max_size=8),
)
def test_any_cut_into_intervals_gives_the_same_rows(stream, outage, edges):
    made = recipe(stream=stream, rate="37.5", senders="16", outage=outage, outage_every="10 seconds")
    whole = made.between(0, 40 * SECOND)
    edges = sorted({0, *edges, 40 * SECOND})
    parts = [made.between(*pair) for pair in pairwise(edges)]
    for name, values in whole.items():
        assert np.array_equal(np.concatenate([part[name] for part in parts]), values)


def test_rows_arrive_in_order_at_the_stated_rate_and_number():
    rows = recipe(rate="250", rows="1001").between(0, 10 * SECOND)
    assert len(rows["received"]) == 1001
    assert (np.diff(rows["received"]) >= 0).all()
    assert rows["received"].max() - rows["received"].min() < 5 * SECOND


def test_arrivals_are_random():
    """Gaps of a Poisson process: their deviation equals their mean."""
    gaps = np.diff(recipe(rate="1000").between(0, 30 * SECOND)["received"])
    assert np.mean(gaps) == pytest.approx(1_000, rel=0.02)
    assert np.std(gaps) == pytest.approx(1_000, rel=0.05)


@pytest.mark.parametrize(
    ("options", "mean", "deviation"),
    [
        ({"delay": "exponential"}, 2.0, 2.0),
        ({"delay": "normal", "deviation": "0.3 seconds"}, 2.0, 0.3),
        ({"delay": "lognormal", "deviation": "1 second"}, 2.0, 1.0),
        ({"delay": "pareto", "shape": "5"}, 2.0, 1.6 * np.sqrt(5 / 48)),
        ({"delay": "none"}, 0.0, 0.0),
    ],
)
def test_delays_have_the_stated_distribution(options, mean, deviation):
    """Pareto with shape a and least value m: mean a m/(a-1), variance m^2 a/((a-1)^2 (a-2))."""
    found = delays(recipe(rate="5000", mean="2 seconds", **options).between(0, 20 * SECOND))
    assert found.mean() == pytest.approx(mean, rel=0.03, abs=1e-5)
    assert found.std() == pytest.approx(deviation, rel=0.15, abs=1e-5)


def test_drift_lets_the_mean_rise_and_fall_by_its_factor():
    made = recipe(rate="2000", mean="1 second", drift="3", drift_every="40 seconds")
    crest, trough = made.between(9 * SECOND, 11 * SECOND), made.between(29 * SECOND, 31 * SECOND)
    assert delays(crest).mean() == pytest.approx(3.0, rel=0.1)
    assert delays(trough).mean() == pytest.approx(1 / 3, rel=0.1)


def test_after_an_outage_the_backlog_comes_in_order_and_ten_times_as_fast():
    made = recipe(stream="sensors", rate="800", senders="8", delay="none", outage="10 seconds", outage_every="1 minute")
    rows = made.between(0, 60 * SECOND)
    since = (rows["received"] - made.start) / SECOND
    down = rows["sensor"] == 0
    assert not np.any(down & (since >= 30) & (since < 40))
    backlog = delays(rows) > 0.1
    assert set(rows["sensor"][backlog]) == {0}
    assert since[backlog].min() >= 40
    assert since[backlog].max() <= 41
    assert (np.diff(rows["timestamp"][backlog]) >= 0).all()
    assert np.count_nonzero(backlog) == pytest.approx(1_000, rel=0.1)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"stream": "vehicle"}, "vehicles"),
        ({"rate": "fast"}, "option rate"),
        ({"mean": "2"}, "a time such as"),
        ({"delay": "gauss"}, "option delay"),
        ({"rows": "-1"}, "a whole number"),
        ({"start": "yesterday"}, "option start"),
        ({"outage": "40 seconds", "outage_every": "1 minute"}, "shorter or rarer"),
    ],
)
def test_a_wrong_option_is_named(options, told):
    with pytest.raises(InputError, match=told):
        recipe(**options)


def test_a_slow_stretch_multiplies_the_delays_of_its_time_and_no_others():
    plain, slow = (
        recipe(rate="500", seed="3"),
        recipe(rate="500", seed="3", slow="4", slow_from="5 seconds", slow_for="3 seconds"),
    )
    for second in range(10):
        calm, here = (delays(each.between(second * SECOND, (second + 1) * SECOND)) for each in (plain, slow))
        assert np.allclose(here, calm * (4 if 5 <= second < 8 else 1), atol=1e-5)
