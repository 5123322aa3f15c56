"""SQL values: NULL is None, a timestamp is whole microseconds, a DATE is a date, a DECIMAL is a Decimal.

Arithmetic follows Spark 4's default, ANSI: a division by zero and a BIGINT overflow are errors, not NULL. `try_divide`
and similar functions return NULL.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from slackwater.errors import RunError
from slackwater.semantics.rows import Value, Values

GREATEST_BIGINT = 2**63 - 1


def order(value: Value) -> tuple[Any, ...]:
    """Return a sort key for Spark's order: NULL first, NaN after every number.

    >>> sorted([2.0, None, float("nan"), -1.0], key=order)
    [None, -1.0, 2.0, nan]
    """
    if value is None:
        return (0,)
    if isinstance(value, float) and math.isnan(value):
        return (2,)
    return (1, value)


def orders(values: Iterable[Value]) -> tuple[tuple[Any, ...], ...]:
    """Return the sort key of several columns."""
    return tuple(order(value) for value in values)


def same_rows(one: Values, two: Values) -> bool:
    """Return whether rows are equal in GROUP BY and DISTINCT: NULL equals NULL, NaN equals NaN."""
    return orders(one) == orders(two)


def compare(one: Value, two: Value) -> int | None:
    """Return -1, 0 or 1, or None (unknown) if either value is NULL."""
    if one is None or two is None:
        return None
    one, two = widen(one, two)
    first, second = order(one), order(two)
    return (first > second) - (first < second)


def widen(one: Value, two: Value) -> tuple[Value, Value]:
    """Return both operands in the wider of their types: a DOUBLE makes the other a DOUBLE."""
    if isinstance(one, float) and isinstance(two, Decimal):
        return one, float(two)
    if isinstance(one, Decimal) and isinstance(two, float):
        return float(one), two
    return one, two


def arithmetic(operation: Callable[[Value, Value], Value], one: Value, two: Value) -> Value:
    """Return NULL if either value is NULL, else the result of the operation in the wider type."""
    if one is None or two is None:
        return None
    return check_bigint(operation(*widen(one, two)))


def check_bigint(value: Value) -> Value:
    """Return the value if a BIGINT can hold it, else raise."""
    if isinstance(value, int) and not -GREATEST_BIGINT - 1 <= value <= GREATEST_BIGINT:
        raise RunError("SW-581", f"{value} does not fit a BIGINT", hint="use DECIMAL or DOUBLE, or a try_ function")
    return value


def divide(one: Value, two: Value) -> Value:
    """Return `one / two`, a DOUBLE for whole numbers. Raise on division by zero."""
    _refuse_zero(two)
    return one / two


def divide_whole(one: Value, two: Value) -> Value:
    """Return `one div two`: the quotient without its fraction."""
    _refuse_zero(two)
    return int(one / two) if isinstance(one, float) else int(one // two if (one < 0) == (two < 0) else -(-one // two))


def remainder(one: Value, two: Value) -> Value:
    """Return `one % two`, with the sign of the dividend, as in Java."""
    _refuse_zero(two)
    if isinstance(one, float) or isinstance(two, float):
        return math.fmod(one, two)
    return abs(one) % abs(two) * (1 if one >= 0 else -1)


def _refuse_zero(divisor: Value) -> None:
    if divisor == 0:
        raise RunError(
            "SW-580", "division by zero", hint="guard the division with NULLIF(divisor, 0), or use try_divide"
        )
