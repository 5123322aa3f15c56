"""The three models say the same of every point in time; figures 2 to 4 of APAS as each of them sends them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from tests.kernels.changelog.compositions import compositions
from tests.kernels.changelog.running import given_by, run
from tests.kernels.changelog.trees import S, grouped, kernel, rows, steps, window

from slackwater.kernels.arrays import EARLIEST
from slackwater.kernels.changelog.kernel import Changes
from slackwater.kernels.changelog.models import (
    NEGATIVE,
    POSITIVE,
    Told,
    mixed,
    positive_negative,
    results_of,
    table_at,
    temporal,
    temporal_by_inputs,
)
from slackwater.spark.fused.changelog import changes_of
from slackwater.testing.plans import Case

END = 10_000


@settings(max_examples=15, deadline=None)
@given(case=compositions())
def test_all_models_mean_the_same_table_at_every_point_in_time(case: Case):
    kernel = Changes(changes_of(case.plan))
    results = results_of(run(kernel, given_by(case.plan, case.feeds), stored=False).logs)
    inputs = np.arange(0, END + 1, 3)
    told = [mixed(results, END), positive_negative(results, END)]
    whole = [temporal(results, END, known=False), temporal_by_inputs(results, END, inputs)]
    times = np.unique(np.concatenate([results.start, results.until, results.start - 1]))
    for time in times[times < END].tolist():
        live = np.flatnonzero((results.start <= time) & (results.until > time))
        assert all(np.array_equal(table_at(each, time), live) for each in told)
        ended = live[results.until[live] < END]
        assert all(
            np.isin(ended, table_at(each, time)).all() and np.isin(table_at(each, time), live).all() for each in whole
        )
    assert len(told[0]) <= len(told[1])


def sums() -> tuple:
    """APAS figures 3 and 4: 1 at 0, 2 at 3, 4 at 5, over a window of 10."""
    made = kernel(grouped(window(S, 10), "sum", "x"))
    batches = ({"S": rows((0, 1, 0), (0, 2, 3), (0, 4, 5))}, EARLIEST), ({}, 100)
    return results_of([step.log for step in steps(made, *batches)])


def sent(told: Told, kind: int) -> list[tuple[int, int, int]]:
    chosen = told.kind == kind
    return sorted(zip(*(each[chosen].tolist() for each in (told.at, told.start, told.end)), strict=True))


def test_figure_4_the_mixed_model():
    told = mixed(sums(), 100)
    assert sent(told, POSITIVE) == [(0, 0, 10), (3, 3, 10), (5, 5, 10), (10, 10, 13), (13, 13, 15)]
    assert sent(told, NEGATIVE) == [(3, 3, 3), (5, 5, 5)]


def test_figure_3b_every_end_is_a_negative():
    told = positive_negative(sums(), 100)
    assert [at for at, _, _ in sent(told, POSITIVE)] == [0, 3, 5, 10, 13]
    assert [at for at, _, _ in sent(told, NEGATIVE)] == [3, 5, 10, 13, 15]


def test_figure_3a_a_value_is_sent_when_its_end_is_known():
    told = temporal(sums(), 100, known=False)
    assert list(zip(told.at, told.start, told.end, strict=True)) == [
        (3, 0, 3),
        (5, 3, 5),
        (10, 5, 10),
        (13, 10, 13),
        (15, 13, 15),
    ]
    assert told.delay(sums()).tolist() == [3, 2, 5, 3, 2]


def test_by_inputs_every_living_group_is_sent_at_each_input():
    """Two groups; an input of one cuts the result of the other."""
    made = kernel(grouped(window(S, 10), "sum", "x"))
    batches = ({"S": rows((0, 1, 0), (1, 1, 2), (0, 1, 4))}, EARLIEST), ({}, 100)
    results = results_of([step.log for step in steps(made, *batches)])
    told = temporal_by_inputs(results, 100, np.array([0, 2, 4, 50]))
    pieces = sorted(zip(told.at.tolist(), told.start.tolist(), told.end.tolist(), strict=True))
    assert pieces == [(2, 0, 2), (4, 2, 4), (4, 2, 4), (50, 4, 10), (50, 4, 12), (50, 10, 14)]
