"""Cells: what is written is read as the same value, and two values are the same where a person would say so."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.algebra.schema import UNKNOWN
from slackwater.app.testing.cells import DURATION, Notation, matches, notation_of, read_cell, write_cell, write_time
from slackwater.app.testing.tables import Paragraph, read_table, write_table

TICKS = st.integers(-62_000_000_000 * 10**6, 250_000_000_000 * 10**6)
"""Points in time of years 5 to 9892."""
VALUES = st.one_of(
    st.tuples(st.just("int"), st.integers(-(2**31), 2**31 - 1)),
    st.tuples(st.just("bigint"), st.integers(-(2**63), 2**63 - 1)),
    st.tuples(st.just("double"), st.floats()),
    st.tuples(st.just("float"), st.floats(width=32)),
    st.tuples(st.just("boolean"), st.booleans()),
    st.tuples(st.just("date"), st.dates()),
    st.tuples(st.just("decimal(12,2)"), st.integers(-(10**11), 10**11).map(lambda cents: Decimal(cents).scaleb(-2))),
    st.tuples(st.just("string"), st.text()),
    st.tuples(st.just("array<string>"), st.lists(st.text())),
    st.tuples(st.just("array<bigint>"), st.lists(st.integers(-(2**63), 2**63 - 1) | st.none())),
    st.tuples(st.just("timestamp"), TICKS),
    st.tuples(st.just(DURATION), TICKS),
    st.tuples(st.sampled_from(["int", "string", "double", "timestamp"]), st.none()),
)


@given(st.lists(VALUES, min_size=1, max_size=4), st.sampled_from(Notation))
def test_a_table_that_is_written_is_read_as_the_same_values(values, notation):
    cells = [write_cell(value, kind, notation) for kind, value in values]
    lines = write_table("result", [f"c{place}" for place in range(len(cells))], [(0, cells)])
    ((batch, found),) = read_table(Paragraph(1, tuple(lines), "page.md")).lines
    assert batch == 0
    for cell, (kind, value) in zip(found, values, strict=True):
        assert matches(read_cell(cell.text, kind), value), (cell.text, kind, value)


@given(TICKS)
def test_a_time_is_written_in_the_notation_that_it_is_read_as(ticks):
    text = write_time(ticks, Notation.SECONDS)
    assert notation_of(text) is Notation.SECONDS
    assert notation_of(write_time(ticks, Notation.DATES)) is Notation.DATES


@pytest.mark.parametrize(
    ("cell", "kind", "value", "same"),
    [
        ("38", "double", 38.0, True),
        ("38", "double", 38.4, False),
        ("36.66...", "double", 110 / 3, True),
        ("36.67...", "double", 110 / 3, False),
        ("-0.3...", "double", -1 / 3, True),
        ("0.3", "double", 0.1 + 0.2, True),
        ("0.3", "double", 0.3001, False),
        ("NaN", "double", float("nan"), True),
        ("NaN", "double", 0.0, False),
        ("0.1", "float", 0.10000000149011612, True),
        ("1.5", "decimal(6,2)", Decimal("1.50"), True),
        ("-", "double", 0.0, False),
        ("0", "double", None, False),
        ('"-"', "string", "-", True),
        ("5", UNKNOWN, 5, True),
        ("5", UNKNOWN, 5.5, False),
        ("five", UNKNOWN, 5, False),
        ("2.5", UNKNOWN, Decimal("2.50"), True),
        ("true", UNKNOWN, True, True),
        ("[1, 2]", "array<int>", [1, 2], True),
        ("[1, 2]", "array<int>", [1, 2, 3], False),
        ("2024-02-29", "date", date(2024, 2, 29), True),
        ("2024-02-29 00:00:01", "timestamp", 1_709_164_801_000_000, True),
        ("2024-02-29T01:00:01+01:00", "timestamp", 1_709_164_801_000_000, True),
    ],
)
def test_what_a_cell_matches(cell, kind, value, same):
    assert matches(read_cell(cell, kind), value) is same


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        ("", "int"),
        ("1.0", "int"),
        ("2147483648", "int"),
        ("yes", "boolean"),
        ("1.555", "decimal(6,2)"),
        ("1,5", "double"),
        ("25:00:00", "date"),
        ("noon", "timestamp"),
        ("12:00", DURATION),
        ("9" * 30, "timestamp"),
        ("{}", "array<int>"),
        ("x", "map<string,int>"),
        ("1e400x", "double"),
    ],
)
def test_what_is_no_value(cell, kind):
    with pytest.raises(ValueError):
        read_cell(cell, kind)
