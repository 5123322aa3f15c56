"""Lengths of windows and frequencies: a number of ticks of time, or a number of tuples."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from slackwater.errors import QueryError, nearest

TICK = 1
"""One tick is a microsecond, the resolution of Spark's TIMESTAMP."""
TICKS_PER_MS = 1_000
"""Ticks in a millisecond, the unit of Spark's watermark and of controllers."""

MICROSECONDS = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
}
TUPLE_UNITS = ("tuple", "row")
LONGEST = 2**62
"""The longest time in ticks. Adding a longer one to a timestamp would overflow."""


class Kind(Enum):
    TIME = "time"
    TUPLES = "tuples"


@dataclass(frozen=True, slots=True)
class Length:
    """``5 minutes`` or ``100 tuples``: `amount` counts ticks or tuples.

    >>> Length.of(5, "minutes")
    Length(amount=300000000, kind=<Kind.TIME: 'time'>)
    >>> str(Length.of(90, "Seconds")), str(Length.of(1, "tuple"))
    ('90 seconds', '1 tuple')
    """

    amount: int
    kind: Kind

    @classmethod
    def of(cls, number: int, unit: str) -> Length:
        name = unit.lower().removesuffix("s")
        if name in TUPLE_UNITS:
            length = cls(number, Kind.TUPLES)
        elif name in MICROSECONDS:
            length = cls(number * MICROSECONDS[name], Kind.TIME)
        else:
            units = [*MICROSECONDS, *TUPLE_UNITS]
            raise QueryError("SW-110", f"'{unit}' is not a unit", expected=", ".join(units), hint=nearest(name, units))
        if not 0 < length.amount <= LONGEST:
            raise QueryError(
                "SW-111",
                f"a length of {number} {unit} is not possible",
                expected="a whole number above 0",
                hint="give a positive length that a timestamp can hold",
            )
        return length

    @classmethod
    def parse(cls, text: str) -> Length:
        """Return the length that a text states, in the form that the builder and the options use.

        >>> Length.parse("1 minute") == Length.of(60, "seconds")
        True
        """
        number, _, unit = text.strip().partition(" ")
        if not number.isdigit() or not unit.strip():
            raise QueryError(
                "SW-112",
                f"'{text}' is not a length",
                expected="a whole number and a unit, such as '5 minutes' or '100 tuples'",
                hint="write the number, a space and the unit",
            )
        return cls.of(int(number), unit.strip())

    @property
    def is_time(self) -> bool:
        return self.kind is Kind.TIME

    def __str__(self) -> str:
        if not self.is_time:
            return _plural(self.amount, "tuple")
        unit, size = next((unit, size) for unit, size in reversed(MICROSECONDS.items()) if self.amount % size == 0)
        return _plural(self.amount // size, unit)


def ticks_of(text: str | None) -> int | None:
    """Return the ticks of a time written as text, or None for None.

    >>> ticks_of("30 seconds"), ticks_of(None)
    (30000000, None)
    """
    if text is None:
        return None
    length = Length.parse(text)
    if not length.is_time:
        raise QueryError(
            "SW-223", f"'{text}' is not a time", expected="a time such as '30 seconds'", hint="use a unit of time"
        )
    return length.amount


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


ONE_TUPLE = Length(1, Kind.TUPLES)
