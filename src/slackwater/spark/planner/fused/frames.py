"""Follow the columns of a divided plan to the streams they come from, and place each part of an expression.

A part is evaluated by Spark below the engine if all its columns come from one stream, or from one subquery between two
operators of the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from slackwater.algebra import nodes as ops
from slackwater.algebra.aggregates import FUSED
from slackwater.algebra.expressions import Tree, column_node, columns, name_of, parse_expr, text
from slackwater.algebra.nodes import Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import PSEUDO_COLUMNS, UNKNOWN, Expr, Schema
from slackwater.spark.planner.fused.expressions import cast_text, is_small, may_fail, replace_operands

LAZY = (exp.And, exp.Or, exp.Case, exp.If, exp.Coalesce)
"""Expressions that evaluate some operands only for some rows."""


class Ref(tuple[str, str]):
    """The qualifier and the name of a column of the core."""

    __slots__ = ()


class PlacedSource:
    """A scan or a subquery at one place of the plan. A view that is read twice has the same scan at two places."""

    __slots__ = ("plan",)

    def __init__(self, plan: ops.Scan | ops.Subquery | ops.View) -> None:
        self.plan = plan


@dataclass(frozen=True, slots=True)
class Origin:
    """A column as an expression over the columns of one scan or subquery, by their plain names."""

    source: PlacedSource
    tree: Tree


@dataclass(frozen=True, slots=True)
class Guard:
    """The conditions that rows of a source have passed; if they are `exact`, no row is missing for other reasons."""

    conditions: tuple[Tree, ...] = ()
    exact: bool = True

    def with_condition(self, origin: Origin | None) -> Guard:
        """Return the guard after a condition over the source, or after one over other rows as well (None)."""
        if origin is None:
            return replace(self, exact=False)
        return replace(self, conditions=(*self.conditions, origin.tree))

    def protect(self, tree: Tree) -> Tree:
        """Return an expression that is evaluated only for rows that meet the conditions."""
        if not self.conditions:
            return tree
        met = exp.and_(*(each.copy() for each in self.conditions))
        return exp.Case(ifs=[exp.If(this=met, true=tree.copy())])


@dataclass(frozen=True, slots=True)
class Frame:
    """An operator of the core while the plan is divided: where its columns come from, and where they are now.

    `origins` has for each column its expression over a scan, `near` over the nearest subquery, in which Spark can
    compute columns as well; `refs` has the columns of the core, `guards` what rows of each scan and such subquery have
    passed. `ask` adds a computed column and returns where it is; `build` makes the operator once all columns were
    asked for. A `bare` frame has all rows of its stream.
    """

    schema: Schema
    origins: tuple[Origin | None, ...]
    near: tuple[Origin | None, ...]
    refs: tuple[Ref, ...]
    guards: Mapping[PlacedSource, Guard]
    ask: Callable[[Origin], Ref]
    build: Callable[[], Plan]
    bare: bool = False

    def place(self, reference: str) -> int | None:
        """Return the place of the column that a reference means; None for an attribute of the instant."""
        if not self.schema.matching(reference) and reference.lower() in PSEUDO_COLUMNS:
            return None
        return self.schema.fields.index(self.schema.find(reference))


def origin_of(tree: Tree, below: Frame, *, near: bool = False) -> Origin | None:
    """Return an expression over an operator's columns as one over the columns of a scan, or with `near` of a subquery.

    Return None if its columns come from elsewhere or from several of these.
    """
    known = below.near if near else below.origins
    places = [below.place(reference) for reference in columns(tree)]
    origins = [None if place is None else known[place] for place in places]
    if not origins or any(each is None for each in origins):
        return None
    sources = {each.source for each in origins if each is not None}
    if len(sources) > 1:
        return None

    def swap(node: Tree) -> Tree:
        if not isinstance(node, exp.Column):
            return node
        place = below.place(name_of(node))
        origin = None if place is None else known[place]
        assert origin is not None  # noqa: S101
        return origin.tree.copy() if isinstance(origin.tree, exp.Column) else exp.paren(origin.tree.copy())

    return Origin(sources.pop(), tree.transform(swap))


def rewrite(tree: Tree, below: Frame, *, protected: bool = False) -> Tree:
    """Return an expression over the core's columns, in which the parts that a scan can compute are columns of the scan.

    A `protected` expression is evaluated for some rows only: parts that can fail stay in it.
    """
    if isinstance(tree, exp.Column):
        place = below.place(name_of(tree))
        return tree.copy() if place is None else _node(below.refs[place])
    for origin in (origin_of(tree, below), _origin_in_subquery(tree, below)):
        if origin is not None and (not _may_fail(origin) or (below.guards[origin.source].exact and not protected)):
            return _ask(origin, below)
    return replace_operands(tree, lambda each: rewrite(each, below, protected=protected or isinstance(tree, LAZY)))


def _origin_in_subquery(tree: Tree, below: Frame) -> Origin | None:
    """Return an expression that the engine does not evaluate over the columns of a subquery; None for any other."""
    if is_small(tree, below.schema):
        return None
    if not columns(tree) and below.guards:
        return Origin(next(iter(below.guards)), tree)
    return origin_of(tree, below, near=True)


def _may_fail(origin: Origin) -> bool:
    return may_fail(origin.tree, schema_of(origin.source.plan))


def _ask(origin: Origin, below: Frame) -> exp.Column:
    """Return the column that Spark computes; if that may fail, only for rows that reach the operator."""
    tree = below.guards[origin.source].protect(origin.tree) if _may_fail(origin) else origin.tree
    return _node(below.ask(Origin(origin.source, tree)))


def rewrite_condition(condition: Expr, below: Frame) -> Tree:
    """Return the condition of a join. Both sides of an equality are columns, even if computing these may fail."""

    def side(tree: Tree) -> Tree:
        origin = None if isinstance(tree, exp.Column) else origin_of(tree, below) or _origin_in_subquery(tree, below)
        return rewrite(tree, below) if origin is None else _ask(origin, below)

    def part(tree: Tree) -> Tree:
        match tree:
            case exp.And() | exp.Paren():
                return replace_operands(tree, part)
            case exp.EQ():
                return replace_operands(cast_text(tree, below.schema), side)
        return rewrite(tree, below)

    return part(parse_expr(condition.sql))


def rewrite_call(tree: Tree, below: Frame) -> Tree:
    """Return a call of an aggregate function whose arguments are columns."""
    if isinstance(tree, exp.IgnoreNulls):
        return replace_operands(tree, lambda inner: rewrite_call(inner, below))
    if isinstance(tree.this, exp.Distinct):
        distinct = replace_operands(tree.this, lambda each: rewrite(each, below))
        made = tree.copy()
        made.set("this", distinct)
        return made
    if isinstance(tree, exp.CountIf):
        tree = _count_where(tree.this.copy(), below)
    if type(tree) not in FUSED:
        return tree.copy()  # `call_of` refuses it, as it was written
    if isinstance(tree, exp.Count) and len(list(tree.iter_expressions())) > 1:
        known = [exp.Is(this=each.copy(), expression=exp.Null()).not_() for each in tree.iter_expressions()]
        tree = _count_where(exp.and_(*known), below)
    return replace_operands(tree, lambda each: rewrite(each, below))


def _count_where(condition: Tree, below: Frame) -> Tree:
    """Return a call that counts the rows for which a condition is true."""
    case = exp.Case(ifs=[exp.If(this=condition, true=exp.Literal.number(1))])
    return exp.Count(this=case if origin_of(case, below) else exp.or_(condition, exp.Null()))


def _node(ref: Ref) -> exp.Column:
    """Return a column of the core by qualifier and name. `expr_over` spells it as the schema of its input needs."""
    qualifier, name = ref
    table = exp.to_identifier(qualifier, quoted=True) if qualifier else None
    return exp.column(exp.to_identifier(name, quoted=True), table=table)


def expr_over(tree: Tree, child: Plan, kind: str) -> Expr:
    """Return an expression over the columns of an operator of the core.

    The type of a column or of a DECIMAL is not known before Spark has given the streams their types.
    """
    schema = schema_of(child)

    def spell(node: Tree) -> Tree:
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            return node
        if not node.table and node.name.lower() in PSEUDO_COLUMNS and not schema.matching(node.name):
            return exp.column(node.name.lower())
        return column_node(reference_of(schema, Ref((node.table, node.name))))

    known = UNKNOWN if isinstance(tree, exp.Column) or kind.startswith("decimal") else kind
    return Expr(text(tree.transform(spell)), known)


def column_of(child: Plan, ref: Ref) -> Expr:
    """Return a column of an operator of the core as an expression."""
    schema = schema_of(child)
    return Expr(text(column_node(reference_of(schema, ref))), UNKNOWN)


def reference_of(schema: Schema, ref: Ref) -> str:
    """Return how canonical text names a column of the core."""
    own = [each for each in schema if (each.qualifier, each.name) == tuple(ref)]
    found = own or [each for each in schema if each.name == ref[1] and not each.qualifier]
    return schema.reference(found[0]) if found else schema.find(".".join(filter(None, ref))).name
