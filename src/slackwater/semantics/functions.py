"""Scalar functions of Spark SQL that depend only on their arguments."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from sqlglot import exp

from slackwater.semantics.rows import Value
from slackwater.semantics.values import arithmetic, divide, order, remainder

EXACT = Context(prec=700)
"""A context with enough digits for every DOUBLE, before and after the point."""


def strict(function: Callable[..., Value]) -> Callable[..., Value]:
    """Return the function, extended to return NULL if any argument is NULL."""

    def called(*arguments: Value) -> Value:
        return None if None in arguments else function(*arguments)

    return called


def round_half_up(value: Value, digits: int = 0) -> Value:
    """Round half away from zero, as Spark's ROUND does.

    >>> round_half_up(2.5), round_half_up(-2.5), round_half_up(25, -1)
    (3.0, -3.0, 30)
    """
    if isinstance(value, float) and not math.isfinite(value):
        return value
    exact = Decimal(str(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, EXACT)
    return float(exact) + 0.0 if isinstance(value, float) else type(value)(exact)  # + 0.0 turns -0.0 into 0.0


def substring(value: str, start: int, length: int | None = None) -> str:
    """Return a substring. Positions count from 1; 0 counts as 1; a negative start counts from the end.

    >>> substring("abc", 2, 1), substring("abc", -2), substring("abc", -5, 3)
    ('b', 'bc', 'a')
    """
    first = start - 1 if start > 0 else len(value) + start if start < 0 else 0
    last = len(value) if length is None else first + max(length, 0)
    return value[max(first, 0) : max(last, 0)]


def among(choose: Callable[..., Value]) -> Callable[..., Value]:
    """Return GREATEST or LEAST, which ignore NULLs."""

    def chosen(*values: Value) -> Value:
        known = [value for value in values if value is not None]
        return choose(known, key=order) if known else None

    return chosen


def try_divide(one: Value, two: Value) -> Value:
    return None if two == 0 else arithmetic(divide, one, two)


def positive_remainder(one: Value, two: Value) -> Value:
    """Return `pmod`: the remainder, plus the divisor if it is negative."""
    rest = remainder(one, two)
    return remainder(rest + two, two) if rest < 0 else rest


CALLS: dict[type, Callable[..., Any]] = {
    exp.Neg: strict(lambda value: -value),
    exp.Abs: strict(abs),
    exp.Round: strict(round_half_up),
    exp.Floor: strict(math.floor),
    exp.Ceil: strict(math.ceil),
    exp.Sqrt: strict(lambda value: math.sqrt(value) if value >= 0 else math.nan),
    exp.Pow: strict(lambda base, power: float(base) ** float(power)),
    exp.Upper: strict(str.upper),
    exp.Lower: strict(str.lower),
    exp.Length: strict(len),
    exp.Substring: strict(substring),
    exp.RegexpLike: strict(lambda value, pattern: re.search(pattern, value) is not None),
    exp.Greatest: among(max),
    exp.Least: among(min),
    exp.SafeDivide: try_divide,
}
NAMED_CALLS: dict[str, Callable[..., Any]] = {
    "pmod": strict(positive_remainder),
}
