"""What decides where an expression is evaluated: whether it can fail for some rows, and whether it is small.

Small expressions stand between two operators of the engine, which evaluates them itself: columns, literals,
comparisons, AND, OR, NOT, IS, and + - * of numbers that are not DECIMAL. Everything else is Spark's.
"""

from __future__ import annotations

from sqlglot import exp

from slackwater.algebra import nodes as ops
from slackwater.algebra.expressions import Tree, parse_expr, type_of
from slackwater.algebra.nodes import Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import UNKNOWN, Field, Schema

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
    if not isinstance(node, (*COMPARED, *ARITHMETIC)):
        return False
    kinds = {_kind(each, schema) for each in node.iter_expressions()} - {"void"}
    if isinstance(node, ARITHMETIC):
        return kinds <= {*NUMBERS}
    return (len(kinds) <= 1 and UNKNOWN not in kinds) or kinds <= {*NUMBERS, "decimal"}


def read_alike(equality: Tree, schema: Schema) -> Tree:
    """An equality in which text is read as what it stands beside: BIGINT with whole numbers, DOUBLE with fractions.

    >>> from slackwater.algebra.expressions import parse_expr
    >>> from slackwater.algebra.schema import Field
    >>> read_alike(parse_expr("a = s"), Schema((Field("a", "int"), Field("s", "string")))).sql()
    'a = CAST(s AS BIGINT)'
    """
    made = equality.copy()
    sides = (made.this, made.expression)
    kinds = [type_of(side, schema) for side in sides]
    if kinds.count("string") != 1 or {UNKNOWN, "void"} & {*kinds}:
        return made
    (other,) = (kind for kind in kinds if kind != "string")
    target = "bigint" if other in WHOLE else "double" if other.startswith(("float", "decimal")) else other
    text = sides[kinds.index("string")]
    text.replace(exp.cast(text.copy(), target, dialect="spark"))
    return made


def _kind(tree: Tree, schema: Schema) -> str:
    return type_of(tree, schema).partition("(")[0]


def known_schema(plan: Plan) -> Schema:
    """The columns of an operator with the types that follow from those of the streams."""
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
