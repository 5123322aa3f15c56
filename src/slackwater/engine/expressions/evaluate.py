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
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from slackwater.engine.columns.types import arrow_type
from slackwater.engine.expressions.functions import COMPARISONS, FUNCTIONS
from slackwater.engine.plan import Tree
from slackwater.errors import QueryError, RunError


class Columns(Protocol):
    """What an expression is evaluated over: columns by name, all of one length."""

    def column(self, name: str) -> pa.Array: ...

    def __len__(self) -> int: ...


def evaluate(tree: Tree, rows: Columns) -> pa.Array:
    """The value of a tree for each row. A tree with marks needs rows that have them."""
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
    values = [_value(argument, rows) for argument in arguments]
    if operator in COMPARISONS:
        return COMPARISONS[operator](*values)
    if operator in FUNCTIONS:
        return FUNCTIONS[operator](*values)
    raise unknown(operator)


def unknown(operator: str) -> QueryError:
    return QueryError(
        "SW-352",
        f"'{operator}' cannot be evaluated in the fused operator",
        expected=", ".join(sorted([*FUNCTIONS, *COMPARISONS, *SPECIAL])),
        hint="compute it in a view before the window",
    )


def literal(value: Any, kind: str) -> pa.Scalar:
    """A constant; a decimal is given as text, a timestamp or an interval in microseconds."""
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
    """Left to right, each side only for the rows that the sides before it have not decided."""
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
    """Values for the rows of the mask put in their places; NULL elsewhere."""
    return pc.replace_with_mask(pa.nulls(len(mask), values.type), mask, values)


SPECIAL: dict[str, Callable[[Sequence[Any], Columns], pa.Array]] = {
    "and": _and,
    "or": _or,
}
SAFE = frozenset({"column", "mark", "literal", "and", "or", "not", "is null", "is true", "is false", *COMPARISONS})


def may_fail(tree: Any) -> bool:
    """Whether a tree has an operator that can raise an error: then it is kept from rows that it is not meant for."""
    if not isinstance(tree, tuple) or not tree:
        return False
    if isinstance(tree[0], str):
        return tree[0] not in SAFE or (tree[0] not in ("column", "mark", "literal") and any(map(may_fail, tree[1:])))
    return any(map(may_fail, tree))


def marks_of(tree: Any) -> set[str]:
    """The marks of the instant that a tree names.

    >>> sorted(marks_of(("+", ("column", "a"), ("mark", "row_number"))))
    ['row_number']
    """
    if not isinstance(tree, tuple) or not tree or tree[0] in ("column", "literal"):
        return set()
    return {tree[1]} if tree[0] == "mark" else set().union(*map(marks_of, tree))


def columns_of(tree: Any) -> set[str]:
    """The columns that a tree names.

    >>> sorted(columns_of(("+", ("column", "a"), ("mark", "row_number"))))
    ['a']
    """
    if not isinstance(tree, tuple) or not tree or tree[0] in ("mark", "literal"):
        return set()
    return {tree[1]} if tree[0] == "column" else set().union(*map(columns_of, tree))
