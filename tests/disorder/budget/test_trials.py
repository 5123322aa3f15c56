"""How far each trial's level is corrected by its own losses, and which one serves, worked out by hand."""

import numpy as np
import pytest

from slackwater.disorder.budget.census import BY_AGE, BY_COUNT, KINDS
from slackwater.disorder.budget.lateness import ALL, MEMORIES
from slackwater.disorder.budget.trials import FORECASTS, NOWHERE, Trials
from slackwater.disorder.tally import Tally

ROWS = 5_000


def run(made, event, delay, forecast, price=1.0):
    """A batch of these event times, behind clocks that both stand at 100."""
    batch = Tally.of(np.array(event), np.array(event))
    delays = np.broadcast_to(np.asarray(delay, float), (2, len(MEMORIES)))
    return made.run(
        batch, np.array([100.0, 100.0]), delays, 0.01, price, lambda aim, _: aim, np.asarray(forecast, float)
    )


def trials(lost, forecast=100.0):
    """All trials stand at 100, and 5,000 rows come, of which so many are older, where 50 are allowed."""
    made = Trials(0.01)
    run(made, [100], 0, [forecast] * KINDS)
    made.count(Tally.of(np.where(np.arange(ROWS) < lost, 50, 150), np.full(ROWS, 200)))
    return made


def test_too_many_losses_lower_the_level_of_every_memory():
    assert trials(80).pressure(0.0)[:FORECASTS] == pytest.approx(np.full(FORECASTS, -30 / 31.5))
    assert trials(80).pressure(1.0)[:FORECASTS] == pytest.approx(np.full(FORECASTS, -30 / 31.5))


def test_forecasts_are_corrected_more_slowly():
    pressure = trials(80).pressure(0.0)
    assert pressure[FORECASTS + BY_AGE] == pytest.approx(-30 / (30 + 0.1 * 50))
    assert pressure[FORECASTS + BY_COUNT] == pytest.approx(-30 / (30 + 50))


def test_too_few_losses_raise_that_of_all_history_beyond_a_deviation():
    pressure = trials(42).pressure(1.0)
    assert pressure[:ALL] == pytest.approx(np.full(ALL, 8 / 31.5))
    assert pressure[ALL] == pytest.approx((8 - np.sqrt(50)) / 31.5)
    assert trials(42).pressure(0.0)[ALL] == pytest.approx(8 / 31.5)


def test_a_few_losses_less_than_allowed_are_chance():
    assert trials(45).pressure(1.0)[ALL] == 0


def test_what_is_not_forecast_goes_along_with_all_history():
    made = trials(0, forecast=NOWHERE)
    cost = run(made, [150], [50, 50, 50, 50, 50, 20], [NOWHERE] * KINDS)
    assert made.stands(FORECASTS + BY_COUNT) == made.stands(ALL) == 100
    assert cost[FORECASTS:].tolist() == [np.inf] * KINDS
    assert made.pressure(0.0)[FORECASTS:].tolist() == [0.0] * KINDS


@pytest.mark.parametrize(("forecast", "serves"), [(112, True), (108, False)])
def test_counts_serve_if_they_save_a_twentieth(forecast, serves):
    """Rows at 300 wait for 200 with every memory, which stands at 100; a twentieth is ten."""
    made = trials(0)
    made.count(Tally.of(np.full(ROWS, 300), np.full(ROWS, 300)))
    run(made, np.full(ROWS, 300), 0, [100, forecast])
    assert made.counts is serves


def test_counts_are_given_up_when_a_memory_costs_no_more():
    made = trials(0)
    for forecast in (200, 100, 100, 100):
        made.count(Tally.of(np.full(ROWS, 300), np.full(ROWS, 300)))
        run(made, np.full(ROWS, 300), 0, [100, forecast])
        assert made.counts
    made.count(Tally.of(np.full(40, 150), np.full(40, 300)))
    run(made, [300], 0, [100, 100], price=1e6)
    assert not made.counts
