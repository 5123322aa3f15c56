"""CAST and TRY_CAST between the types that the examples and the random plans use. The time zone is UTC."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any

from slackwater.algebra.expressions import Tree, spark_type, type_of
from slackwater.algebra.schema import Schema
from slackwater.errors import QueryError, RunError
from slackwater.semantics.rows import Value

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
WIDTHS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
SECOND = 1_000_000
"""Microseconds."""
WHOLE = re.compile(r"[+-]?[0-9]+")
EXACT = Context(prec=76)


def cast(tree: Tree, value: Value, schema: Schema) -> Value:
    """Return the value in the type that a CAST names. If that fails, return NULL for TRY_CAST, else raise (ANSI)."""
    if value is None:
        return None
    target = spark_type(tree.args["to"].sql("spark"))
    source = type_of(tree.this, schema)
    try:
        return _convert(value, source, target)
    except (ValueError, InvalidOperation, OverflowError) as cause:
        if tree.args.get("safe"):
            return None
        raise RunError(
            "SW-582", f"{value!r} cannot be cast to {target}", hint="use TRY_CAST, or leave such rows out"
        ) from cause


def beside(value: str, other: str) -> Value:
    """Return text as Spark compares it with another type: as BIGINT with whole numbers, as DOUBLE with fractions."""
    wide = "bigint" if other in WIDTHS else "double" if other.startswith("decimal") or other == "float" else other
    try:
        return _convert(value, "string", wide)
    except (ValueError, InvalidOperation, OverflowError) as cause:
        raise RunError(
            "SW-582", f"{value!r} cannot be cast to {wide}", hint="use TRY_CAST, or leave such rows out"
        ) from cause


def _convert(value: Value, source: str, target: str) -> Value:
    if target == source:
        return value
    if target in WIDTHS:
        return _whole(value, source, WIDTHS[target])
    if target.startswith("decimal"):
        return _decimal(value, source, target)
    converter = CONVERTERS.get(target)
    if converter is None:
        raise QueryError(
            "SW-241", f"a cast to {target} has no meaning in the reference interpreter", hint="run the case on Spark"
        )
    return converter(value, source)


def _whole(value: Value, source: str, bits: int) -> int:
    if source == "string" and not WHOLE.fullmatch(value.strip()):
        raise ValueError(value)
    return _fitting(value // SECOND if source.startswith("timestamp") else int(value), bits)


def _fitting(number: int, bits: int) -> int:
    if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise OverflowError(number)
    return int(number)


def _decimal(value: Value, source: str, target: str) -> Decimal:
    inside = target.partition("(")[2].rstrip(")")
    precision, scale = (int(part) for part in inside.split(",")) if inside else (10, 0)
    exact = Decimal(value).scaleb(-6) if source.startswith("timestamp") else _exact(value)
    number = exact.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, EXACT)
    if not number.is_finite() or len(number.as_tuple().digits) > precision:
        raise OverflowError(value)
    return number


def _exact(value: Value) -> Decimal:
    """Return the exact decimal of the value as it is written."""
    return Decimal(int(value) if isinstance(value, bool) else str(value).strip())


def _float(value: Value, source: str) -> float:
    return value / SECOND if source.startswith("timestamp") else float(value)


def _boolean(value: Value, source: str) -> bool:
    if source != "string":
        return bool(value)
    known = {"t": True, "true": True, "y": True, "yes": True, "1": True}
    known |= {"f": False, "false": False, "n": False, "no": False, "0": False}
    if value.strip().lower() not in known:
        raise ValueError(value)
    return known[value.strip().lower()]


def _date(value: Value, source: str) -> date:
    if source.startswith("timestamp"):
        return (EPOCH + timedelta(microseconds=value)).date()
    return date.fromisoformat(str(value).strip())


def _timestamp(value: Value, source: str) -> int:
    if source == "date":
        return int((value - EPOCH.date()) // timedelta(microseconds=1))
    if source in WIDTHS:
        return int(max(-(2**63), min(2**63 - 1, value * SECOND)))  # as Spark does
    if source != "string":
        return _fitting(int(value * SECOND), 64)
    moment = datetime.fromisoformat(value.strip())
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // timedelta(microseconds=1)


def as_text(value: Value, source: str) -> str:
    """Return a value of a type as Spark writes it."""
    if source.startswith("timestamp"):
        moment = (EPOCH + timedelta(microseconds=value)).strftime("%Y-%m-%d %H:%M:%S.%f")
        return moment.rstrip("0").rstrip(".")
    if isinstance(value, bool):
        return "true" if value else "false"
    return _java(value) if isinstance(value, float) else str(value)


def _java(value: float) -> str:
    """Return a DOUBLE as Java writes it.

    >>> [_java(each) for each in (20.0, 1e20, -1.5e-06, float("inf"), float("nan"))]
    ['20.0', '1.0E20', '-1.5E-6', 'Infinity', 'NaN']
    """
    if not math.isfinite(value):
        return str(value).replace("inf", "Infinity").replace("nan", "NaN")
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    first, *rest = map(str, digits)
    return f"{'-' * sign}{first}.{''.join(rest) or '0'}E{int(exponent) + len(rest)}"


CONVERTERS: dict[str, Callable[[Any, str], Any]] = {
    "double": _float,
    "float": _float,
    "boolean": _boolean,
    "date": _date,
    "timestamp": _timestamp,
    "string": as_text,
}
