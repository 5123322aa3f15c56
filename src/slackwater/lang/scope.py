"""What names mean at a point of a query: columns of the sources, and attributes of the instant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from slackwater.algebra.checks import check_reference, no_aggregates, pseudo_columns
from slackwater.algebra.columns import schema_of
from slackwater.algebra.expressions import Tree, column_node, is_aggregate, name_of, parsed, text, types_of
from slackwater.algebra.nodes import Plan
from slackwater.algebra.schema import Expr, Field, Schema
from slackwater.errors import QueryError
from slackwater.lang.fields import check_path
from slackwater.lang.forms import REFORMED, foreign_to, normal, reformed, replaced
from slackwater.lang.source import Source, mark

DEEPEST = 250
"""Levels of an expression; beyond this, others that walk the tree would run out of stack."""
STABLE = frozenset(
    [
        *(
            exp.Column,
            exp.Identifier,
            exp.Literal,
            exp.Boolean,
            exp.Null,
            exp.Star,
            exp.Paren,
            exp.And,
            exp.Or,
            exp.Not,
        ),
        *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Between, exp.Is, exp.Add, exp.Sub, exp.Mul),
        *(exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Last),
    ]
)
"""Nodes that read as what they were written from; others are written and read again to be sure."""


@dataclass(slots=True)
class Scope:
    """The columns of an operator, as expressions above it name them."""

    source: Source
    schema: Schema
    pseudo: Mapping[str, str]
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Aliases in lower case that stand for others: the first of two."""
    known: dict[str, list[Field]] = field(init=False, repr=False)
    """Columns by `name` and by `alias.name`, in lower case."""

    def __post_init__(self) -> None:
        self.known = {}
        for each in self.schema:
            self.known.setdefault(each.name.lower(), []).append(each)
            if each.qualifier:
                self.known.setdefault(f"{each.qualifier}.{each.name}".lower(), []).append(each)

    @classmethod
    def over(cls, plan: Plan, source: Source, renamed: Mapping[str, str] | None = None) -> Scope:
        return cls(source, schema_of(plan), pseudo_columns(plan), renamed or {})

    def matching(self, reference: str) -> list[Field]:
        return self.known.get(reference.lower(), [])

    def spelling(self, column: Field) -> str:
        """How plans name a column: its name where that is unique, else with its alias."""
        alone = len(self.matching(column.name)) == 1 or not column.qualifier
        return column.name if alone else f"{column.qualifier}.{column.name}"

    def reference(self, column: exp.Column) -> str:
        """How plans name this column; it must be one of the schema's."""
        with self.source.blaming(column):
            return self.spelling(self.schema.find(name_of(self._renamed(column))))

    def resolve(self, tree: Tree) -> Tree:
        """The canonical tree, every column known; the tree given is used up. Errors have the place of what is wrong."""
        place = self.source.span(tree)
        for node in reversed(self.refuse_foreign(tree)):
            if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
                tree = replaced(tree, node, self._spelled(node))
            elif isinstance(node, REFORMED):
                tree = replaced(tree, node, reformed(node))
        for node in tree.walk():
            node.meta.clear()
        if place:
            mark(tree, place)
        with self.source.blaming(place):
            return canonical(tree)

    def refuse_foreign(self, tree: Tree) -> list[Tree]:
        """Return every node of a tree, each before its children; one that has no meaning here is an error.

        This comes before any look at aggregates: those of a query inside an expression are none of the expression's.
        """
        nodes = list(self._nodes(tree))
        for node in nodes:
            for each in foreign_to(type(node).__mro__):
                if not each.unless(node):
                    raise QueryError(
                        "SW-140", f"{each.what} is not supported", expected="an expression over the row",
                        hint=each.instead, place=self.source.place_of(node),
                    )  # fmt: skip
        return nodes

    def expression(self, tree: Tree, where: str) -> Expr:
        """Return an expression over single rows."""
        self.refuse_foreign(tree)
        for call in tree.walk():
            if is_aggregate(call):
                with self.source.blaming(call):
                    no_aggregates([call], where)
        return self.typed(self.resolve(tree))

    def typed(self, tree: Tree) -> Expr:
        """The expression of a tree that is canonical already."""
        return self.all_typed([tree])[0]

    def all_typed(self, trees: Sequence[Tree]) -> list[Expr]:
        """The expressions of trees that are canonical already; columns, which are most of them, have their types."""
        kinds = [self._declared(tree) for tree in trees]
        others = iter(types_of([tree for tree, kind in zip(trees, kinds, strict=True) if not kind], self.schema))
        return [Expr(text(tree), kind or next(others)) for tree, kind in zip(trees, kinds, strict=True)]

    def _declared(self, tree: Tree) -> str:
        found = self.matching(name_of(tree)) if isinstance(tree, exp.Column) else []
        return found[0].type if found else ""

    def _nodes(self, tree: Tree) -> Iterator[Tree]:
        """Every node, each before its children, and none too deep."""
        stack = [(tree, 0)]
        while stack:
            node, depth = stack.pop()
            if depth > DEEPEST:
                raise QueryError(
                    "SW-102", f"the expression is more than {DEEPEST} operators deep", expected="fewer operators",
                    hint="use IN for a list of values, or split the query into views",
                    place=self.source.place_of(node),
                )  # fmt: skip
            yield node
            stack += [(child, depth + 1) for child in node.iter_expressions(reverse=True)]

    def _spelled(self, column: exp.Column) -> Tree:
        """A column as plans name it; `column.field` as `column['field']`, which Spark reads alike."""
        column = self._renamed(column)
        parts = [part.name for part in column.parts]
        with self.source.blaming(column):
            for taken in (2, 1):
                found = self.matching(".".join(parts[:taken])) if len(parts) >= taken else []
                if len(found) == 1:
                    return self._field(found[0], parts[taken:])
            check_reference(".".join(parts), self.schema, self.pseudo)
        return exp.column(parts[-1].lower())  # an attribute of the instant

    def _field(self, column: Field, path: list[str]) -> Tree:
        tree: Tree = column_node(self.spelling(column))
        check_path(column.type, path)
        for name in path:
            tree = exp.Bracket(this=tree, expressions=[exp.Literal.string(name)])
        return tree

    def _renamed(self, column: exp.Column) -> exp.Column:
        """The first of two aliases stands for the second."""
        first = column.parts[0]
        if len(column.parts) > 1 and first.name.lower() in self.renamed:
            first.set("this", self.renamed[first.name.lower()])
        return column


def canonical(tree: Tree) -> Tree:
    """The tree that its own text reads as, so that writing and reading it again changes nothing."""
    if all(type(node) in STABLE for node in tree.walk()):
        return tree
    sql = text(tree)
    for _ in range(4):
        tree = normal(parsed(sql).copy())
        again = text(tree)
        if again == sql:
            break
        sql = again
    return tree
