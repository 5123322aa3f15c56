"""What names mean at a point of a query: columns of the sources, and attributes of the instant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from slackwater.algebra.checks import check_reference, no_aggregates, pseudo_columns
from slackwater.algebra.columns import schema_of
from slackwater.algebra.expressions import Tree, is_aggregate, name_of, parsed, resolved, text, type_of
from slackwater.algebra.nodes import Plan
from slackwater.algebra.schema import Expr, Schema
from slackwater.errors import QueryError
from slackwater.lang.source import Source

FOREIGN: tuple[tuple[type[exp.Expr], str, str], ...] = (
    (exp.Query, "a query inside an expression", "write it as a subquery in FROM and join it"),
    (exp.Window, "OVER", "use a bracket at the stream: [RANGE ... SLIDE ...]"),
    (exp.Placeholder, "a placeholder", "write the value, or ${NAME} and --set NAME=value"),
    (exp.Parameter, "a parameter", "write the value, or ${NAME} and --set NAME=value"),
    (exp.Explode, "a function that yields several rows", "unnest the rows before they enter the stream"),
    (exp.Alias, "an alias inside an expression", "write aliases in the select list"),
    (exp.Aliases, "several aliases", "give one alias to each item"),
    (exp.SessionParameter, "a session parameter", "write the value"),
)


@dataclass(frozen=True, slots=True)
class Scope:
    """The columns of an operator, as expressions above it name them."""

    source: Source
    schema: Schema
    pseudo: Mapping[str, str]
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Aliases in lower case that stand for others: the first of two."""

    @classmethod
    def over(cls, plan: Plan, source: Source, renamed: Mapping[str, str] | None = None) -> Scope:
        return cls(source, schema_of(plan), pseudo_columns(plan), renamed or {})

    def resolve(self, tree: Tree) -> Tree:
        """The tree in canonical spelling, every column known; errors have the place of what is wrong."""
        self._refuse_foreign(tree)
        tree = tree.copy()
        for column in list(tree.find_all(exp.Column)):
            self._respell(column)
            if not isinstance(column.this, exp.Star):
                with self.source.blaming(column):
                    check_reference(name_of(column), self.schema, self.pseudo)
        return canonical(resolved(tree, self.schema, self.pseudo))

    def expression(self, tree: Tree, where: str) -> Expr:
        """An expression over single rows."""
        for call in tree.find_all(exp.Expr):
            if is_aggregate(call):
                with self.source.blaming(call):
                    no_aggregates([call], where)
        return self.typed(self.resolve(tree))

    def typed(self, tree: Tree) -> Expr:
        """The expression of a tree that is canonical already."""
        return Expr(text(tree), type_of(tree, self.schema))

    def reference(self, column: exp.Column) -> str:
        """How plans name this column; it must be one of the schema's."""
        column = column.copy()
        self._respell(column)
        with self.source.blaming(column):
            return self.schema.reference(self.schema.find(name_of(column)))

    def _respell(self, column: exp.Column) -> None:
        """Put the alias in place of its other name, and `alias.column.field` as a field of the column."""
        if isinstance(column.args.get("db"), exp.Identifier):
            inner = exp.Column(this=column.args["table"], table=column.args["db"], db=column.args.get("catalog"))
            column.replace(exp.Dot(this=inner, expression=column.this))
            self._respell(inner)
        elif column.table.lower() in self.renamed:
            table = column.args["table"]
            table.set("this", self.renamed[column.table.lower()])

    def _refuse_foreign(self, tree: Tree) -> None:
        for node in tree.walk():
            for kind, what, instead in FOREIGN:
                if isinstance(node, kind):
                    raise QueryError(
                        "SW-140", f"{what} is not supported", expected="an expression over the row", hint=instead,
                        place=self.source.place_of(node),
                    )  # fmt: skip


def canonical(tree: Tree) -> Tree:
    """The tree that its own text reads as, so that writing and reading it again changes nothing."""
    sql = text(_unwrapped(tree))
    for _ in range(4):
        tree = _unwrapped(parsed(sql))
        again = text(tree)
        if again == sql:
            break
        sql = again
    return tree


def _unwrapped(tree: Tree) -> Tree:
    """Parentheses around a single column say nothing."""

    def bare(node: Tree) -> Tree:
        while isinstance(node, exp.Paren) and isinstance(node.this, (exp.Column, exp.Paren)):
            node = node.this
        return node

    return tree.copy().transform(bare)
