"""Decide where an expression is evaluated, and translate those that the engine evaluates.

The engine evaluates *small* expressions, between two of its operators: columns, literals, comparisons, AND, OR, NOT,
IS, and + - * of numbers that are not DECIMAL. Spark evaluates everything else. Below the first operator it evaluates
all expressions, except those that may fail for rows that do not reach the operator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from slackwater.algebra import nodes as ops
from slackwater.algebra.expressions import Tree, name_of, parse_expr, text, type_of
from slackwater.algebra.nodes import Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import PSEUDO_COLUMNS, UNKNOWN, Expr, Field, Schema
from slackwater.errors import QueryError

LOGIC = (exp.Column, exp.Identifier, exp.Boolean, exp.Null, exp.Paren, exp.And, exp.Or, exp.Not, exp.Is)
SAFE = (*LOGIC, exp.Literal, exp.Case, exp.If, exp.Coalesce)
"""Expressions that cannot fail if their operands cannot."""
TOTAL = (
    exp.Upper,
    exp.Lower,
    exp.Trim,
    exp.Length,
    exp.Substring,
    exp.Concat,
    exp.DPipe,
    exp.Like,
    exp.TimeToStr,
    exp.Year,
    exp.Month,
    exp.Day,
    exp.Hour,
    exp.Minute,
    exp.Second,
)
"""Functions that have an answer for every argument of their types."""
COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.Between, exp.In)


def may_fail(tree: Tree, schema: Schema) -> bool:
    """Return whether an expression can raise an error: then Spark must not evaluate it for other rows than it is for.

    >>> from slackwater.algebra.expressions import parse_expr
    >>> from slackwater.algebra.schema import Field
    >>> schema = Schema((Field("a", "int"), Field("s", "string")))
    >>> [may_fail(parse_expr(sql), schema) for sql in ("a > 1 AND s = 'x'", "a > s", "1 / a")]
    [False, True, True]
    """
    return not all(isinstance(node, (*SAFE, *TOTAL)) or _is_safe(node, schema) for node in tree.walk())


def _is_safe(node: Tree, schema: Schema) -> bool:
    """Return whether a node is a comparison that never fails: of values of one kind, without text beside a number."""
    if not isinstance(node, COMPARED):
        return False
    kinds = {type_of(each, schema) for each in node.iter_expressions()} - {"void"}
    return UNKNOWN not in kinds and (len(kinds) == 1 or "string" not in kinds)


ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Neg)
WHOLE = ("tinyint", "smallint", "int", "bigint")
NUMBERS = (*WHOLE, "float", "double")


def is_small(tree: Tree, schema: Schema) -> bool:
    """Return whether the engine evaluates an expression exactly as Spark does.

    >>> from slackwater.algebra.expressions import parse_expr
    >>> from slackwater.algebra.schema import Field
    >>> schema = Schema((Field("a", "int"), Field("s", "string")))
    >>> [is_small(parse_expr(sql), schema) for sql in ("a * 2 > 3 AND s = 'x'", "a / 2 > 1", "upper(s)")]
    [True, False, False]
    """
    return all(isinstance(node, LOGIC) or _is_simple(node, schema) for node in tree.walk())


def _is_simple(node: Tree, schema: Schema) -> bool:
    """Return whether a node is a literal, or compares or computes values for which the engine has Spark's rules."""
    if isinstance(node, exp.Literal):
        return node.is_string or -(2**63) <= float(node.this) < 2**63
    if not isinstance(node, (*COMPARED, *ARITHMETIC)):
        return False
    kinds = {_kind(each, schema) for each in node.iter_expressions()} - {"void"}
    if isinstance(node, ARITHMETIC):
        return kinds <= {*NUMBERS}
    return (len(kinds) <= 1 and UNKNOWN not in kinds) or kinds <= {*NUMBERS, "decimal"}


def cast_text(equality: Tree, schema: Schema) -> Tree:
    """Return an equality whose text is cast to the type beside it: BIGINT for whole numbers, DOUBLE for fractions.

    >>> from slackwater.algebra.expressions import parse_expr
    >>> from slackwater.algebra.schema import Field
    >>> cast_text(parse_expr("a = s"), Schema((Field("a", "int"), Field("s", "string")))).sql()
    'a = CAST(s AS BIGINT)'
    """
    made = equality.copy()
    sides = (made.this, made.expression)
    kinds = [type_of(side, schema) for side in sides]
    if kinds.count("string") != 1 or {UNKNOWN, "void"} & {*kinds}:
        return made
    (other,) = (kind for kind in kinds if kind != "string")
    target = "bigint" if other in WHOLE else "double" if other.startswith(("float", "decimal")) else other
    written = sides[kinds.index("string")]
    written.replace(exp.cast(written.copy(), target, dialect="spark"))
    return made


def replace_operands(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """Return a copy of a tree in which every operand that names columns is changed."""
    made = tree.copy()
    for child in list(made.iter_expressions()):
        if child.find(exp.Column) is not None:
            child.replace(change(child))
    return made


def _kind(tree: Tree, schema: Schema) -> str:
    return type_of(tree, schema).partition("(")[0]


def known_schema(plan: Plan) -> Schema:
    """Return the columns of an operator with the types that follow from those of the streams."""
    here = schema_of(plan)
    if all(each.type != UNKNOWN for each in here):
        return here
    match plan:
        case ops.Project(child=child) | ops.Aggregate(child=child):
            items = plan.items if isinstance(plan, ops.Project) else plan.group + plan.aggregates
            below = known_schema(child)
            kinds = [type_of(parse_expr(item.expr.sql), below) for item in items]
        case _:
            kinds = [each.type for below in ops.inputs(plan) for each in known_schema(below)][: len(here)]
    pairs = zip(here, kinds, strict=False)
    return Schema(tuple(Field(each.name, kind, each.qualifier) for each, kind in pairs) + here.fields[len(kinds) :])


# trees of the engine

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
    """Return an expression over a schema as the engine's tree, with columns by their plain names."""
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
    """Return a literal with its type: `1` is INT or BIGINT, `1.5` a DECIMAL, `1e3` a DOUBLE, `'1'` a string."""
    written = tree.this
    if tree.is_string:
        return ("literal", written, "string")
    if "e" in written.lower():
        return ("literal", float(written), "double")
    if "." in written:
        whole, _, fraction = written.partition(".")
        return ("literal", written, f"decimal({max(1, len(whole.lstrip('0')) + len(fraction))},{len(fraction)})")
    return _whole_number(tree, int(written))


def _whole_number(tree: Any, number: int) -> tuple[Any, ...]:
    """Return a whole number with its type; raise an error if it is no BIGINT."""
    if not -(2**63) <= number < 2**63:
        raise _not_here(tree, hint="it is no BIGINT: cast it from text to a DECIMAL, or write 1e20")
    return ("literal", number, "int" if -(2**31) <= number < 2**31 else "bigint")


def _negative(tree: Any, schema: Schema) -> tuple[Any, ...]:
    """Return a negated value. The sign is part of a whole number, or the least BIGINT could not be written."""
    if tree.this.is_int and not tree.this.is_string:
        return _whole_number(tree, -int(tree.this.this))
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
