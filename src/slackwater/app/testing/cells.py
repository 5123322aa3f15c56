"""Cells of a case's tables: text to value and back.

Values are those of the reference interpreter: a time is whole microseconds, NULL is None.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_DOWN, Decimal, InvalidOperation
from enum import Enum
from typing import Any

import numpy as np

from slackwater.algebra.schema import UNKNOWN

SECOND = 1_000_000
"""Microseconds."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NULL = "-"
DURATION = "duration"
"""The type of `late_by`: a length of time, always written in seconds."""
BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
DIGITS = 6
"""Decimals of a DOUBLE that `--update` writes. More decimals make tables too wide to read."""
CLOSE = 1e-9
"""Relative difference at which two DOUBLEs are equal. Sums depend on the order of their terms."""
_SECONDS = re.compile(r"-?\d+(?:\.\d{1,6})?")
_CLOCK = re.compile(r"(\d\d):(\d\d)(?::(\d\d(?:\.\d{1,6})?))?")
_PLAIN = re.compile(r'[^\s"|](?:[^|]*[^\s|])?')


class Notation(Enum):
    """The notation of times in a case: seconds, time of day, or dates with times."""

    SECONDS = "seconds"
    CLOCK = "clock"
    DATES = "dates"


@dataclass(frozen=True, slots=True)
class Beginning:
    """A DOUBLE of which a cell shows the first digits: `36.66...`."""

    digits: str

    def matches(self, value: Any) -> bool:
        if not isinstance(value, float) or not math.isfinite(value):
            return False
        shown = Decimal(self.digits)
        exact = Decimal(repr(value))
        cut = exact.quantize(Decimal(1).scaleb(-_decimals(self.digits)), ROUND_DOWN)
        return cut == shown or math.isclose(float(shown), value, rel_tol=CLOSE)


@dataclass(frozen=True, slots=True)
class Unread:
    """The text of a cell whose type only Spark knows. It is parsed when the found value shows the type."""

    text: str

    def matches(self, value: Any) -> bool:
        try:
            return matches(read_cell(self.text, _kind_of(value)), value)
        except ValueError:
            return False


def read_cell(text: str, kind: str) -> Any:
    """Return the value of a cell of this type. Raise ValueError if the text is no such value.

    >>> read_cell("5-", "timestamp"), read_cell("00:01:30", "timestamp"), read_cell("-", "int")
    (4999999, 90000000, None)
    >>> read_cell('"a | b"', "string"), read_cell("36.66...", "double")
    ('a | b', Beginning(digits='36.66'))
    """
    if text == NULL:
        return None
    if kind == UNKNOWN:
        return Unread(text)
    if text.startswith('"'):
        text = json.loads(text)
        if not isinstance(text, str):
            raise ValueError(text)
    if kind == "string":
        return text
    if kind.startswith("timestamp"):
        return read_time(text)
    if kind == DURATION:
        return _seconds(text)
    if kind in BITS:
        return _whole(text, BITS[kind])
    return _other(text, kind)


def _whole(text: str, bits: int) -> int:
    value = int(text)
    if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise ValueError(text)
    return value


def _other(text: str, kind: str) -> Any:
    match kind.partition("(")[0].partition("<")[0]:
        case "double":
            return Beginning(text[:-3]) if _is_beginning(text) else float(text)
        case "float":
            return float(np.float32(float(text)))
        case "decimal":
            return _decimal(text, kind)
        case "boolean":
            return {"true": True, "false": False}[text.lower()] if text.lower() in ("true", "false") else _no(text)
        case "date":
            return date.fromisoformat(text)
        case "array":
            return _array(text, kind.removeprefix("array<").removesuffix(">"))
        case _:
            raise ValueError(text)


def _decimal(text: str, kind: str) -> Decimal:
    """Return a DECIMAL with the digits of its type."""
    scale = int(kind.rpartition(",")[2].rstrip(")")) if "," in kind else 0
    try:
        return Decimal(text).quantize(Decimal(1).scaleb(-scale)) if _is_exact(text, scale) else _no(text)
    except InvalidOperation as cause:
        raise ValueError(text) from cause


def _is_exact(text: str, scale: int) -> bool:
    return re.fullmatch(rf"[+-]?\d+(?:\.\d{{0,{scale}}})?", text) is not None


def _no(text: str) -> Any:
    raise ValueError(text)


def _array(text: str, kind: str) -> list[Any]:
    found = json.loads(text)
    if not isinstance(found, list):
        raise ValueError(text)
    return [
        None if each is None else read_cell(each if isinstance(each, str) else json.dumps(each), kind) for each in found
    ]


def _is_beginning(text: str) -> bool:
    return re.fullmatch(r"-?\d+\.\d+\.\.\.", text) is not None


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])


def read_time(text: str) -> int:
    """Return a point in time in ticks; a trailing `-` subtracts one tick.

    >>> [read_time(each) for each in ("1.5", "2-", "00:00:02", "1970-01-01 00:00:02", "1970-01-01T01:00+01:00")]
    [1500000, 1999999, 2000000, 2000000, 0]
    """
    if len(text) > 1 and text.endswith("-"):
        return read_time(text[:-1]) - 1
    if _SECONDS.fullmatch(text):
        return _seconds(text)
    if found := _CLOCK.fullmatch(text):
        hours, minutes, seconds = found.groups(default="0")
        return _seconds(str(int(hours) * 3600 + int(minutes) * 60 + Decimal(seconds)))
    moment = datetime.fromisoformat(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // timedelta(microseconds=1)


def _seconds(text: str) -> int:
    if not _SECONDS.fullmatch(text):
        raise ValueError(text)
    ticks = int(Decimal(text) * SECOND)
    if not -(2**62) < ticks < 2**62:
        raise ValueError(text)
    return ticks


def notation_of(text: str) -> Notation:
    """Return the notation of a time."""
    text = text.removesuffix("-")
    if _SECONDS.fullmatch(text):
        return Notation.SECONDS
    return Notation.CLOCK if _CLOCK.fullmatch(text) else Notation.DATES


def write_cell(value: Any, kind: str, notation: Notation = Notation.SECONDS) -> str:
    """Return the text of a cell for a value of this type.

    >>> write_cell(4_999_999, "timestamp"), write_cell(90_000_000, "timestamp", Notation.CLOCK)
    ('5-', '00:01:30')
    >>> write_cell(110 / 3, "double"), write_cell("-", "string"), write_cell(None, "int")
    ('36.666666...', '"-"', '-')
    """
    match value:
        case None:
            return NULL
        case bool():
            return "true" if value else "false"
        case int() if kind.startswith("timestamp"):
            return write_time(value, notation)
        case int() if kind == DURATION:
            return _in_seconds(value)
        case float():
            return _float(value, kind)
        case str():
            return value if _is_plain(value) else json.dumps(value, ensure_ascii=False)
        case list() | tuple():
            return json.dumps([_element(each) for each in value], ensure_ascii=False)
        case Beginning(digits=digits):
            return f"{digits}..."
        case Unread(text=text):
            return text
        case _:
            return str(value)


def _element(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _is_plain(text: str) -> bool:
    return text.isprintable() and text != NULL and _PLAIN.fullmatch(text) is not None and not text.startswith("```")


def _float(value: float, kind: str) -> str:
    if kind == "float":
        return str(np.float32(value))
    text = repr(value)
    if not math.isfinite(value) or "e" in text or _decimals(text) <= DIGITS:
        return text
    cut = Decimal(text).quantize(Decimal(1).scaleb(-DIGITS), ROUND_DOWN)
    return f"{cut}..." if cut else text


def write_time(ticks: int, notation: Notation) -> str:
    """Return a point in time as a case writes it; one tick before a whole millisecond ends with `-`.

    >>> [write_time(each, Notation.SECONDS) for each in (1_500_000, 1_999_999, -3_000_000, 1)]
    ['1.5', '2-', '-3', '0.000001']
    >>> write_time(86_400_000_000, Notation.CLOCK)
    '1970-01-02 00:00:00'
    """
    if (ticks + 1) % 1_000 == 0:
        return f"{write_time(ticks + 1, notation)}-"
    if notation is Notation.SECONDS:
        return _in_seconds(ticks)
    try:
        moment = EPOCH + timedelta(microseconds=ticks)
    except OverflowError:
        return _in_seconds(ticks)
    text = moment.strftime("%H:%M:%S.%f").rstrip("0").rstrip(".")
    is_first_day = notation is Notation.CLOCK and 0 <= ticks < 86_400 * SECOND
    return text if is_first_day else f"{moment.date()} {text}"


def _in_seconds(ticks: int) -> str:
    sign, (whole, rest) = "-" * (ticks < 0), divmod(abs(ticks), SECOND)
    return f"{sign}{whole}" + (f".{rest:06d}".rstrip("0") if rest else "")


def matches(expected: Any, found: Any) -> bool:
    """Return whether a found value is the expected one."""
    match expected:
        case Beginning() | Unread():
            return expected.matches(found)
        case float() if isinstance(found, float):
            both_nan = math.isnan(expected) and math.isnan(found)
            return both_nan or math.isclose(expected, found, rel_tol=CLOSE, abs_tol=1e-300)
        case list():
            return (
                isinstance(found, list | tuple) and len(expected) == len(found) and all(map(matches, expected, found))
            )
        case _:
            return bool(expected == found)


def _kind_of(value: Any) -> str:
    kinds = {bool: "boolean", int: "bigint", float: "double", str: "string", date: "date"}
    if isinstance(value, Decimal):
        return f"decimal(38,{max(0, -int(value.as_tuple().exponent))})"
    if isinstance(value, list | tuple):
        return f"array<{_kind_of(value[0]) if value else 'string'}>"
    return kinds.get(type(value), "string")
