"""Aggregates by hand, and put together from stretches in every way."""

import math
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.algebra.expressions import parse_expr
from slackwater.algebra.schema import Field, Schema
from slackwater.errors import QueryError
from slackwater.semantics.aggregates import add_row, new_fold
from slackwater.semantics.expressions import scope_of
from slackwater.semantics.rows import Row

SCHEMA = Schema((Field("v", "double"), Field("w", "int")))


def fold(call: str, rows):
    made = new_fold(parse_expr(call))
    for values in rows:
        add_row(made, parse_expr(call), scope_of(SCHEMA), Row(values, 0))
    return made


ROWS = [(2.0, 1), (None, 3), (4.0, 1), (1.5, None), (0.5, 2)]
EXPECTED = {
    "COUNT(*)": 5,
    "COUNT(v)": 4,
    "COUNT(v, w)": 3,
    "COUNT(DISTINCT w)": 3,
    "SUM(v)": 8.0,
    "SUM(DISTINCT w)": 6,
    "AVG(v)": 2.0,
    "AVG(w)": 1.75,
    "MIN(v)": 0.5,
    "MAX(v)": 4.0,
    "FIRST(v)": 2.0,
    "ANY_VALUE(w)": 1,
    "LAST(v)": 0.5,
    "LAST(w)": 2,
    "LAST(v) IGNORE NULLS": 0.5,
    "STDDEV(v)": (6.5 / 3) ** 0.5,
    "STDDEV_SAMP(v)": (6.5 / 3) ** 0.5,
    "STDDEV_POP(v)": 1.625**0.5,
    "VARIANCE(v)": 6.5 / 3,
    "VAR_POP(v)": 1.625,
    "COUNT_IF(v > 1)": 3,
    "BOOL_AND(v > 1)": False,
    "BOOL_OR(v > 1)": True,
    "MAX_BY(v, w)": None,
    "MIN_BY(w, v)": 2,
    "MIN_BY(v, 0)": None,
    "MAX_BY(v, 0)": 4.0,
    "MAX_BY(v, w) FILTER (WHERE v > 1)": 4.0,
    "BIT_AND(w)": 0,
    "BIT_OR(w)": 3,
    "BIT_XOR(w)": 1,
    "COLLECT_LIST(w)": (1, 3, 1, 2),
    "SUM(v) FILTER (WHERE w > 1)": 0.5,
}


@pytest.mark.parametrize(("call", "expected"), EXPECTED.items())
def test_the_result_is_the_one_worked_out_by_hand(call: str, expected: object):
    assert fold(call, ROWS).result() == expected


def test_only_whole_numbers_have_bits():
    with pytest.raises(QueryError, match=r"SW-242: 2\.0 has no bits"):
        fold("BIT_OR(v)", ROWS)


def test_a_sample_of_one_has_no_deviation():
    assert fold("STDDEV(v)", [(3.0, 1)]).result() is None
    assert fold("STDDEV_POP(v)", [(3.0, 1)]).result() == 0.0


def test_sums_are_rounded_once():
    tenths = [(0.1, None)] * 10
    assert fold("SUM(v)", tenths).result() == 1.0
    assert fold("SUM(v)", [(1e100, 0), (1.0, 0), (-1e100, 0)]).result() == 1.0
    assert math.isnan(fold("SUM(v)", [(math.inf, 0), (-math.inf, 0)]).result())
    assert fold("SUM(v)", [(Decimal("0.10"), 0), (Decimal("0.20"), 0)]).result() == Decimal("0.3")


def test_nan_is_the_greatest():
    assert math.isnan(fold("MAX(v)", [(math.nan, 0), (1.0, 0)]).result())
    assert fold("MIN(v)", [(math.nan, 0), (1.0, 0)]).result() == 1.0


def test_an_aggregate_without_meaning_here_is_an_error():
    with pytest.raises(QueryError):
        new_fold(parse_expr("PERCENTILE(v, 0.5)"))


VALUES = st.tuples(st.sampled_from([0.1, 0.5, 1.5, 4.0, -2.25, None]), st.sampled_from([1, 2, 3, None]))


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(list(EXPECTED)), st.lists(st.lists(VALUES, max_size=4), min_size=1, max_size=4))
def test_stretches_merge_into_the_whole(call: str, stretches: list):
    first, *others = [fold(call, rows) for rows in stretches]
    for each in others:
        first.merge(each)
    assert first.result() == fold(call, [row for rows in stretches for row in rows]).result()


def test_a_sum_beyond_the_greatest_double_is_infinite_and_so_is_its_average():
    assert [fold(call, [(1e308, 1), (1e308, 2)]).result() for call in ("SUM(v)", "AVG(v)")] == [math.inf, math.inf]
    assert fold("AVG(v)", [(1e308, 1)]).result() == 1e308
