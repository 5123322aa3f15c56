"""Aggregates over types and options that random plans do not draw, against a plain loop over each window."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache, reduce
from operator import and_, or_, xor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.chains import X, grouped, kernel, ticks, tuples, window
from tests.engine.running import run

from slackwater.engine.chain import ChainKernel
from slackwater.engine.plan import AggregateStep, Call, FilterStep
from slackwater.errors import QueryError

TYPES: dict[str, st.SearchStrategy[Any]] = {
    "decimal(6,2)": st.decimals(-99, 99, places=2),
    "boolean": st.booleans(),
    "timestamp": st.integers(-100, 100),
    "date": st.integers(-9, 9).map(lambda days: date(2020, 1, 1) + timedelta(days)),
    "string": st.sampled_from(["", "a", "é", "zz", "Z"]),
    "tinyint": st.integers(-128, 127),
    "float": st.sampled_from([0.5, -0.25, float("inf")]),
}
KNOWN = {
    "min": lambda values: min((each for each in values if each is not None), default=None),
    "max": lambda values: max((each for each in values if each is not None), default=None),
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "first known": lambda values: next((each for each in values if each is not None), None),
    "last known": lambda values: next((each for each in reversed(values) if each is not None), None),
    "count distinct": lambda values: len({each for each in values if each is not None}),
}
WINDOWS = {
    "rows": window(tuples(4)),
    "jumps": window(tuples(4), tuples(3)),
    "boundaries": window(ticks(4), ticks(3)),
}


def windows(kind: str, values: list[Any]) -> list[list[Any]]:
    """Return the rows, one a tick from 0, that each instant holds."""
    ends = range(1, len(values) + 1) if kind == "rows" else range(3, len(values) + 1, 3)
    if kind == "boundaries":
        ends = range(3, len(values) + 4, 3)
    held = [values[max(0, end - 4) : end] for end in ends]
    return [each for each in held if each]


@pytest.mark.parametrize("kind", WINDOWS)
@pytest.mark.parametrize("column", TYPES)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_every_type_in_every_window(kind: str, column: str, data: st.DataObject):
    values = data.draw(st.lists(st.none() | TYPES[column], min_size=1, max_size=12))
    rows = [{"x": each, "ts": time} for time, each in enumerate(values)]
    cuts = data.draw(st.integers(1, 5))
    batches = [(tuple(rows[start : start + cuts]), start + cuts) for start in range(0, len(rows), cuts)]
    found = run(all_calls(kind, column), [*batches, ((), 2**63 - 1)])
    wanted = [tuple(brute(held) for brute in KNOWN.values()) for held in windows(kind, values)]
    assert [row[0] for each in found.rows for row in each] == wanted


@lru_cache
def all_calls(kind: str, column: str) -> ChainKernel:
    """Return every function over one column."""
    options = {"known": {"ignore_nulls": True}, "distinct": {"distinct": True}, "": {}}
    parts = [name.partition(" ") for name in KNOWN]
    calls = tuple(Call(f"{name} {option}", name, (X,), **options[option]) for name, _, option in parts)
    return kernel(WINDOWS[kind], AggregateStep((), calls), columns=(("x", column), ("ts", "timestamp")))


Pair = tuple[Any, int | None]
PAIRED: dict[str, tuple[tuple[Any, ...], Callable[[list[Pair]], Any]]] = {
    "max_by": ((X, ("column", "y")), lambda pairs: beside(max, pairs)),
    "min_by": ((X, ("column", "y")), lambda pairs: beside(min, pairs)),
    "bit_and": ((X,), lambda pairs: bitwise(and_, pairs)),
    "bit_or": ((X,), lambda pairs: bitwise(or_, pairs)),
    "bit_xor": ((X,), lambda pairs: bitwise(xor, pairs)),
}


def beside(most: Callable[..., Pair], pairs: list[Pair]) -> int | None:
    """Return the number beside the extreme; of equal ones the greatest, or least, number, NULL before all others."""
    known = [pair for pair in pairs if pair[0] is not None]
    return most(known, key=lambda pair: (pair[0], pair[1] is not None, pair[1] or 0))[1] if known else None


def bitwise(operator: Callable[[int, int], int], pairs: list[Pair]) -> int | None:
    numbers = [number for _, number in pairs if number is not None]
    return reduce(operator, numbers) if numbers else None


@pytest.mark.parametrize("kind", WINDOWS)
@pytest.mark.parametrize("column", TYPES)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_numbers_beside_any_type_and_their_bits(kind: str, column: str, data: st.DataObject):
    numbers = st.none() | st.sampled_from([0, 1, -1, 6, 2**62, -(2**63)])
    pairs = data.draw(st.lists(st.tuples(st.none() | TYPES[column], numbers), min_size=1, max_size=12))
    rows = [{"y": y, "x": x, "ts": time} for time, (y, x) in enumerate(pairs)]
    cuts = data.draw(st.integers(1, 5))
    batches = [(tuple(rows[start : start + cuts]), start + cuts) for start in range(0, len(rows), cuts)]
    calls = tuple(Call(name, name, arguments) for name, (arguments, _) in PAIRED.items())
    columns = (("x", "bigint"), ("y", column), ("ts", "timestamp"))
    found = run(kernel(WINDOWS[kind], AggregateStep((), calls), columns=columns), [*batches, ((), 2**63 - 1)])
    wanted = [tuple(brute(held) for _, brute in PAIRED.values()) for held in windows(kind, pairs)]
    assert [row[0] for each in found.rows for row in each] == wanted


@given(st.lists(st.tuples(st.none() | st.integers(0, 2), st.none() | st.sampled_from("ab")), min_size=1, max_size=10))
@settings(max_examples=25, deadline=None)
def test_distinct_over_several_columns_counts_pairs_without_null(pairs: list[tuple[Any, Any]]):
    columns = (("k", "int"), ("x", "int"), ("y", "string"), ("ts", "timestamp"))
    call = AggregateStep((), (Call("n", "count", (X, ("column", "y")), "bigint", distinct=True),))
    rows = tuple({"x": x, "y": y, "ts": time} for time, (x, y) in enumerate(pairs))
    found = run(kernel(window(tuples(3)), call, columns=columns), [(rows, len(rows))])
    wanted = [
        len({pair for pair in pairs[max(0, end - 3) : end] if None not in pair}) for end in range(1, len(pairs) + 1)
    ]
    assert [row[0][0] for row in found.rows[0]] == wanted


@pytest.mark.parametrize("cuts", [1, 2, 3])
def test_the_number_beside_an_extreme_has_one_sign_of_zero_however_rows_come(cuts: int):
    pairs = [(0.0, 1.0), (-0.0, 1.0), (0.0, -0.0)]
    rows = [{"x": x, "y": y, "ts": time} for time, (x, y) in enumerate(pairs)]
    call = AggregateStep((), (Call("m", "max_by", (X, ("column", "y"))),))
    columns = (("x", "double"), ("y", "double"), ("ts", "timestamp"))
    batches = [(tuple(rows[start : start + cuts]), start + cuts) for start in range(0, 3, cuts)]
    found = run(kernel(window(tuples(5)), call, columns=columns), batches)
    assert [repr(row[0][0]) for each in found.rows for row in each] == ["0.0"] * 3


def test_bits_of_a_small_negative_number_take_as_many_columns_as_it_has():
    call = AggregateStep((), (Call("b", "bit_or", (X,)),))
    rows = tuple({"x": -1, "ts": time} for time in range(3))
    columns = (("x", "tinyint"), ("ts", "timestamp"))
    found = run(kernel(window(tuples(5)), call, columns=columns), [(rows, 3)], stored=False)
    assert [row[0] for row in found.rows[0]] == [(-1,)] * 3
    assert len([name for name in found.states[-1].head if "&" in name]) == 8


def test_many_calls_share_what_they_keep():
    """AVG, SUM, COUNT and STDDEV of one column: one entry a row, one column of arguments."""
    call = AggregateStep((), tuple(Call(name, name, (X,)) for name in CALLS))
    rows = tuple({"k": 1, "x": float(time), "ts": time} for time in range(6))
    found = run(kernel(window(tuples(3)), call), [(rows, 6)], stored=False)
    assert found.rows[0][-1][0] == (4.0, 12.0, 3, 1.0, 1.0)
    (store,) = [store for name, store in found.states[-1].stores.items() if name != "hold"]
    assert store.all().schema.names == ["code", "exit", "a0"]


CALLS = ("avg", "sum", "count", "stddev_samp", "var_samp")
NUMBERED = (">", ("mark", "row_number"), ("literal", 3, "int"))
REFUSED: dict[str, Callable[[], object]] = {
    "SW-354": lambda: kernel(window(tuples(3)), grouped("percentile")),
    "SW-354: max_by cannot": lambda: kernel(window(tuples(3)), grouped("max_by")),
    "SW-354: bit_and of double": lambda: kernel(window(tuples(3)), grouped("bit_and")),
    "SW-355": lambda: kernel(window(tuples(3)), FilterStep(NUMBERED), grouped("sum")),
    "SW-356": lambda: kernel(grouped("sum")),
    "SW-350": lambda: kernel(columns=(("a", "map<int,int>"), ("ts", "timestamp"))),
    "SW-201": lambda: kernel(window(tuples(3)), grouped("sum", "nothing")),
}


@pytest.mark.parametrize("code", REFUSED)
def test_what_cannot_be_computed_is_refused_before_anything_runs(code: str):
    with pytest.raises(QueryError, match=code):
        REFUSED[code]()


def test_sums_of_decimals_in_panes():
    columns = (("k", "int"), ("x", "decimal(6,2)"), ("ts", "timestamp"))
    rows = tuple({"k": 1, "x": Decimal("0.10"), "ts": time} for time in range(9))
    found = run(kernel(window(ticks(6), ticks(3)), grouped("sum"), columns=columns), [(rows[:5], 0), (rows[5:], 9)])
    assert [row[0][1] for row in found.rows[1]] == [Decimal("0.30"), Decimal("0.60"), Decimal("0.60")]
