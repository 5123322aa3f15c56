"""From the algebra's expressions (sqlglot) to the trees that kernels evaluate."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from slackwater.algebra.expressions import Tree, name_of, parse_expr, spark_type, text
from slackwater.algebra.lengths import MICROSECONDS
from slackwater.algebra.schema import PSEUDO_COLUMNS, Expr, Schema
from slackwater.errors import QueryError

BINARY: dict[type, str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "div",
    exp.Mod: "%",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
    exp.And: "and",
    exp.Or: "or",
    exp.DPipe: "concat",
    exp.Pow: "power",
    exp.SafeDivide: "try_divide",
}
CALLS: dict[type, str] = {
    exp.Not: "not",
    exp.Abs: "abs",
    exp.Floor: "floor",
    exp.Ceil: "ceil",
    exp.Sqrt: "sqrt",
    exp.Upper: "upper",
    exp.Lower: "lower",
    exp.Length: "length",
    exp.Concat: "concat",
    exp.Substring: "substring",
    exp.Greatest: "greatest",
    exp.Least: "least",
    exp.Nullif: "nullif",
    exp.Coalesce: "coalesce",
    exp.In: "in",
    exp.Between: "between",
}
MOST_DIGITS = 37
WHOLE = re.compile(r"[+-]?[0-9]+")
IS = {exp.Null: "is null", exp.Boolean: ("is false", "is true")}


def tree_of(expr: Expr | Tree, schema: Schema) -> tuple[Any, ...]:
    """The tree of an expression over a schema, columns under their plain names."""
    tree = parse_expr(expr.sql) if isinstance(expr, Expr) else expr
    kind = type(tree)
    if kind in SPECIAL:
        return SPECIAL[kind](tree, schema)
    if kind in BINARY:
        return (BINARY[kind], tree_of(tree.this, schema), tree_of(tree.expression, schema))
    if kind in CALLS:
        return (CALLS[kind], *(tree_of(each, schema) for each in tree.iter_expressions()))
    if kind is exp.Anonymous and tree.name.lower() == "pmod":
        return ("pmod", *(tree_of(each, schema) for each in tree.expressions))
    raise _not_here(tree)


def is_evaluable(expr: Expr | Tree, schema: Schema) -> bool:
    """Whether the engine can evaluate an expression over a schema, or Spark has to."""
    tree = parse_expr(expr.sql) if isinstance(expr, Expr) else expr
    try:
        tree_of(tree, schema)
    except QueryError as refused:
        if refused.code != "SW-352":
            raise
        return False
    return True


def _not_here(tree: Any, hint: str = "simplify it") -> QueryError:
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


def _round(tree: Any, schema: Schema) -> tuple[Any, ...]:
    digits = tree.args.get("decimals")
    if digits is None:
        return ("round", tree_of(tree.this, schema))
    if not digits.is_int or abs(int(digits.to_py())) > MOST_DIGITS:
        raise _not_here(tree, hint=f"give the digits as a whole number up to {MOST_DIGITS}")
    return ("round", tree_of(tree.this, schema), tree_of(digits, schema))


def _trim(tree: Any, schema: Schema) -> tuple[Any, ...]:
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get((tree.args.get("position") or "").upper(), "trim")
    characters = tree.args.get("expression")
    if characters is None:
        return (name, tree_of(tree.this, schema))
    if not characters.is_string or not characters.this:
        raise _not_here(tree, hint="give the characters as a text")
    return (name, tree_of(tree.this, schema), tree_of(characters, schema))


def _pattern(tree: Any, schema: Schema) -> tuple[Any, ...]:
    """LIKE and RLIKE: the pattern is one for all rows."""
    if not isinstance(tree.expression, exp.Null) and not tree.expression.is_string:
        raise _not_here(tree, hint="give the pattern as a text")
    name = "like" if isinstance(tree, exp.Like) else "rlike"
    return (name, tree_of(tree.this, schema), tree_of(tree.expression, schema))


def _case(tree: Any, schema: Schema) -> tuple[Any, ...]:
    subject = tree.args.get("this")
    branches = []
    for branch in tree.args["ifs"]:
        when = tree_of(branch.this, schema)
        met = when if subject is None else ("=", tree_of(subject, schema), when)
        branches.append((met, tree_of(branch.args["true"], schema)))
    default = tree.args.get("default")
    return ("case", *branches, None if default is None else tree_of(default, schema))


def _if(tree: Any, schema: Schema) -> tuple[Any, ...]:
    otherwise = tree.args.get("false")
    branch = (tree_of(tree.this, schema), tree_of(tree.args["true"], schema))
    return ("case", branch, None if otherwise is None else tree_of(otherwise, schema))


def _is(tree: Any, schema: Schema) -> tuple[Any, ...]:
    name = IS[type(tree.expression)]
    return (name if isinstance(name, str) else name[bool(tree.expression.this)], tree_of(tree.this, schema))


def _cast(tree: Any, schema: Schema) -> tuple[Any, ...]:
    name = "try_cast" if tree.args.get("safe") else "cast"
    return (name, tree_of(tree.this, schema), spark_type(tree.args["to"].sql("spark")))


def _interval(tree: Any, schema: Schema) -> tuple[Any, ...]:
    unit = MICROSECONDS.get(getattr(tree.args.get("unit"), "name", "").lower().removesuffix("s"))
    if unit is None or not WHOLE.fullmatch(getattr(tree.this, "name", "")):
        raise _not_here(tree, hint=f"use a whole number of one of {', '.join(MICROSECONDS)}")
    return ("literal", int(tree.this.name) * unit, "interval")


SPECIAL: dict[type, Callable[[Any, Schema], tuple[Any, ...]]] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Neg: _negative,
    exp.Round: _round,
    exp.Trim: _trim,
    exp.Like: _pattern,
    exp.RegexpLike: _pattern,
    exp.Case: _case,
    exp.If: _if,
    exp.Is: _is,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Interval: _interval,
    exp.Paren: lambda tree, schema: tree_of(tree.this, schema),
    exp.Alias: lambda tree, schema: tree_of(tree.this, schema),
    exp.Null: lambda tree, schema: ("literal", None, "void"),
    exp.Boolean: lambda tree, schema: ("literal", bool(tree.this), "boolean"),
}
