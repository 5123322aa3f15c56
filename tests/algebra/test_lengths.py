"""Lengths: units in any spelling, impossible ones refused, text that reads back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.algebra.lengths import MICROSECONDS, Kind, Length
from slackwater.errors import QueryError


@pytest.mark.parametrize(
    ("text", "amount", "kind"),
    [
        ("1 minute", 60_000_000, Kind.TIME),
        ("90 SECONDS", 90_000_000, Kind.TIME),
        ("250 milliseconds", 250_000, Kind.TIME),
        ("2 Days", 172_800_000_000, Kind.TIME),
        ("100 tuples", 100, Kind.TUPLES),
        ("1 row", 1, Kind.TUPLES),
    ],
)
def test_units(text: str, amount: int, kind: Kind):
    assert Length.parse(text) == Length(amount, kind)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1 fortnight", "SW-110"),
        ("0 seconds", "SW-111"),
        ("0 tuples", "SW-111"),
        ("99999999999999999999 days", "SW-111"),
        ("1.5 seconds", "SW-112"),
        ("-1 seconds", "SW-112"),
        ("seconds", "SW-112"),
        ("", "SW-112"),
        ("5", "SW-112"),
    ],
)
def test_what_is_no_length(text: str, code: str):
    with pytest.raises(QueryError) as caught:
        Length.parse(text)
    assert caught.value.code == code


@given(st.integers(1, 10**15), st.sampled_from([*MICROSECONDS, "tuple"]))
def test_text_reads_back(number: int, unit: str):
    length = Length.of(min(number, 2**62 // MICROSECONDS.get(unit, 1)), unit)
    assert Length.parse(str(length)) == length
