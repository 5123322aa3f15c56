"""Operators and functions of Spark SQL over Arrow columns. NULL in, NULL out, unless a function says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slackwater.engine.columns.arrays import ints, valid
from slackwater.engine.columns.keys import ordinals
from slackwater.engine.expressions import texts
from slackwater.engine.expressions.casts import cast
from slackwater.errors import QueryError, RunError

WIDER = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64()]


def unified(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """Columns in the widest of their types: a DOUBLE makes numbers DOUBLE, a DECIMAL whole numbers DECIMAL.

    Text is read as what it stands beside, as Spark does (ANSI).

    >>> [column.to_pylist() for column in unified([pa.array(["10"]), pa.array([9], pa.int32())])]
    [[10], [9]]
    """
    kinds = {column.type for column in columns if not pa.types.is_null(column.type)}
    if not kinds:
        return list(columns)
    decimals = [kind for kind in kinds if pa.types.is_decimal(kind)]
    if len(kinds) == 1:
        (target,) = kinds
    elif pa.string() in kinds:
        target = _read_as(kinds - {pa.string()})
    elif all(kind in WIDER for kind in kinds):
        target = max(kinds, key=WIDER.index)
    elif any(pa.types.is_floating(kind) for kind in kinds):
        target = pa.float64()
    elif decimals:
        scale = max(kind.scale for kind in decimals)
        target = pa.decimal128(38, scale)
    elif all(pa.types.is_temporal(kind) and not pa.types.is_duration(kind) for kind in kinds):
        target = next((kind for kind in kinds if pa.types.is_timestamp(kind) and kind.tz), pa.timestamp("us"))
    else:
        raise _apart(kinds)
    return [cast(column, target) if pa.types.is_string(column.type) else column.cast(target) for column in columns]


def alike(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """The same for columns of which one is answered: text beside another type would change the type of the answer."""
    kinds = {column.type for column in columns if not pa.types.is_null(column.type)}
    if len(kinds) > 1 and pa.string() in kinds:
        raise _apart(kinds)
    return unified(columns)


def _read_as(others: set[pa.DataType]) -> pa.DataType:
    """The type in which text is compared with others: BIGINT with whole numbers, DOUBLE with fractions."""
    if all(pa.types.is_integer(kind) for kind in others):
        return pa.int64()
    if all(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind) for kind in others):
        return pa.float64()
    if len(others) > 1 or any(pa.types.is_duration(kind) for kind in others):
        raise _apart({pa.string(), *others})
    return next(iter(others))


def _apart(kinds: set[pa.DataType]) -> QueryError:
    listed = ", ".join(sorted(map(str, kinds)))
    return QueryError("SW-351", f"values of {listed} cannot stand together", hint="cast one to the type of the other")


def arithmetic(function: Callable[..., pa.Array], one: pa.Array, two: pa.Array) -> pa.Array:
    """Overflow is an error; DECIMAL with DOUBLE is DOUBLE."""
    if _any(pa.types.is_floating, one, two):
        one, two = one.cast(pa.float64()), two.cast(pa.float64())
    return function(one, two)


def divided(one: pa.Array, two: pa.Array) -> pa.Array:
    """`/`: of whole numbers a DOUBLE; by zero an error."""
    refuse_zero(one, two)
    return pc.divide(one.cast(pa.float64()), two.cast(pa.float64()))


def whole_divided(one: pa.Array, two: pa.Array) -> pa.Array:
    """`div`: the quotient without its fraction, a BIGINT; the least one by -1 is an error."""
    refuse_zero(one, two)
    if _any(pa.types.is_floating, one, two):
        return pc.trunc(pc.divide(one.cast(pa.float64()), two.cast(pa.float64()))).cast(pa.int64())
    return pc.divide_checked(one.cast(pa.int64()), two.cast(pa.int64()))


def remainder(one: pa.Array, two: pa.Array) -> pa.Array:
    """`%`: with the sign of the dividend, as in Java."""
    refuse_zero(one, two)
    first, second = unified([one, two])
    known = pc.and_(first.is_valid(), second.is_valid())
    left, right = (pc.fill_null(column, 1).to_numpy(zero_copy_only=False) for column in (first, second))
    right = np.where(right == 0, 1, right)  # only where the other side is NULL
    rest = np.mod if pa.types.is_decimal(first.type) else np.fmod  # Python's Decimal has Java's sign
    with np.errstate(invalid="ignore"):
        return pa.array(rest(left, right), first.type, mask=~known.to_numpy(zero_copy_only=False))


def positive_remainder(one: pa.Array, two: pa.Array) -> pa.Array:
    """`pmod`: a remainder below zero is that of itself and the divisor, a sum that wraps around as in Java.

    >>> positive_remainder(pa.array([-7, 7, -7]), pa.array([3, -3, -3])).to_pylist()
    [2, 1, -1]
    """
    rest = remainder(one, two)
    _, divisor = unified([rest, two])
    again = remainder(pc.add(_as_int(rest), _as_int(divisor)), _as_int(divisor)).cast(rest.type)
    return pc.if_else(pc.less(rest, pa.scalar(0, rest.type)), again, rest)


def _as_int(column: pa.Array) -> pa.Array:
    """What is smaller than an INT as an INT, in which Java computes."""
    return column.cast(pa.int32()) if column.type in (pa.int8(), pa.int16()) else column


def try_divide(one: pa.Array, two: pa.Array) -> pa.Array:
    return divided(one, null_if(two, pa.array(np.zeros(len(two))).cast(two.type)))


def refuse_zero(one: pa.Array, two: pa.Array) -> None:
    zero = pc.and_(pc.equal(two, pa.scalar(0).cast(two.type)), one.is_valid())
    if pc.any(zero).as_py():
        raise RunError(
            "SW-580", "division by zero", hint="guard the division with NULLIF(divisor, 0), or use try_divide"
        )


def compared(function: Callable[..., pa.Array], one: pa.Array, two: pa.Array) -> pa.Array:
    """NaN equals NaN and is greater than any number."""
    first, second = unified([one, two])
    if pa.types.is_floating(first.type) and (_has_nan(first) or _has_nan(second)):
        first, second = _ordered(first), _ordered(second)
    return function(first, second)


def same(one: pa.Array, two: pa.Array) -> pa.Array:
    """`<=>`: NULL equals NULL."""
    both = pc.and_(one.is_null(), two.is_null())
    return pc.or_(both, pc.fill_null(compared(pc.equal, one, two), False))


def null_if(one: pa.Array, two: pa.Array) -> pa.Array:
    equal = pc.fill_null(compared(pc.equal, one, two), False)
    return pc.if_else(equal, pa.scalar(None, one.type), one)


def among(better: Callable[..., pa.Array], *columns: pa.Array) -> pa.Array:
    """GREATEST and LEAST pass over NULLs; NaN is the greatest."""
    best, *others = alike(columns)
    for other in others:
        taken = pc.or_(pc.fill_null(compared(better, other, best), False), best.is_null())
        best = pc.if_else(taken, other, best)
    return best


def within(value: pa.Array, *members: pa.Array) -> pa.Array:
    """IN: true if any is equal, unknown if none is and one is NULL. All are of one type."""
    sought, first, *others = unified([value, *members])
    found = compared(pc.equal, sought, first)
    for other in others:
        found = pc.or_kleene(found, compared(pc.equal, sought, other))
    return found


def between(value: pa.Array, low: pa.Array, high: pa.Array) -> pa.Array:
    return pc.and_kleene(compared(pc.greater_equal, value, low), compared(pc.less_equal, value, high))


def rounded(value: pa.Array, digits: pa.Array | None = None) -> pa.Array:
    """Half away from zero; of a float, of the number that it is written as. The digits are a constant.

    >>> rounded(pa.array([1.005, 2.5, -0.3]), pa.array([2, 2, 2])).to_pylist()
    [1.01, 2.5, -0.3]
    """
    places = int(digits[0].as_py()) if digits is not None and len(digits) else 0
    if pa.types.is_floating(value.type):
        return _rounded_floats(value.cast(pa.float64()), places).cast(value.type)
    if pa.types.is_decimal(value.type):
        value = value.cast(pa.decimal256(76, value.type.scale))  # 9.99 with one place has a digit more
        return pc.round(value, ndigits=places, round_mode="half_towards_infinity").cast(
            pa.decimal128(38, value.type.scale)
        )
    return pc.round(value, ndigits=places, round_mode="half_towards_infinity").cast(value.type)


def _rounded_floats(value: pa.Array, places: int) -> pa.Array:
    """Quickly, but where a number is so close to a half that what it is written as decides."""
    numbers = value.to_numpy(zero_copy_only=False)
    with np.errstate(all="ignore"):
        size = np.abs(numbers) * 10.0**places
        close = np.abs(size - np.floor(size) - 0.5) <= 1e-9 + size * 2.0**-50
    small = np.abs(numbers) < 1e38  # beyond, no digit is left to be cut off
    close &= small
    kept = pc.if_else(pa.array(small), value, 0.0)
    quick = pc.round(kept, ndigits=places, round_mode="half_towards_infinity")
    quick = pc.if_else(pa.array(small), quick, value)
    if close.any():
        written = texts.decimals(value.filter(pa.array(close)).cast(pa.string()))
        exact = pc.round(written, ndigits=places, round_mode="half_towards_infinity")
        quick = pc.replace_with_mask(quick, pa.array(close), cast(exact, pa.float64()))
    return pc.add(quick, 0.0)  # no zero has a sign


def whole(function: Callable[..., pa.Array], value: pa.Array) -> pa.Array:
    """FLOOR and CEIL yield BIGINT."""
    return function(value).cast(pa.int64()) if pa.types.is_floating(value.type) else value.cast(pa.int64())


def matches(function: Callable[..., pa.Array], value: pa.Array, pattern: pa.Array) -> pa.Array:
    """LIKE and RLIKE against a constant."""
    if not len(pattern):
        return pa.array([], pa.bool_())
    text = pattern[0].as_py()
    return pa.nulls(len(value), pa.bool_()) if text is None else function(value, text)


def substring(value: pa.Array, start: pa.Array, length: pa.Array | None = None) -> pa.Array:
    """From 1; 0 counts as 1, a negative start from the end, be it before the first character.

    >>> substring(pa.array(["abc", "äöü", "abc"]), pa.array([2, -1, -5]), pa.array([1, 2, 3])).to_pylist()
    ['b', 'ü', 'a']
    """
    given = [start] if length is None else [start, length]
    known = np.logical_and.reduce([valid(column) for column in (value, *given)])
    at, *count = (ints(pc.fill_null(cast(column, pa.int64()), 0)) for column in given)
    size = ints(pc.fill_null(pc.utf8_length(value), 0))
    first = np.where(at > 0, at - 1, np.where(at < 0, size + at, 0))
    last = first + np.clip(count[0], 0, 2**31) if count else size
    low = np.clip(first, 0, size)
    return texts.sliced(value, low, np.maximum(np.clip(last, 0, size), low), known)


def trimmed(function: Callable[..., pa.Array], value: pa.Array, characters: pa.Array | None = None) -> pa.Array:
    """TRIM of spaces, or of any of a constant's characters."""
    if characters is None or not len(characters):
        return function(value, characters=" ")
    return function(value, characters=characters[0].as_py())


def in_case(quick: Callable[..., pa.Array], full: Callable[[str], str], value: pa.Array) -> pa.Array:
    """UPPER and LOWER. What becomes several letters (ß is SS) Arrow does not know: each such text once.

    >>> in_case(pc.utf8_upper, str.upper, pa.array(["Straße", "a", None])).to_pylist()
    ['STRASSE', 'A', None]
    """
    if pc.all(pc.string_is_ascii(value)).as_py() is not False:
        return quick(value)
    each = value.dictionary_encode()
    return pa.array([full(text) for text in each.dictionary.to_pylist()], pa.string()).take(each.indices)


def concat(*parts: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(*(cast(part, pa.string()) for part in parts), "")


def square_root(value: pa.Array) -> pa.Array:
    return pc.sqrt(value.cast(pa.float64()))


def power(one: pa.Array, two: pa.Array) -> pa.Array:
    return pc.power(one.cast(pa.float64()), two.cast(pa.float64()))


def _any(test: Callable[[pa.DataType], bool], *columns: pa.Array) -> bool:
    return any(test(column.type) for column in columns)


def _has_nan(column: pa.Array) -> bool:
    return bool(pc.any(pc.is_nan(column)).as_py())


def _ordered(column: pa.Array) -> pa.Array:
    """Doubles as integers of the same order, NaN last."""
    return pa.array(ordinals(column), mask=~valid(column))


COMPARISONS: dict[str, Callable[..., pa.Array]] = {
    "=": partial(compared, pc.equal),
    "<>": partial(compared, pc.not_equal),
    "<": partial(compared, pc.less),
    "<=": partial(compared, pc.less_equal),
    ">": partial(compared, pc.greater),
    ">=": partial(compared, pc.greater_equal),
    "<=>": same,
    "in": within,
    "between": between,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "+": partial(arithmetic, pc.add_checked),
    "-": partial(arithmetic, pc.subtract_checked),
    "*": partial(arithmetic, pc.multiply_checked),
    "/": divided,
    "div": whole_divided,
    "%": remainder,
    "pmod": positive_remainder,
    "try_divide": try_divide,
    "negative": pc.negate_checked,
    "abs": pc.abs_checked,
    "not": pc.invert,
    "is null": pc.is_null,
    "is not null": pc.is_valid,
    "is true": lambda value: pc.fill_null(value, False),
    "is false": lambda value: pc.fill_null(pc.invert(value), False),
    "&": pc.bit_wise_and,
    "|": pc.bit_wise_or,
    "nullif": null_if,
    "greatest": partial(among, pc.greater),
    "least": partial(among, pc.less),
    "like": partial(matches, pc.match_like),
    "rlike": partial(matches, pc.match_substring_regex),
    "round": rounded,
    "floor": partial(whole, pc.floor),
    "ceil": partial(whole, pc.ceil),
    "sqrt": square_root,
    "power": power,
    "upper": partial(in_case, pc.utf8_upper, str.upper),
    "lower": partial(in_case, pc.utf8_lower, str.lower),
    "trim": partial(trimmed, pc.utf8_trim),
    "ltrim": partial(trimmed, pc.utf8_ltrim),
    "rtrim": partial(trimmed, pc.utf8_rtrim),
    "length": pc.utf8_length,
    "substring": substring,
    "concat": concat,
}
