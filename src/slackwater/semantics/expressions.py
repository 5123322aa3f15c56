"""Evaluate a Spark SQL expression over a row: three-valued logic, comparison, CASE, CAST, a few functions.

NULL arguments give NULL. The exceptions (AND, OR, IS, `<=>`, COALESCE, CASE and others) are stated below.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import lru_cache
from typing import Any

from sqlglot import exp

from slackwater.algebra.expressions import Tree, name_of, parse_expr, text, type_of
from slackwater.algebra.lengths import MICROSECONDS
from slackwater.algebra.schema import PSEUDO_COLUMNS, Expr, Schema
from slackwater.errors import QueryError
from slackwater.semantics.casts import as_text, beside, cast
from slackwater.semantics.functions import CALLS, NAMED_CALLS
from slackwater.semantics.rows import Row, Value, Values
from slackwater.semantics.values import GREATEST_BIGINT, arithmetic, compare, divide, divide_whole, remainder

ARITHMETIC: dict[type, Callable[[Value, Value], Value]] = {
    exp.Add: operator.add,
    exp.Sub: operator.sub,
    exp.Mul: operator.mul,
    exp.Div: divide,
    exp.IntDiv: divide_whole,
    exp.Mod: remainder,
    exp.BitwiseAnd: operator.and_,
    exp.BitwiseOr: operator.or_,
}
COMPARISONS: dict[type, Callable[[int], bool]] = {
    exp.EQ: lambda sign: sign == 0,
    exp.NEQ: lambda sign: sign != 0,
    exp.LT: lambda sign: sign < 0,
    exp.LTE: lambda sign: sign <= 0,
    exp.GT: lambda sign: sign > 0,
    exp.GTE: lambda sign: sign >= 0,
}


class RowScope:
    """The positions of a schema's columns in a row's values."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.index: dict[str, int] = {}
        for place, field in enumerate(schema.fields):
            if len(schema.matching(field.name)) == 1:
                self.index[field.name.lower()] = place
            self.index[f"{field.qualifier}.{field.name}".lower()] = place

    def value(self, reference: str, row: Row) -> Value:
        """Return the value of a reference in a row; of a pseudo-column if no column has that name."""
        place = self.index.get(reference.lower())
        if place is not None:
            return row.values[place]
        if reference.lower() in PSEUDO_COLUMNS:
            return getattr(row.marks, reference.lower())
        self.schema.find(reference)
        raise QueryError("SW-201", f"there is no column '{reference}' here", hint="name a column of the input")


@lru_cache(maxsize=4096)
def scope_of(schema: Schema) -> RowScope:
    return RowScope(schema)


def values_of(exprs: Iterable[Expr], schema: Schema) -> Callable[[Row], Values]:
    """Return a function from a row of the schema to the values of these expressions."""
    scope, trees = scope_of(schema), [parse_expr(expr.sql) for expr in exprs]
    return lambda row: tuple(evaluate(tree, scope, row) for tree in trees)


def value_of(expr: Expr, schema: Schema, row: Row) -> Value:
    """Return the value of an expression over a row of a schema."""
    return evaluate(parse_expr(expr.sql), scope_of(schema), row)


def holds(expr: Expr, schema: Schema, row: Row) -> bool:
    """Return whether a condition is true, neither false nor unknown."""
    return value_of(expr, schema, row) is True


def evaluate(tree: Tree, scope: RowScope, row: Row) -> Value:
    """Return the value of a syntax tree over a row."""
    kind = type(tree)
    if isinstance(tree, exp.Column):
        return scope.value(name_of(tree), row)
    if kind is exp.Literal:
        return literal(tree)
    if kind in COMPARISONS:
        sign = sign_of(tree.this, tree.expression, scope, row)
        return None if sign is None else COMPARISONS[kind](sign)
    if kind in ARITHMETIC:
        return arithmetic(ARITHMETIC[kind], *operands(tree, scope, row))
    if kind in SPECIAL:
        return SPECIAL[kind](tree, scope, row)
    name = tree.name.lower() if kind is exp.Anonymous else ""
    call = NAMED_CALLS.get(name) or CALLS.get(kind)
    if call is None:
        raise QueryError(
            "SW-240",
            f"'{text(tree)[:80]}' has no meaning in the reference interpreter",
            hint="use a simpler function, or run the case on Spark",
        )
    return call(*(evaluate(argument, scope, row) for argument in tree.iter_expressions()))


def operands(tree: Tree, scope: RowScope, row: Row) -> tuple[Value, Value]:
    return evaluate(tree.this, scope, row), evaluate(tree.expression, scope, row)


def sign_of(one: Tree, two: Tree, scope: RowScope, row: Row) -> int | None:
    """Compare two expressions: -1, 0, 1 or None. Text is cast to the type of the other side (ANSI)."""
    first, second = evaluate(one, scope, row), evaluate(two, scope, row)
    if first is None or second is None or isinstance(first, str) == isinstance(second, str):
        return compare(first, second)
    if isinstance(first, str):
        return compare(beside(first, type_of(two, scope.schema)), second)
    return compare(first, beside(second, type_of(one, scope.schema)))


def literal(tree: Tree) -> Value:
    """Return the value of a literal: `1` is a whole number, `1.5` a DECIMAL, `1e3` a DOUBLE, `'1'` a string."""
    written: str = tree.this
    if tree.is_string:
        return written
    if "e" in written.lower():
        return float(written)
    return Decimal(written) if "." in written or int(written) > GREATEST_BIGINT else int(written)


def _and(tree: Tree, scope: RowScope, row: Row) -> Value:
    return _decided_by(False, tree, scope, row)


def _or(tree: Tree, scope: RowScope, row: Row) -> Value:
    return _decided_by(True, tree, scope, row)


def _decided_by(decisive: bool, tree: Tree, scope: RowScope, row: Row) -> Value:
    """Evaluate AND, which one false side decides (`decisive` False), or OR, which one true side decides (True).

    As in Spark, the right side is not evaluated if the left one decides.
    """
    left = evaluate(tree.this, scope, row)
    if left is decisive:
        return decisive
    right = evaluate(tree.expression, scope, row)
    return decisive if right is decisive else None if None in (left, right) else not decisive


def _not(tree: Tree, scope: RowScope, row: Row) -> Value:
    value = evaluate(tree.this, scope, row)
    return None if value is None else not value


def _is(tree: Tree, scope: RowScope, row: Row) -> Value:
    value, wanted = operands(tree, scope, row)
    return value is wanted


def _null_safe_equal(tree: Tree, scope: RowScope, row: Row) -> Value:
    one, two = operands(tree, scope, row)
    known = one is not None and two is not None
    return sign_of(tree.this, tree.expression, scope, row) == 0 if known else one is two


def _null_if(tree: Tree, scope: RowScope, row: Row) -> Value:
    return None if sign_of(tree.this, tree.expression, scope, row) == 0 else evaluate(tree.this, scope, row)


def _trim(tree: Tree, scope: RowScope, row: Row) -> Value:
    value = evaluate(tree.this, scope, row)
    characters = evaluate(tree.expression, scope, row) if tree.args.get("expression") else " "
    if value is None or characters is None:
        return None
    sides = {"LEADING": str.lstrip, "TRAILING": str.rstrip}
    return sides.get((tree.args.get("position") or "").upper(), str.strip)(value, characters)


def _between(tree: Tree, scope: RowScope, row: Row) -> Value:
    above, below = (sign_of(tree.this, tree.args[each], scope, row) for each in ("low", "high"))
    if (above is not None and above < 0) or (below is not None and below > 0):
        return False
    return None if above is None or below is None else True


def _in(tree: Tree, scope: RowScope, row: Row) -> Value:
    signs = [sign_of(tree.this, each, scope, row) for each in tree.expressions]
    return True if 0 in signs else None if None in signs else False


def _case(tree: Tree, scope: RowScope, row: Row) -> Value:
    subject = tree.args.get("this")
    for branch in tree.args["ifs"]:
        met = evaluate(branch.this, scope, row) is True if subject is None else _equal(subject, branch.this, scope, row)
        if met:
            return evaluate(branch.args["true"], scope, row)
    default = tree.args.get("default")
    return None if default is None else evaluate(default, scope, row)


def _equal(one: Tree, two: Tree, scope: RowScope, row: Row) -> bool:
    return sign_of(one, two, scope, row) == 0


def _if(tree: Tree, scope: RowScope, row: Row) -> Value:
    chosen = tree.args["true"] if evaluate(tree.this, scope, row) is True else tree.args.get("false")
    return None if chosen is None else evaluate(chosen, scope, row)


def _coalesce(tree: Tree, scope: RowScope, row: Row) -> Value:
    values = (evaluate(each, scope, row) for each in [tree.this, *tree.expressions])
    return next((value for value in values if value is not None), None)


def _like(tree: Tree, scope: RowScope, row: Row, escape: str = "\\") -> Value:
    value, pattern = operands(tree, scope, row)
    if value is None or pattern is None:
        return None
    parts = re.findall(f"{re.escape(escape)}.|.", pattern, re.DOTALL)
    wild = {"%": ".*", "_": "."}
    regex = "".join(wild.get(part) or re.escape(part[-1]) for part in parts)
    return re.fullmatch(regex, value, re.DOTALL) is not None


def _escape(tree: Tree, scope: RowScope, row: Row) -> Value:
    return _like(tree.this, scope, row, tree.expression.this)


def _cast(tree: Tree, scope: RowScope, row: Row) -> Value:
    return cast(tree, evaluate(tree.this, scope, row), scope.schema)


def _interval(tree: Tree, scope: RowScope, row: Row) -> Value:
    unit = MICROSECONDS.get(tree.args["unit"].name.lower().removesuffix("s"))
    if unit is None:
        raise QueryError(
            "SW-240",
            f"'{text(tree)[:80]}' has no meaning in the reference interpreter",
            hint="use days or less, or run the case on Spark",
        )
    return int(tree.this.name) * unit


def _field(tree: Tree, scope: RowScope, row: Row) -> Value:
    value = evaluate(tree.this, scope, row)
    return None if value is None else value[tree.expression.name]


def _concat(tree: Tree, scope: RowScope, row: Row) -> Value:
    parts = list(tree.iter_expressions())
    values = [evaluate(each, scope, row) for each in parts]
    if None in values:
        return None
    return "".join(as_text(value, type_of(part, scope.schema)) for value, part in zip(values, parts, strict=True))


SPECIAL: dict[type, Callable[[Any, RowScope, Row], Value]] = {
    exp.And: _and,
    exp.Or: _or,
    exp.Not: _not,
    exp.Is: _is,
    exp.NullSafeEQ: _null_safe_equal,
    exp.Nullif: _null_if,
    exp.Trim: _trim,
    exp.Between: _between,
    exp.In: _in,
    exp.Case: _case,
    exp.If: _if,
    exp.Coalesce: _coalesce,
    exp.Concat: _concat,
    exp.DPipe: _concat,
    exp.Like: _like,
    exp.Escape: _escape,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Interval: _interval,
    exp.Dot: _field,
    exp.Paren: lambda tree, scope, row: evaluate(tree.this, scope, row),
    exp.Alias: lambda tree, scope, row: evaluate(tree.this, scope, row),
    exp.Null: lambda tree, scope, row: None,
    exp.Boolean: lambda tree, scope, row: bool(tree.this),
}
