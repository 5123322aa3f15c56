"""Operators of a divided plan: what their columns come from, and where the parts of an expression are evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from slackwater.algebra import nodes as ops
from slackwater.algebra.aggregates import FUSED
from slackwater.algebra.expressions import Tree, column_node, columns, name_of, parse_expr, text
from slackwater.algebra.nodes import Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import PSEUDO_COLUMNS, UNKNOWN, Expr, Schema
from slackwater.spark.planner.fused.expressions import is_small, may_fail, read_alike

LAZY = (exp.And, exp.Or, exp.Case, exp.If, exp.Coalesce)
"""What evaluates an operand only where the operands before it ask for it."""


class Ref(tuple[str, str]):
    """A column of the core by its qualifier and its name."""

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
class Frame:
    """An operator of the core: what its columns in the plan come from, and where they are now.

    `near` has what they come from in the nearest subquery, where Spark can compute columns as well. `guards` has for
    each scan and such subquery below the conditions that its rows have passed, None where rows may be missing for other
    reasons. `ask` adds a computed column and says where it is; `build` makes the operator once all were asked.
    """

    schema: Schema
    origins: tuple[Origin | None, ...]
    refs: tuple[Ref, ...]
    guards: Mapping[PlacedSource, tuple[Tree, ...] | None]
    ask: Callable[[Origin], Ref]
    build: Callable[[], Plan]
    bare: bool = False
    near: tuple[Origin | None, ...] = ()

    def place(self, reference: str) -> int | None:
        """Which column a reference means; None for an attribute of the instant."""
        if not self.schema.matching(reference) and reference.lower() in PSEUDO_COLUMNS:
            return None
        found = self.schema.find(reference)
        return next(place for place, each in enumerate(self.schema.fields) if each is found)


def compose(tree: Tree, below: Frame, *, near: bool = False) -> Origin | None:
    """An expression over an operator's columns as one over the columns of a scan, or with `near` of a subquery.

    None if it is none.
    """
    known = (below.near or (None,) * len(below.schema)) if near else below.origins
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
    """An expression over the core's columns: the parts that a scan can compute are columns of it.

    Where it is `protected`, the expression is evaluated for some rows only: what can fail stays there.
    """
    if isinstance(tree, exp.Column):
        place = below.place(name_of(tree))
        return tree.copy() if place is None else _node(below.refs[place])
    origin = compose(tree, below) or _asked(tree, below)
    if origin is not None:
        known = below.guards[origin.source]
        failing = may_fail(origin.tree, schema_of(origin.source.plan))
        if not failing or (known is not None and not protected):
            protected_tree = _when(known or (), origin.tree) if failing else origin.tree
            return _node(below.ask(Origin(origin.source, protected_tree)))
    return rebuilt(tree, lambda each: rewrite(each, below, protected=protected or isinstance(tree, LAZY)))


def _asked(tree: Tree, below: Frame) -> Origin | None:
    """An expression that the engine does not evaluate, over the columns of a subquery; None for any other."""
    if is_small(tree, below.schema):
        return None
    if not columns(tree) and below.guards:
        return Origin(next(iter(below.guards)), tree)
    return compose(tree, below, near=True)


def rewrite_condition(condition: Expr, below: Frame) -> Tree:
    """The condition of a join: both sides of an equality are computed by their scans, whether they can fail or not."""

    def side(tree: Tree) -> Tree:
        origin = None if isinstance(tree, exp.Column) else compose(tree, below)
        return rewrite(tree, below) if origin is None else _node(below.ask(origin))

    def part(tree: Tree) -> Tree:
        match tree:
            case exp.And() | exp.Paren():
                return rebuilt(tree, part)
            case exp.EQ():
                return rebuilt(read_alike(tree, below.schema), side)
        return rewrite(tree, below)

    return part(parse_expr(condition.sql))


def rewrite_call(tree: Tree, below: Frame) -> Tree:
    """A call of an aggregate function whose arguments are columns."""
    if isinstance(tree, exp.IgnoreNulls):
        return rebuilt(tree, lambda inner: rewrite_call(inner, below))
    if isinstance(tree.this, exp.Distinct):
        distinct = rebuilt(tree.this, lambda each: rewrite(each, below))
        made = tree.copy()
        made.set("this", distinct)
        return made
    if isinstance(tree, exp.CountIf):
        tree = _counted(tree.this.copy(), below)
    if type(tree) not in FUSED:
        return tree.copy()  # it is refused when it is lowered, as it was written
    if isinstance(tree, exp.Count) and len(list(tree.iter_expressions())) > 1:
        known = [exp.Is(this=each.copy(), expression=exp.Null()).not_() for each in tree.iter_expressions()]
        tree = _counted(exp.and_(*known), below)
    return rebuilt(tree, lambda each: rewrite(each, below))


def _counted(condition: Tree, below: Frame) -> Tree:
    """The number of rows that meet a condition."""
    case = exp.Case(ifs=[exp.If(this=condition, true=exp.Literal.number(1))])
    return exp.Count(this=case if compose(case, below) else exp.or_(condition, exp.Null()))


def rebuilt(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """A copy of a tree in which every operand that names columns is changed."""
    made = tree.copy()
    for child in list(made.iter_expressions()):
        if child.find(exp.Column) is not None:
            child.replace(change(child))
    return made


def _when(conditions: Sequence[Tree], tree: Tree) -> Tree:
    """An expression that is evaluated only where all conditions hold."""
    if not conditions:
        return tree
    met = exp.and_(*(each.copy() for each in conditions))
    return exp.Case(ifs=[exp.If(this=met, true=tree.copy())])


def guarded_by(known: tuple[Tree, ...] | None, origin: Origin | None, source: PlacedSource) -> tuple[Tree, ...] | None:
    """The conditions that rows of a scan have passed, with one more."""
    if known is None or origin is None or origin.source is not source:
        return None
    return (*known, origin.tree)


def _node(ref: Ref) -> exp.Column:
    """A column of the core, to be spelled as its input's schema asks for (see `_expr`)."""
    qualifier, name = ref
    table = exp.to_identifier(qualifier, quoted=True) if qualifier else None
    return exp.column(exp.to_identifier(name, quoted=True), table=table)


def expr_over(tree: Tree, child: Plan, kind: str) -> Expr:
    """An expression over the columns of an operator of the core.

    A column has the type that Spark gave it, and a DECIMAL the precision that follows from it, whatever was inferred
    before Spark was asked.
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
    schema = schema_of(child)
    return Expr(text(column_node(reference_of(schema, ref))), UNKNOWN)


def reference_of(schema: Schema, ref: Ref) -> str:
    """How canonical text names a column of the core."""
    own = [each for each in schema if (each.qualifier, each.name) == tuple(ref)]
    found = own or [each for each in schema if each.name == ref[1] and not each.qualifier]
    return schema.reference(found[0]) if found else schema.find(".".join(filter(None, ref))).name
