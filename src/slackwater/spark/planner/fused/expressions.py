"""What decides where an expression is evaluated: whether it can fail for some rows, and whether it is small.

Small expressions stand between two operators of the engine, which evaluates them itself: columns, literals,
comparisons, AND, OR, NOT, IS, and + - * of numbers that are not DECIMAL. Everything else is Spark's.
"""

from __future__ import annotations

from sqlglot import exp

from slackwater.algebra.expressions import Tree, type_of
from slackwater.algebra.schema import UNKNOWN, Schema

SAFE = (
    exp.Column,
    exp.Identifier,
    exp.Literal,
    exp.Boolean,
    exp.Null,
    exp.Paren,
    exp.And,
    exp.Or,
    exp.Not,
    exp.Is,
    exp.Case,
    exp.If,
    exp.Coalesce,
)
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
    """Whether an expression can raise an error: then Spark must not evaluate it for rows that it is not meant for.

    >>> from slackwater.algebra.expressions import parse_expr
    >>> from slackwater.algebra.schema import Field
    >>> schema = Schema((Field("a", "int"), Field("s", "string")))
    >>> [may_fail(parse_expr(sql), schema) for sql in ("a > 1 AND s = 'x'", "a > s", "1 / a")]
    [False, True, True]
    """
    return not all(isinstance(node, (*SAFE, *TOTAL)) or _is_safe(node, schema) for node in tree.walk())


def _is_safe(node: Tree, schema: Schema) -> bool:
    """A comparison of values of one kind never fails; text beside a number is read as one."""
    if not isinstance(node, COMPARED):
        return False
    kinds = {type_of(each, schema) for each in node.iter_expressions()} - {"void"}
    return UNKNOWN not in kinds and (len(kinds) == 1 or "string" not in kinds)


LOGIC = (exp.Column, exp.Identifier, exp.Boolean, exp.Null, exp.Paren, exp.And, exp.Or, exp.Not, exp.Is)
ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Neg)
WHOLE = ("tinyint", "smallint", "int", "bigint")
NUMBERS = (*WHOLE, "float", "double")


def is_small(tree: Tree, schema: Schema) -> bool:
    """Whether the engine evaluates an expression exactly as Spark does.

    >>> from slackwater.algebra.expressions import parse_expr
    >>> from slackwater.algebra.schema import Field
    >>> schema = Schema((Field("a", "int"), Field("s", "string")))
    >>> [is_small(parse_expr(sql), schema) for sql in ("a * 2 > 3 AND s = 'x'", "a / 2 > 1", "upper(s)")]
    [True, False, False]
    """
    return all(isinstance(node, LOGIC) or _is_simple(node, schema) for node in tree.walk())


def _is_simple(node: Tree, schema: Schema) -> bool:
    if isinstance(node, exp.Literal):
        return node.is_string or -(2**63) <= float(node.this) < 2**63
    if isinstance(node, exp.Between | exp.In) or not isinstance(node, (*COMPARED, *ARITHMETIC)):
        return False
    kinds = {_kind(each, schema) for each in node.iter_expressions()} - {"void"}
    if isinstance(node, ARITHMETIC):
        return kinds <= {*NUMBERS}
    return (len(kinds) <= 1 and UNKNOWN not in kinds) or kinds <= {*NUMBERS, "decimal"}


def _kind(tree: Tree, schema: Schema) -> str:
    return type_of(tree, schema).partition("(")[0]
