"""Scalar functions of Spark SQL that need nothing but their arguments."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from sqlglot import exp

from slackwater.semantics.rows import Value
from slackwater.semantics.values import arithmetic, compared, divided, order, remainder


def strict(function: Callable[..., Value]) -> Callable[..., Value]:
    """A function that is NULL where any argument is."""

    def called(*arguments: Value) -> Value:
        return None if None in arguments else function(*arguments)

    return called


def rounded(value: Value, digits: int = 0) -> Value:
    """Half away from zero, as Spark's ROUND.

    >>> rounded(2.5), rounded(-2.5), rounded(25, -1)
    (3.0, -3.0, 30)
    """
    exact = Decimal(str(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return type(value)(exact)


def substring(value: str, start: int, length: int | None = None) -> str:
    """From 1; 0 counts as 1, a negative start from the end."""
    first = start - 1 if start > 0 else max(len(value) + start, 0) if start < 0 else 0
    return value[first:] if length is None else value[first : first + max(length, 0)]


def among(choose: Callable[..., Value]) -> Callable[..., Value]:
    """GREATEST and LEAST pass over NULLs."""

    def chosen(*values: Value) -> Value:
        known = [value for value in values if value is not None]
        return choose(known, key=order) if known else None

    return chosen


def null_if(one: Value, two: Value) -> Value:
    return None if compared(one, two) == 0 else one


def try_divide(one: Value, two: Value) -> Value:
    return None if two == 0 else arithmetic(divided, one, two)


def positive_remainder(one: Value, two: Value) -> Value:
    """`pmod`: the divisor is added to a remainder below zero."""
    rest = remainder(one, two)
    return remainder(rest + two, two) if rest < 0 else rest


CALLS: dict[type, Callable[..., Any]] = {
    exp.Neg: strict(lambda value: -value),
    exp.Abs: strict(abs),
    exp.Round: strict(rounded),
    exp.Floor: strict(math.floor),
    exp.Ceil: strict(math.ceil),
    exp.Sqrt: strict(lambda value: math.sqrt(value) if value >= 0 else math.nan),
    exp.Pow: strict(lambda base, power: float(base) ** float(power)),
    exp.Upper: strict(str.upper),
    exp.Lower: strict(str.lower),
    exp.Trim: strict(lambda value: value.strip(" ")),
    exp.Length: strict(len),
    exp.Concat: strict(lambda *parts: "".join(parts)),
    exp.Substring: strict(substring),
    exp.RegexpLike: strict(lambda value, pattern: re.search(pattern, value) is not None),
    exp.Greatest: among(max),
    exp.Least: among(min),
    exp.Nullif: null_if,
    exp.SafeDivide: try_divide,
}
NAMED_CALLS: dict[str, Callable[..., Any]] = {
    "pmod": strict(positive_remainder),
}
