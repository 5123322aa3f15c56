"""From the algebra's small expressions (sqlglot, see `is_small`) to the trees that the engine evaluates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from slackwater.algebra.expressions import Tree, name_of, parse_expr, text
from slackwater.algebra.schema import PSEUDO_COLUMNS, Expr, Schema
from slackwater.errors import QueryError

BINARY: dict[type, str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
    exp.And: "and",
    exp.Or: "or",
}
IS = {exp.Null: "is null", exp.Boolean: ("is false", "is true")}


def tree_of(expr: Expr | Tree, schema: Schema) -> tuple[Any, ...]:
    """The tree of an expression over a schema, columns under their plain names."""
    tree = parse_expr(expr.sql) if isinstance(expr, Expr) else expr
    kind = type(tree)
    if kind in SPECIAL:
        return SPECIAL[kind](tree, schema)
    if kind in BINARY:
        return (BINARY[kind], tree_of(tree.this, schema), tree_of(tree.expression, schema))
    raise _not_here(tree)


def _not_here(tree: Any, hint: str = "compute it in a subquery") -> QueryError:
    return QueryError("SW-352", f"'{text(tree)[:80]}' cannot be evaluated in the fused operator", hint=hint)


def _column(tree: Any, schema: Schema) -> tuple[Any, ...]:
    reference = name_of(tree)
    if not schema.matching(reference) and reference.lower() in PSEUDO_COLUMNS:
        return ("mark", reference.lower())
    return ("column", schema.find(reference).name)


def _literal(tree: Any, schema: Schema) -> tuple[Any, ...]:
    """`1` is INT or BIGINT, `1.5` a DECIMAL, `1e3` a DOUBLE, `'1'` a string."""
    written = tree.this
    if tree.is_string:
        return ("literal", written, "string")
    if "e" in written.lower():
        return ("literal", float(written), "double")
    if "." in written:
        whole, _, fraction = written.partition(".")
        return ("literal", written, f"decimal({max(1, len(whole.lstrip('0')) + len(fraction))},{len(fraction)})")
    return _whole(tree, int(written))


def _whole(tree: Any, number: int) -> tuple[Any, ...]:
    if not -(2**63) <= number < 2**63:
        raise _not_here(tree, hint="it is no BIGINT: cast it from text to a DECIMAL, or write 1e20")
    return ("literal", number, "int" if -(2**31) <= number < 2**31 else "bigint")


def _negative(tree: Any, schema: Schema) -> tuple[Any, ...]:
    """The sign belongs to a whole number, or there would be no least one."""
    if tree.this.is_int and not tree.this.is_string:
        return _whole(tree, -int(tree.this.this))
    return ("negative", tree_of(tree.this, schema))


def _is(tree: Any, schema: Schema) -> tuple[Any, ...]:
    name = IS[type(tree.expression)]
    return (name if isinstance(name, str) else name[bool(tree.expression.this)], tree_of(tree.this, schema))


def _between(tree: Any, schema: Schema) -> tuple[Any, ...]:
    value, low, high = (tree_of(tree.args[name], schema) for name in ("this", "low", "high"))
    return ("and", (">=", value, low), ("<=", value, high))


def _in(tree: Any, schema: Schema) -> tuple[Any, ...]:
    value = tree_of(tree.this, schema)
    return ("or", *(("=", value, tree_of(each, schema)) for each in tree.expressions))


SPECIAL: dict[type, Callable[[Any, Schema], tuple[Any, ...]]] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Neg: _negative,
    exp.Is: _is,
    exp.Between: _between,
    exp.In: _in,
    exp.Not: lambda tree, schema: ("not", tree_of(tree.this, schema)),
    exp.Paren: lambda tree, schema: tree_of(tree.this, schema),
    exp.Alias: lambda tree, schema: tree_of(tree.this, schema),
    exp.Null: lambda tree, schema: ("literal", None, "void"),
    exp.Boolean: lambda tree, schema: ("literal", bool(tree.this), "boolean"),
}
