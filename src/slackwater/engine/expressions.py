"""Expressions as data, evaluated over whole columns with Spark's meaning of NULL, NaN and errors (ANSI).

A tree is a tuple: `("column", "speed")`, `("literal", 80, "int")`, `("mark", "window_end")` for what a query
may name without declaring it (`rows.MARKS`), or an operator and its arguments,
`("and", (">", ("column", "speed"), ("literal", 80, "int")), ("is null", ("column", "lane")))`.
Columns, literals, comparison, boolean logic and + - * are all that there is: Spark evaluates everything else. The right
side of AND and OR is evaluated only for the rows that need it, so that a guarded sum does not overflow.

>>> rows = pa.record_batch({"a": [6, None, 1], "b": [3, 2, 0]})
>>> evaluate(("and", (">", ("column", "b"), ("literal", 0, "int")), ("is null", ("column", "a"))), rows).to_pylist()
[False, True, False]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from slackwater.engine.columns.arrays import arrow_type, valid
from slackwater.engine.columns.keys import ordinals
from slackwater.engine.plan import Tree
from slackwater.errors import QueryError, RunError

WIDER = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64()]


class Columns(Protocol):
    """What an expression is evaluated over: columns by name, all of one length."""

    def column(self, name: str) -> pa.Array: ...

    def __len__(self) -> int: ...


def evaluate(tree: Tree, rows: Columns) -> pa.Array:
    """Return the value of a tree for each row. A tree with marks needs rows that have them."""
    try:
        return _value(tree, rows)
    except pa.ArrowNotImplementedError as cause:
        raise QueryError("SW-351", f"the expression cannot be evaluated: {cause}", hint="cast its operands") from cause
    except pa.ArrowInvalid as cause:
        raise RunError("SW-581", f"a value does not fit its type: {cause}", hint="use a wider type") from cause


class _Some:
    """Some of the rows, each column taken when it is asked for."""

    def __init__(self, rows: Any, places: pa.Array) -> None:
        self.rows = rows
        self.places = places

    def column(self, name: str) -> pa.Array:
        return self.rows.column(name).take(self.places)

    def mark(self, name: str) -> pa.Array:
        return self.rows.mark(name).take(self.places)

    def __len__(self) -> int:
        return len(self.places)


def _value(tree: Tree, rows: Columns) -> pa.Array:
    operator, *arguments = tree
    if operator == "column":
        return rows.column(arguments[0])
    if operator == "mark":
        return rows.mark(arguments[0])  # type: ignore[attr-defined]
    if operator == "literal":
        return pa.repeat(literal(*arguments), len(rows))
    if operator in SPECIAL:
        return SPECIAL[operator](arguments, rows)
    if operator in FUNCTIONS:
        return FUNCTIONS[operator](*(_value(argument, rows) for argument in arguments))
    raise QueryError(
        "SW-352",
        f"'{operator}' cannot be evaluated in the fused operator",
        expected=", ".join(sorted([*FUNCTIONS, *SPECIAL])),
        hint="compute it in a view before the window",
    )


def literal(value: Any, kind: str) -> pa.Scalar:
    """Return a constant; a decimal is given as text, a timestamp or an interval in microseconds."""
    target = arrow_type(kind)
    if pa.types.is_decimal(target):
        return pa.scalar(value, pa.string()).cast(target)
    return pa.scalar(value, target)


def _and(arguments: Sequence[Any], rows: Columns) -> pa.Array:
    return _lazily(arguments, rows, pc.and_kleene, needed=lambda left: pc.fill_null(left, True))


def _or(arguments: Sequence[Any], rows: Columns) -> pa.Array:
    return _lazily(arguments, rows, pc.or_kleene, needed=lambda left: pc.invert(pc.fill_null(left, False)))


def _lazily(
    arguments: Sequence[Any], rows: Columns, joined: Callable[..., pa.Array], needed: Callable[[pa.Array], pa.Array]
) -> pa.Array:
    """Evaluate the sides from left to right, each only for the rows that the sides before it have not decided."""
    result = _value(arguments[0], rows)
    for argument in arguments[1:]:
        if not may_fail(argument):
            result = joined(result, _value(argument, rows))
            continue
        mask = needed(result)
        right = _spread(_value(argument, _Some(rows, pc.indices_nonzero(mask))), mask)
        result = joined(result, right)
    return result


def _spread(values: pa.Array, mask: pa.Array) -> pa.Array:
    """Return the values in the places of the mask; NULL elsewhere."""
    return pc.replace_with_mask(pa.nulls(len(mask), values.type), mask, values)


def unified(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """Return columns in the widest of their types: a DOUBLE makes numbers DOUBLE, a DECIMAL whole numbers DECIMAL.

    >>> [column.to_pylist() for column in unified([pa.array([1.5]), pa.array([9], pa.int32())])]
    [[1.5], [9.0]]
    """
    kinds = {column.type for column in columns if not pa.types.is_null(column.type)}
    if not kinds:
        return list(columns)
    decimals = [kind for kind in kinds if pa.types.is_decimal(kind)]
    if len(kinds) == 1:
        (target,) = kinds
    elif all(kind in WIDER for kind in kinds):
        target = max(kinds, key=WIDER.index)
    elif any(pa.types.is_floating(kind) for kind in kinds):
        target = pa.float64()
    elif decimals:
        target = pa.decimal128(38, max(kind.scale for kind in decimals))
    elif all(pa.types.is_temporal(kind) and not pa.types.is_duration(kind) for kind in kinds):
        target = next((kind for kind in kinds if pa.types.is_timestamp(kind) and kind.tz), pa.timestamp("us"))
    else:
        listed = ", ".join(sorted(map(str, kinds)))
        raise QueryError(
            "SW-351", f"values of {listed} cannot stand together", hint="cast one to the type of the other"
        )
    return [column.cast(target) for column in columns]


def arithmetic(function: Callable[..., pa.Array], one: pa.Array, two: pa.Array) -> pa.Array:
    """Return a sum, difference or product. Overflow is an error; DECIMAL with DOUBLE is DOUBLE."""
    if pa.types.is_floating(one.type) or pa.types.is_floating(two.type):
        one, two = one.cast(pa.float64()), two.cast(pa.float64())
    return function(one, two)


def compared(function: Callable[..., pa.Array], one: pa.Array, two: pa.Array) -> pa.Array:
    """Compare values: NaN equals NaN and is greater than any number."""
    first, second = unified([one, two])
    if pa.types.is_floating(first.type) and (_has_nan(first) or _has_nan(second)):
        first, second = _ordered(first), _ordered(second)
    return function(first, second)


def same(one: pa.Array, two: pa.Array) -> pa.Array:
    """Return the values of `<=>`: NULL equals NULL."""
    both = pc.and_(one.is_null(), two.is_null())
    return pc.or_(both, pc.fill_null(compared(pc.equal, one, two), False))


def _has_nan(column: pa.Array) -> bool:
    return bool(pc.any(pc.is_nan(column)).as_py())


def _ordered(column: pa.Array) -> pa.Array:
    """Return doubles as integers of the same order, NaN last."""
    return pa.array(ordinals(column), mask=~valid(column))


COMPARISONS: dict[str, Callable[..., pa.Array]] = {
    "=": partial(compared, pc.equal),
    "<>": partial(compared, pc.not_equal),
    "<": partial(compared, pc.less),
    "<=": partial(compared, pc.less_equal),
    ">": partial(compared, pc.greater),
    ">=": partial(compared, pc.greater_equal),
    "<=>": same,
}
FUNCTIONS: dict[str, Callable[..., pa.Array]] = {
    **COMPARISONS,
    "+": partial(arithmetic, pc.add_checked),
    "-": partial(arithmetic, pc.subtract_checked),
    "*": partial(arithmetic, pc.multiply_checked),
    "negative": pc.negate_checked,
    "not": pc.invert,
    "is null": pc.is_null,
    "is true": lambda value: pc.fill_null(value, False),
    "is false": lambda value: pc.fill_null(pc.invert(value), False),
}
SPECIAL: dict[str, Callable[[Sequence[Any], Columns], pa.Array]] = {
    "and": _and,
    "or": _or,
}
LEAVES = ("column", "mark", "literal")
SAFE = frozenset({*LEAVES, "and", "or", "not", "is null", "is true", "is false", *COMPARISONS})


def may_fail(tree: Tree) -> bool:
    """Return whether a tree can raise an error: then it is kept from rows that it is not meant for."""
    operator, *arguments = tree
    return operator not in SAFE or (operator not in LEAVES and any(map(may_fail, arguments)))


def marks_of(tree: Any) -> set[str]:
    """Return the marks of the instant that a tree names.

    >>> sorted(marks_of(("+", ("column", "a"), ("mark", "row_number"))))
    ['row_number']
    """
    if not isinstance(tree, tuple) or not tree or tree[0] in ("column", "literal"):
        return set()
    return {tree[1]} if tree[0] == "mark" else set().union(*map(marks_of, tree))


def columns_of(tree: Any) -> set[str]:
    """Return the columns that a tree names.

    >>> sorted(columns_of(("+", ("column", "a"), ("mark", "row_number"))))
    ['a']
    """
    if not isinstance(tree, tuple) or not tree or tree[0] in ("mark", "literal"):
        return set()
    return {tree[1]} if tree[0] == "column" else set().union(*map(columns_of, tree))
