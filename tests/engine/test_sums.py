"""Sums are exact: against fractions, over any range of magnitudes, and after what was large has left."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from statistics import stdev

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.chains import X, batch, grouped, kernel, tuples, window
from tests.engine.running import plain_rows, run

from slackwater.engine.numbers.limbs import WIDTH, of_floats, of_integers, of_squares, total
from slackwater.engine.plan import AggregateStep, Call
from slackwater.errors import QueryError, RunError

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def value(limbs: dict[int, np.ndarray], place: int) -> Fraction:
    return sum((Fraction(int(limb[place])) * Fraction(2) ** (WIDTH * k) for k, limb in limbs.items()), Fraction(0))


@given(st.lists(FLOATS, min_size=1, max_size=8))
def test_limbs_of_a_double_add_up_to_it(values: list[float]):
    limbs = of_floats(np.array(values))
    assert [value(limbs, place) for place in range(len(values))] == [Fraction(each) for each in values]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8))
def test_limbs_of_a_whole_number_add_up_to_it(values: list[int]):
    limbs = of_integers(np.array(values, np.int64))
    assert [value(limbs, place) for place in range(len(values))] == values


@given(st.lists(st.floats(-1e100, 1e100).filter(lambda each: each == 0 or abs(each) > 1e-100), min_size=1, max_size=8))
def test_limbs_of_a_square_add_up_to_it(values: list[float]):
    limbs = of_squares(np.array(values))
    assert [value(limbs, place) for place in range(len(values))] == [Fraction(each) ** 2 for each in values]


@given(st.lists(st.floats(-1e300, 1e300), max_size=30))
def test_a_sum_is_the_nearest_double_to_the_exact_one(values: list[float]):
    """Up to a hair: of two doubles that are as near as makes no difference in 106 bits it may be either."""
    limbs = {k: limb.sum(keepdims=True) for k, limb in of_floats(np.array(values)).items()}
    found, exact = float(total(limbs, 1)[0][0]), sum(map(Fraction, values), Fraction(0))
    assert abs(Fraction(found) - exact) <= Fraction(math.ulp(found)) * Fraction(1 + 1e-15) / 2


def sliding(function: str, values: list[float | None], length: int = 2) -> list[float | None]:
    """Return the function over the last rows at each, one batch per row, so that all goes through the state."""
    fused = kernel(window(tuples(length)), grouped(function))
    steps = [(({"k": 1, "x": each, "ts": time},), time + 1) for time, each in enumerate(values)]
    return [row[0][1] for rows in run(fused, steps).rows for row in rows]


def test_what_has_left_a_window_leaves_nothing_behind():
    """Running sums in floating point would be 0 for ever after 1e300 came and went."""
    assert sliding("sum", [1e300, 1.0, 2.0, 1e-300, 3.0]) == [1e300, 1e300, 3.0, 2.0, 3.0]


def test_the_average_of_equal_values_is_that_value():
    assert sliding("avg", [0.1] * 5, length=3) == [0.1] * 5


def test_the_average_of_what_is_close_to_the_greatest_double_is_a_number():
    """As in Spark it is infinite only where the sum is."""
    most = 1.7976931348623157e308
    assert sliding("avg", [1e307, 1e308, -1e308, 5.0, most]) == [1e307, 5.5e307, 0.0, -5e307, most / 2]
    assert sliding("avg", [1e308, 1e308, 1.0]) == [1e308, math.inf, 5e307]


def test_infinities_and_nan_leave_with_their_rows():
    found = sliding("sum", [1.0, math.inf, 1.0, -math.inf, math.inf, 2.0, math.nan, 1.0, 2.0])
    assert [str(each) for each in found] == ["1.0", "inf", "inf", "-inf", "nan", "inf", "nan", "nan", "3.0"]


def test_nulls_are_not_values():
    assert sliding("sum", [None, None, 1.0, None, None]) == [None, None, 1.0, 1.0, None]
    assert sliding("avg", [4.0, None, 2.0, None, None]) == [4.0, 4.0, 2.0, 2.0, None]
    assert sliding("count", [4.0, None, 2.0, None, None]) == [1, 1, 1, 1, 0]


@settings(max_examples=25)
@given(st.lists(st.integers(0, 50), min_size=2, max_size=12), st.sampled_from([0.0, 1e4, 1e8]))
def test_a_deviation_far_from_zero_is_as_good_as_one_near_it(values: list[int], far: float):
    found = sliding("stddev_samp", [far + each for each in values], length=4)
    windows = [values[max(0, end - 4) : end] for end in range(1, len(values) + 1)]
    wanted = [stdev(window) if len(window) > 1 else None for window in windows]
    assert found[1:] == pytest.approx(wanted[1:], rel=1e-9, abs=1e-9)
    assert found[0] is None


def over(column: str, function: str, values: list[object]) -> list[object]:
    """Return a function over all values of a type, at the last of them."""
    fused = kernel(window(tuples(100)), grouped(function), columns=(("k", "int"), ("x", column), ("ts", "timestamp")))
    rows = tuple({"k": 1, "x": each, "ts": time} for time, each in enumerate(values))
    return run(fused, [(rows, len(rows))]).rows[0][-1][0][1]


MONEY = st.decimals(-(10**6), 10**6, places=2)


@given(st.lists(MONEY, min_size=1, max_size=12))
def test_sums_and_averages_of_decimals(values: list[Decimal]):
    assert over("decimal(10,2)", "sum", values) == sum(values)
    exact = Fraction(sum(values)) / len(values) * 10**6
    rounded = math.floor(abs(exact) + Fraction(1, 2)) * (1 if exact >= 0 else -1)
    assert over("decimal(10,2)", "avg", values) == Decimal(rounded).scaleb(-6)


def test_a_sum_that_does_not_fit_is_an_error():
    assert over("bigint", "sum", [2**63 - 1, -5, 5]) == 2**63 - 1
    with pytest.raises(RunError, match="SW-581"):
        over("bigint", "sum", [2**63 - 1, 1])


def test_a_million_rows_that_come_and_go_leave_no_error():
    rng = np.random.default_rng(5)
    values, fused = (
        rng.random(1_000_000) * 10.0 ** rng.integers(-8, 8, 1_000_000),
        kernel(window(tuples(3)), grouped("sum")),
    )
    state = fused.init()
    for start in range(0, len(values), 250_000):
        part = slice(start, start + 250_000)
        given_ = batch(np.zeros(250_000, np.int32), values[part], np.arange(start, start + 250_000))
        state, output = fused.step(state, given_, start + 250_000)
    last = plain_rows(output.slice(output.num_rows - 1))[0]
    assert last[1] == float(sum(map(Fraction, values[-3:].tolist())))
    assert pa.types.is_float64(output.schema.field("a").type)


def test_text_is_not_summed():
    """In Spark the sum of a STRING is a DOUBLE; that of '1.5' was an error here, that of '10' text."""
    rows = window(tuples(1))
    summed = AggregateStep((), (Call("it", "sum", (X,), "string"),))
    with pytest.raises(QueryError, match="sum of text"):
        kernel(rows, summed, columns=(("x", "string"), ("ts", "timestamp")))
