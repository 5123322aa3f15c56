"""Text read as values, whole columns at once, by the rules of Spark's CAST; NULL where it is no value of the kind."""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slackwater.engine.columns.arrays import Ints, valid, where

BLANK = "".join(map(chr, (*range(0x21), 0x7F)))
"""Spark takes control characters off both ends, too."""
WHOLE = r"^-?0*\d{1,19}$"
NUMBER = r"^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,9})?$"
FLOAT = r"^(?i:[+-]?(?:nan|inf|infinity)|[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?[df]?)$"
PARTS = r"^(?P<sign>[+-]?)0*(?P<whole>\d*)\.?(?P<fraction>\d*)(?:[eE](?P<exponent>[+-]?\d+))?$"
DATE = r"^(?s:(?P<year>[+-]?\d{4,7})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2})(?P<rest>[ T].*)?)?)?)$"
TIME = (
    r"^(?:[ T](?P<hour>\d{1,2})(?::(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:\.(?P<fraction>\d*))?)?)?"
    r" *(?P<zone>[A-Za-z].*|[+-]\d{1,2}(?::\d{1,2})?)?)?$"
)
TRUE = pa.array(["t", "true", "y", "yes", "1"])
FALSE = pa.array(["f", "false", "n", "no", "0"])
DIGITS = 38
"""The most that a DECIMAL has, before the point and after it."""
EXACT = pa.decimal256(2 * DIGITS, DIGITS)
LAST_YEAR = 294_246
"""The last whole year of a TIMESTAMP."""
MINUTE = 60_000_000
DAY = 1440 * MINUTE


def booleans(texts: pa.Array) -> pa.Array:
    """`true`, `yes`, `1` and their like.

    >>> booleans(pa.array(["T", " no ", "2"])).to_pylist()
    [True, False, None]
    """
    words = pc.utf8_lower(trimmed(texts))
    true = pc.is_in(words, TRUE)
    return where(pc.or_(true, pc.is_in(words, FALSE)), true)


def whole_numbers(texts: pa.Array) -> pa.Array:
    """Digits with a sign, exactly, as DECIMAL(38, 0)."""
    texts = pc.replace_substring_regex(trimmed(texts), r"^\+(\d)", r"\1")
    return _matching(texts, WHOLE).cast(pa.decimal128(DIGITS, 0))


def decimals(texts: pa.Array) -> pa.Array:
    """Numbers with a point and an exponent, exactly: what comes after 38 places is cut off.

    >>> decimals(pa.array(["1.5e2", "x"])).cast(pa.decimal128(5, 1)).to_pylist()
    [Decimal('150.0'), None]
    """
    sign, digits, point = parts(_matching(trimmed(texts), NUMBER))
    before = pc.binary_repeat("0", pa.array(np.clip(DIGITS - point, 0, 2 * DIGITS)))
    after = pc.binary_repeat("0", 2 * DIGITS)
    line = pc.binary_join_element_wise(before, digits, after, "")
    whole, fraction = (pc.utf8_slice_codeunits(line, start, start + DIGITS) for start in (0, DIGITS))
    plain = pc.binary_join_element_wise(sign, whole, pa.scalar("."), fraction, "")
    return where(pa.array(point <= DIGITS), plain).cast(EXACT)


def parts(texts: pa.Array) -> tuple[pa.Array, pa.Array, Ints]:
    """The sign, the digits from the first that is not 0 before the point on, and how many stand before the point."""
    found = pc.extract_regex(texts, PARTS)
    sign, whole, fraction = (_part(found, name) for name in ("sign", "whole", "fraction"))
    point = _numbers(pc.utf8_length(whole)) + _numbers(_part(found, "exponent"))
    return sign, pc.binary_join_element_wise(whole, fraction, ""), point


def floats(texts: pa.Array, target: pa.DataType) -> pa.Array:
    """As Java reads them: `1.5`, `2d`, `NaN`, `-Infinity`."""
    texts = pc.utf8_lower(_matching(trimmed(texts), FLOAT))
    texts = pc.replace_substring_regex(texts, r"([\d.])[df]$", r"\1")
    return pc.replace_substring_regex(texts, r"^\+", "").cast(target)


def of_floats(column: pa.Array) -> pa.Array:
    """As Java writes them: with a point always, with an exponent below a thousandth and from ten million on.

    >>> of_floats(pa.array([20.0, 1e20, -1.5e-6, float("nan")])).to_pylist()
    ['20.0', '1.0E20', '-1.5E-6', 'NaN']
    """
    size = np.abs(column.to_numpy(zero_copy_only=False))
    written = column.cast(pa.string())
    named = pc.replace_substring(pc.replace_substring(written, "nan", "NaN"), "inf", "Infinity")
    plain = pc.replace_substring_regex(named, r"^(-?\d+)$", r"\1.0")
    large = pa.array((size < 1e-3) & (size > 0) | (size >= 1e7) & np.isfinite(size))
    return pc.if_else(large, _scientific(written), plain)


def _scientific(texts: pa.Array) -> pa.Array:
    sign, digits, point = parts(texts)
    significant = pc.utf8_ltrim(digits, "0")
    exponent = point - 1 - _numbers(pc.subtract(pc.utf8_length(digits), pc.utf8_length(significant)))
    first, rest = (
        pc.utf8_slice_codeunits(significant, 0, 1),
        pc.utf8_rtrim(pc.utf8_slice_codeunits(significant, 1), "0"),
    )
    rest = pc.if_else(pc.equal(rest, ""), "0", rest)
    mantissa = pc.binary_join_element_wise(first, rest, ".")
    return pc.binary_join_element_wise(sign, mantissa, pa.scalar("E"), pa.array(exponent).cast(pa.string()), "")


def dates(texts: pa.Array) -> pa.Array:
    """A year, a month or a day; a time after it does not matter.

    >>> dates(pa.array(["2024-1-2", "2024-02-30"])).cast(pa.string()).to_pylist()
    ['2024-01-02', None]
    """
    found = pc.extract_regex(trimmed(texts), DATE)
    days, known = _days(found)
    return pa.array(days.astype(np.int32), mask=~known).cast(pa.date32())


def timestamps(texts: pa.Array, target: pa.DataType) -> pa.Array:
    """A date with or without a time and a zone, else UTC; TIMESTAMP_NTZ passes over the zone.

    A time without a date, for which Spark takes the date of the day, is none here.
    """
    found = pc.extract_regex(trimmed(texts), DATE)
    days, known = _days(found)
    times = pc.extract_regex(_part(found, "rest"), TIME)
    hour, minute, second = (_numbers(_part(times, name)) for name in ("hour", "minute", "second"))
    fraction = _numbers(pc.utf8_slice_codeunits(pc.utf8_rpad(_part(times, "fraction"), 6, "0"), 0, 6))
    known &= valid(times) & (hour < 24) & (minute < 60) & (second < 60)
    ticks = days * DAY + (hour * 60 + minute) * MINUTE + second * 1_000_000 + fraction
    moments, zoned = _in_zones(np.where(known, ticks, 0), _part(times, "zone"))
    return pa.array(ticks if target.tz is None else moments, mask=~(known & zoned)).cast(target)


def trimmed(texts: pa.Array) -> pa.Array:
    return pc.utf8_trim(texts, characters=BLANK)


def sliced(texts: pa.Array, low: Ints, high: Ints, known: np.ndarray) -> pa.Array:
    """Of each text the characters from `low` up to `high`, which lie in it; NULL where it is not known.

    >>> sliced(pa.array(["abc", "äöü"]), np.array([0, 1]), np.array([2, 2]), np.array([True, True])).to_pylist()
    ['ab', 'ö']
    """
    plain = pa.concat_arrays([pc.fill_null(texts, "").cast(pa.large_string())])
    _, offsets, data = plain.buffers()
    edges = np.frombuffer(offsets, np.int64)[plain.offset : plain.offset + len(plain) + 1]
    codes = np.frombuffer(data or b"", np.uint8)
    heads = np.append(np.flatnonzero((codes & 0xC0) != 0x80), len(codes))  # where a character starts (UTF-8)
    first = np.searchsorted(heads, edges[:-1])
    start, stop = heads[first + low], heads[first + high]
    ends = np.append(0, np.cumsum(stop - start))
    places = np.arange(ends[-1]) + np.repeat(start - ends[:-1], stop - start)
    buffers = [pa.array(known).buffers()[1], pa.py_buffer(ends.astype(np.int64)), pa.py_buffer(codes[places])]
    return pa.Array.from_buffers(pa.large_string(), len(known), buffers).cast(pa.string())


def _days(found: pa.Array) -> tuple[Ints, np.ndarray]:
    """Days since 1970 of years, months and days, and where there is such a day."""
    year, month, day = (
        _numbers(_part(found, name), default) for name, default in (("year", 0), ("month", 1), ("day", 1))
    )
    months = ((np.clip(year, -LAST_YEAR, LAST_YEAR) - 1970) * 12 + np.clip(month, 1, 12) - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + (day - 1)
    known = (
        valid(found) & (abs(year) <= LAST_YEAR) & (month >= 1) & (month <= 12) & (days.astype(months.dtype) == months)
    )
    return days.astype(np.int64), known & (day >= 1)


def _in_zones(ticks: Ints, zones: pa.Array) -> tuple[Ints, np.ndarray]:
    """Moments of local times, and where the zone is known; zones are few, whatever the rows."""
    names = pc.fill_null(zones, "").dictionary_encode()
    code = names.indices.to_numpy()
    moments, known = ticks.copy(), np.ones(len(ticks), np.bool_)
    for place, name in enumerate(names.dictionary.to_pylist()):
        here = code == place
        found = _in_zone(ticks[here], name)
        known[here] = found is not None
        if found is not None:
            moments[here] = found
    return moments, known


def _in_zone(ticks: Ints, name: str) -> Ints | None:
    if name in ("", "Z", "UTC"):
        return ticks
    if name[0] in "+-":
        hours, minutes = (int(part) for part in f"{name[1:]}:0".split(":")[:2])
        shift = (hours * 60 + minutes) * MINUTE
        return None if hours > 18 or minutes > 59 else ticks + (shift if name[0] == "-" else -shift)
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return None
    local = pa.array(ticks).cast(pa.timestamp("us"))
    moments = pc.assume_timezone(local, name, ambiguous="earliest", nonexistent="latest")
    found: Ints = moments.cast(pa.int64()).to_numpy()
    return found


def _part(found: pa.Array, name: str) -> pa.Array:
    """A named part of a match; NULL where there is no match."""
    return pc.struct_field(found, name)


def _numbers(column: pa.Array, default: int = 0) -> Ints:
    """Whole numbers, the default where there are none."""
    if pa.types.is_string(column.type):
        column = pc.replace_substring_regex(column, r"^\+", "")
        column = _matching(column, r"^-?\d+$").cast(pa.int64())
    numbers: Ints = pc.fill_null(column.cast(pa.int64()), default).to_numpy(zero_copy_only=False)
    return numbers


def _matching(texts: pa.Array, pattern: str) -> pa.Array:
    return where(pc.match_substring_regex(texts, pattern), texts)
