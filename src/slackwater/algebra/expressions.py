"""Spark SQL expressions through sqlglot: their columns, aggregates, types and canonical text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeAlias

import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.schema import MappingSchema

from slackwater.algebra.aggregates import TYPES
from slackwater.algebra.faithful import Faithful
from slackwater.algebra.schema import PSEUDO_COLUMNS, UNKNOWN, Expr, Schema
from slackwater.errors import QueryError

Tree: TypeAlias = exp.Expr
DIALECT = "spark"


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


RESERVED = _words(
    """
    all alter and anti any array as between both by case cast connect_by_root create cross current_date
    current_timestamp current_user distinct drop else end except exists false fetch for from full glob grant
    group having if ilike in inner insert intersect interval into is join lateral leading left like limit list lock
    map minus natural not notnull null nullable object offset on or order outer qualify range regexp returning revoke
    right rlike rollback select semi serdeproperties session_user some struct table tablesample then to trailing
    true uncache union unique using values when where window with xor
    """
)
"""Words that canonical text quotes when they name a column."""
AGGREGATES_WITHOUT_CLASS = _words(
    """
    bool_and bool_or count_if count_min_sketch every histogram_numeric hll_sketch_agg hll_union_agg mean
    schema_of_variant_agg some std theta_sketch_agg try_avg try_sum
    """
)
AGGREGATES_WITH_MORE = (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)
"""Clauses that may follow an aggregate call and are part of it."""

METADATA = Spark.EXPRESSION_METADATA | TYPES
"""How the types of functions follow from their arguments."""
SHORT_DECIMAL = re.compile(r"(?<!\w)decimal(?:\((\d+)\)|(?![\w(:]))")
"""A DECIMAL without its scale (0 by default), or without precision and scale (10 and 0 by default)."""
NO_TYPES = ("userdefined", "time")
"""Type names that Spark does not have, or that sqlglot would write as another type."""


@lru_cache(maxsize=4096)
def parse_expr(sql: str) -> Tree:
    """Return the syntax tree of an expression. The tree is shared: copy it before changing it.

    >>> parse_expr("a + 1").sql()
    'a + 1'
    """
    problem = QueryError("SW-101", f"'{sql[:80]}' is not an expression", hint="write an expression of Spark SQL")
    try:
        # parsed in a select list, because `comment + 1` alone would be parsed as a statement
        select = sqlglot.parse_one(f"SELECT {sql}", read=Faithful)
    except (SqlglotError, RecursionError) as cause:
        raise problem from cause
    if len(select.expressions) != 1 or any(value for key, value in select.args.items() if key != "expressions"):
        raise problem
    tree: Tree = select.expressions[0].pop()
    for node in tree.walk():
        node.meta.clear()  # positions in the wrapped text: useless, and slow to copy
    return tree


def text(tree: Tree) -> str:
    """Return the canonical text: Spark's dialect, one line, identifiers quoted only where necessary."""
    try:
        return tree.sql(dialect=DIALECT, comments=False, unsupported_level=ErrorLevel.IGNORE)
    except RecursionError as cause:
        raise QueryError("SW-102", "the expression is nested too deeply", hint="split it into views") from cause


def name_of(column: exp.Column) -> str:
    """Return the reference that a column node makes, `name` or `alias.name`."""
    return f"{column.table}.{column.name}" if column.table else column.name


def columns(expr: Expr | Tree) -> tuple[str, ...]:
    """Return the columns that an expression names, each once, in order.

    >>> columns(Expr("A.x + y * A.x", "int"))
    ('A.x', 'y')
    """
    tree = parse_expr(expr.sql) if isinstance(expr, Expr) else expr
    return tuple(dict.fromkeys(name_of(column) for column in tree.find_all(exp.Column, bfs=False)))


def is_aggregate(node: Tree) -> bool:
    """Return whether a node is a call of an aggregate function."""
    if isinstance(node, AGGREGATES_WITH_MORE):
        return is_aggregate(node.this)
    if isinstance(node, exp.Anonymous):
        return node.name.lower() in AGGREGATES_WITHOUT_CLASS
    return isinstance(node, (exp.AggFunc, exp.ArrayUniqueAgg))


def aggregates(tree: Tree) -> list[Tree]:
    """Return the outermost aggregate calls of a tree, in order.

    >>> [text(call) for call in aggregates(parse_expr("1 + AVG(x) / MAX(y)"))]
    ['AVG(x)', 'MAX(y)']
    """
    if is_aggregate(tree):
        return [tree]
    return [call for child in tree.iter_expressions() for call in aggregates(child)]


def nested_aggregates(call: Tree) -> list[Tree]:
    """Return the aggregate calls inside another aggregate call.

    >>> [text(inner) for inner in nested_aggregates(parse_expr("MAX(AVG(x)) FILTER (WHERE y > 1)"))]
    ['AVG(x)']
    """
    children = list(call.iter_expressions())
    if isinstance(call, AGGREGATES_WITH_MORE):
        rest = [each for child in children if child is not call.this for each in aggregates(child)]
        return nested_aggregates(call.this) + rest
    return [each for child in children for each in aggregates(child)]


def type_expr(tree: Tree, schema: Schema) -> Expr:
    """Return the expression with its type, and with every column resolved in `schema` and spelled canonically."""
    tree = resolve_columns(tree, schema)
    return Expr(text(tree), type_of(tree, schema))


def resolve_columns(tree: Tree, schema: Schema) -> Tree:
    """Return a copy in which every column has its canonical spelling. Raise if a column is unknown."""

    def spell(node: Tree) -> Tree:
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            return node
        reference = name_of(node)
        if not schema.matching(reference) and reference.lower() in PSEUDO_COLUMNS:
            return exp.column(reference.lower())
        if not schema.matching(reference) and schema.matching(node.table):
            return exp.Dot(this=column_node(schema.reference(schema.find(node.table))), expression=node.this)
        return column_node(schema.reference(schema.find(reference)))

    return tree.transform(spell)


def replace_columns(expr: Expr, rename: Callable[[str], str | Tree]) -> Expr:
    """Return the expression with each column reference replaced by another reference or by a tree."""

    def swap(node: Tree) -> Tree:
        if not isinstance(node, exp.Column):
            return node
        new = rename(name_of(node))
        return column_node(new) if isinstance(new, str) else exp.paren(new.copy()) if _binds(new) else new.copy()

    return Expr(text(parse_expr(expr.sql).transform(swap)), expr.type)


def conjuncts(condition: Expr | None) -> tuple[Expr, ...]:
    """Return the parts of a condition that AND combines, inside parentheses too. No condition has no parts.

    >>> [part.sql for part in conjuncts(Expr("(a > 1 AND (b AND c)) AND (d OR e)", "boolean"))]
    ['a > 1', 'b', 'c', '(d OR e)']
    """
    if condition is None:
        return ()
    inner = parse_expr(condition.sql).unnest()
    if not isinstance(inner, exp.And):
        return (condition,)
    parts = (Expr(text(part), condition.type) for part in inner.flatten(unnest=False))
    return tuple(leaf for part in parts for leaf in conjuncts(part))


def conjunction(parts: tuple[Expr, ...]) -> Expr:
    """Return the condition that is true where all parts are true."""
    trees = [parse_expr(part.sql).copy() for part in parts]
    return Expr(text(exp.and_(*trees, copy=False)), "boolean") if len(trees) > 1 else parts[0]


def column_node(reference: str) -> exp.Column:
    """Return the tree of a reference, quoted where its spelling requires it."""
    table, _, name = reference.rpartition(".")
    return exp.column(identifier(name), table=identifier(table) if table else None)


def identifier(name: str) -> exp.Identifier:
    """Return a name as canonical text writes it.

    >>> identifier("speed").sql(DIALECT), identifier("Group").sql(DIALECT)
    ('speed', '`Group`')

    Spark takes letters beyond ASCII only in quotes.
    """
    quoted = name.lower() in RESERVED or not name.isascii()
    made: exp.Identifier = exp.to_identifier(name, quoted=quoted or None)
    return made


def type_of(tree: Tree, schema: Schema) -> str:
    """Return the Spark type of an expression over a schema, or `unknown` if only Spark can tell.

    >>> from slackwater.algebra.schema import Field
    >>> type_of(parse_expr("AVG(x)"), Schema((Field("x", "int"),)))
    'double'
    """
    return types_of([tree], schema)[0]


def types_of(trees: Sequence[Tree], schema: Schema) -> list[str]:
    """Return the types of several expressions over one schema. One call is faster than one call each."""
    kinds: dict[str, str] = {}
    names: dict[str, str] = {}

    def stand_in(node: Tree) -> Tree:
        if isinstance(node, exp.Cast) and node.to.is_type("decimal") and len(node.to.expressions) < 2:
            whole = exp.DataType.build(spark_type(node.to.sql(DIALECT)), dialect=DIALECT)
            return type(node)(**{**node.args, "to": whole})
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            return node
        reference = name_of(node)
        if reference not in names:
            found = schema.matching(reference)
            names[reference] = f"c{len(kinds)}"
            kinds[names[reference]] = found[0].type if found else PSEUDO_COLUMNS.get(reference.lower(), UNKNOWN)
        return exp.column(names[reference], table="t")

    query = exp.select(*(tree.transform(stand_in) for tree in trees), copy=False).from_("t", copy=False)
    known = MappingSchema({"t": kinds}, dialect=DIALECT) if kinds else MappingSchema(dialect=DIALECT)
    annotated = annotate_types(query, schema=known, expression_metadata=METADATA, dialect=DIALECT).selects
    decimals = any(kind.startswith("decimal") for kind in kinds.values()) or any(tree.find(exp.Cast) for tree in trees)
    return [
        (decimals and _decimal(tree, schema)) or _spelled(each) for tree, each in zip(trees, annotated, strict=True)
    ]


@lru_cache(maxsize=1024)
def spark_type(name: str) -> str:
    """Return a type in Spark's own spelling. Raise if there is no such type.

    >>> spark_type("INTEGER"), spark_type("decimal(10, 2)"), spark_type("ARRAY<BIGINT>"), spark_type("DECIMAL")
    ('int', 'decimal(10,2)', 'array<bigint>', 'decimal(10,0)')
    """
    try:
        exp.DataType.build(name, dialect=DIALECT, udt=False)
        cast = sqlglot.parse_one(f"CAST(x AS {name})", read=DIALECT)
        kind = cast.args["to"] if isinstance(cast, exp.Cast) and not cast.args.get("format") else None
    except (SqlglotError, RecursionError) as cause:
        raise _no_type(name) from cause
    if not isinstance(kind, exp.DataType) or any(each.is_type(*NO_TYPES) for each in kind.find_all(exp.DataType)):
        raise _no_type(name)
    return SHORT_DECIMAL.sub(lambda short: f"decimal({short[1] or 10},0)", _spell_type(kind))


def _no_type(name: str) -> QueryError:
    return QueryError(
        "SW-203",
        f"'{name[:80]}' is not a type",
        expected="a Spark type such as int, bigint, double, string, timestamp, decimal(10,2)",
        hint="use the name that Spark's DDL uses",
    )


def _spelled(tree: Tree) -> str:
    kind = tree.type
    return _spell_type(kind) if kind is not None else UNKNOWN


@lru_cache(maxsize=1024)
def _spell_type(kind: exp.DataType) -> str:
    spelled = kind.sql(dialect=DIALECT).lower().replace(", ", ",").replace(": ", ":")
    return "void" if spelled == "null" else spelled


def _decimal(tree: Tree, schema: Schema) -> str:
    """Return the type of a sum or an average of decimals. Spark widens their precision."""
    if not isinstance(tree, (exp.Sum, exp.Avg)) or isinstance(tree.this, exp.Distinct):
        return ""
    kind = exp.DataType.build(type_of(tree.this, schema), dialect=DIALECT)
    if not kind.is_type("decimal") or len(kind.expressions) != 2:
        return ""
    precision, scale = (int(each.name) for each in kind.expressions)
    if isinstance(tree, exp.Sum):
        return f"decimal({min(38, precision + 10)},{scale})"
    return f"decimal({min(38, precision + 4)},{min(38, scale + 4)})"


def _binds(tree: Tree) -> bool:
    return isinstance(tree, (exp.Binary, exp.Unary, exp.Between, exp.In))
