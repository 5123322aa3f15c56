"""What names mean at a point of a query: columns of the sources, and attributes of the instant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from slackwater.algebra.checks import check_reference, no_aggregates, pseudo_columns
from slackwater.algebra.columns import schema_of
from slackwater.algebra.expressions import DIALECT, Tree, is_aggregate, name_of, parsed, resolved, text, type_of
from slackwater.algebra.nodes import Plan
from slackwater.algebra.schema import UNKNOWN, Expr, Schema
from slackwater.errors import QueryError, nearest
from slackwater.lang.forms import FOREIGN, normal
from slackwater.lang.source import Source


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
        tree = tree.copy().transform(self._respelled, copy=False)
        for column in tree.find_all(exp.Column):
            if not isinstance(column.this, exp.Star):
                with self.source.blaming(column):
                    check_reference(name_of(column), self.schema, self.pseudo)
        with self.source.blaming(tree):
            return canonical(normal(resolved(tree, self.schema, self.pseudo)))

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
        with self.source.blaming(column):
            return self.schema.reference(self.schema.find(name_of(self._renamed(column))))

    def _respelled(self, node: Tree) -> Tree:
        """`column.field` as `column['field']`, which Spark reads alike: with dots it looks like `alias.column`."""
        if not isinstance(node, exp.Column):
            return node
        node = self._renamed(node)
        parts = [part for part in node.parts if isinstance(part, exp.Identifier)]
        owned = len(parts) > 1 and bool(self.schema.matching(f"{parts[0].name}.{parts[1].name}"))
        if (
            len(parts) <= 1 + owned
            or len(parts) < len(node.parts)
            or not (owned or self.schema.matching(parts[0].name))
        ):
            return node
        base: Tree = exp.Column(this=parts[1], table=parts[0]) if owned else exp.Column(this=parts[0])
        with self.source.blaming(node):
            found = self.schema.matching(".".join(part.name for part in parts[: 1 + owned]))
            check_fields(found[0].type if len(found) == 1 else UNKNOWN, [part.name for part in parts[1 + owned :]])
        for part in parts[1 + owned :]:
            base = exp.Bracket(this=base, expressions=[exp.Literal.string(part.name)])
        return base

    def _renamed(self, column: exp.Column) -> exp.Column:
        """The first of two aliases stands for the second."""
        first = column.parts[0]
        if len(column.parts) > 1 and first.name.lower() in self.renamed:
            first.set("this", self.renamed[first.name.lower()])
        return column

    def _refuse_foreign(self, tree: Tree) -> None:
        for node in tree.walk():
            for test, what, instead in FOREIGN:
                if test(node):
                    raise QueryError(
                        "SW-140", f"{what} is not supported", expected="an expression over the row", hint=instead,
                        place=self.source.place_of(node),
                    )  # fmt: skip


def check_fields(kind: str, path: list[str]) -> None:
    """A path of fields leads somewhere in a type; in types other than structs only Spark can tell."""
    for name in path:
        built = exp.DataType.build(kind, dialect=DIALECT)
        if built.is_type("unknown", "variant", "map", "array", "json"):
            return
        fields = {
            each.name.lower(): each.args.get("kind") for each in built.expressions if isinstance(each, exp.ColumnDef)
        }
        if name.lower() not in fields:
            raise QueryError(
                "SW-201", f"there is no field '{name}' in a column of type {kind}",
                expected="a field of: " + ", ".join(fields) if fields else "a column of a struct type",
                hint=nearest(name, fields) if fields else "name the column alone",
            )  # fmt: skip
        inner = fields[name.lower()]
        kind = text(inner) if inner else UNKNOWN


def canonical(tree: Tree) -> Tree:
    """The tree that its own text reads as, so that writing and reading it again changes nothing."""
    sql = text(tree)
    for _ in range(4):
        tree = normal(parsed(sql).copy())
        again = text(tree)
        if again == sql:
            break
        sql = again
    return tree
