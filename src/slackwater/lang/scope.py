"""Name resolution at a point of a query: columns of the sources, and pseudo-columns of the instant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from slackwater.algebra.checks import check_reference, no_aggregates, pseudo_columns
from slackwater.algebra.expressions import Tree, column_node, is_aggregate, name_of, parse_expr, text, types_of
from slackwater.algebra.nodes import Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import Expr, Field, Schema
from slackwater.errors import QueryError
from slackwater.lang.fields import check_path
from slackwater.lang.parsing.forms import REFORMED, foreign_to, normal, normalise, replace_node
from slackwater.lang.parsing.source_text import SourceText, mark

DEEPEST = 250
"""The most levels of an expression. Deeper trees could exhaust the stack of functions that walk them."""
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
"""Nodes whose text parses to the same node. Other nodes are printed and parsed again to get a stable form."""


@dataclass(slots=True)
class Scope:
    """The columns of an operator, as the expressions above it name them."""

    source: SourceText
    schema: Schema
    pseudo: Mapping[str, str]
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Maps the first of two aliases to the second, in lower case."""
    known: dict[str, list[Field]] = field(init=False, repr=False)
    """Columns by `name` and by `alias.name`, in lower case."""

    def __post_init__(self) -> None:
        self.known = {}
        for each in self.schema:
            self.known.setdefault(each.name.lower(), []).append(each)
            if each.qualifier:
                self.known.setdefault(f"{each.qualifier}.{each.name}".lower(), []).append(each)

    @classmethod
    def over(cls, plan: Plan, source: SourceText, renamed: Mapping[str, str] | None = None) -> Scope:
        return cls(source, schema_of(plan), pseudo_columns(plan), renamed or {})

    def matching(self, reference: str) -> list[Field]:
        return self.known.get(reference.lower(), [])

    def spelling(self, column: Field) -> str:
        """Return how plans name a column: by its name if that is unique, otherwise with its alias."""
        alone = len(self.matching(column.name)) == 1 or not column.qualifier
        return column.name if alone else f"{column.qualifier}.{column.name}"

    def reference(self, column: exp.Column) -> str:
        """Return how plans name this column. Raise if the schema does not have it."""
        with self.source.blaming(column):
            return self.spelling(self.schema.find(name_of(self._renamed(column))))

    def resolve(self, tree: Tree) -> Tree:
        """Return the canonical tree with every column resolved. The argument is consumed. Errors carry a place."""
        place = self.source.span(tree)
        for node in reversed(self.refuse_foreign(tree)):
            if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
                tree = replace_node(tree, node, self._spelled(node))
            elif isinstance(node, REFORMED):
                tree = replace_node(tree, node, normalise(node))
        for node in tree.walk():
            node.meta.clear()
        if place:
            mark(tree, place)
        with self.source.blaming(place):
            return canonical(tree)

    def refuse_foreign(self, tree: Tree) -> list[Tree]:
        """Return every node of a tree, each before its children. Raise if a node has no meaning here.

        Call this before looking for aggregates: a query inside an expression may hold aggregates of its own.
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
        return self.type_tree(self.resolve(tree))

    def type_tree(self, tree: Tree) -> Expr:
        """Return the typed expression of a canonical tree."""
        return self.type_trees([tree])[0]

    def type_trees(self, trees: Sequence[Tree]) -> list[Expr]:
        """Return the typed expressions of canonical trees. Columns, the most frequent case, need no type inference."""
        kinds = [self._declared(tree) for tree in trees]
        others = iter(types_of([tree for tree, kind in zip(trees, kinds, strict=True) if not kind], self.schema))
        return [Expr(text(tree), kind or next(others)) for tree, kind in zip(trees, kinds, strict=True)]

    def _declared(self, tree: Tree) -> str:
        found = self.matching(name_of(tree)) if isinstance(tree, exp.Column) else []
        return found[0].type if found else ""

    def _nodes(self, tree: Tree) -> Iterator[Tree]:
        """Return every node, each before its children. Raise if the tree is too deep."""
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
        """Return a column as plans name it; `column.field` becomes `column['field']`, which Spark treats alike."""
        column = self._renamed(column)
        parts = [part.name for part in column.parts]
        with self.source.blaming(column):
            for taken in (2, 1):
                found = self.matching(".".join(parts[:taken])) if len(parts) >= taken else []
                if len(found) == 1:
                    return self._field(found[0], parts[taken:])
            check_reference(".".join(parts), self.schema, self.pseudo)
        return exp.column(parts[-1].lower())  # a pseudo-column

    def _field(self, column: Field, path: list[str]) -> Tree:
        tree: Tree = column_node(self.spelling(column))
        check_path(column.type, path)
        for name in path:
            tree = exp.Bracket(this=tree, expressions=[exp.Literal.string(name)])
        return tree

    def _renamed(self, column: exp.Column) -> exp.Column:
        """Replace the first of two aliases by the second."""
        first = column.parts[0]
        if len(column.parts) > 1 and first.name.lower() in self.renamed:
            first.set("this", self.renamed[first.name.lower()])
        return column


def canonical(tree: Tree) -> Tree:
    """Return the tree that its own text parses to, so that printing and parsing it again changes nothing."""
    if all(type(node) in STABLE for node in tree.walk()):
        return tree
    sql = text(tree)
    for _ in range(4):
        tree = normal(parse_expr(sql).copy())
        again = text(tree)
        if again == sql:
            break
        sql = again
    return tree
