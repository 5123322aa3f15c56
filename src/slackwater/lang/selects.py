"""Bind one SELECT: from its parts to the canonical plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from slackwater.algebra.checks import check_boolean, no_aggregates
from slackwater.algebra.expressions import Tree, aggregates, column_node, name_of, nested_aggregates, text
from slackwater.algebra.lengths import ONE_TUPLE
from slackwater.algebra.nodes import Distinct, Frequency, Item, Plan, Project, Select, Window
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import Expr
from slackwater.errors import QueryError
from slackwater.lang.grouping import GroupCollector, Names, natural_name
from slackwater.lang.parsing.queries import BRACKET, FIRST_ALIAS
from slackwater.lang.parsing.syntax import Clause
from slackwater.lang.scope import Scope

if TYPE_CHECKING:
    from slackwater.lang.binder import Binder

SELECT_ARGS = {"expressions", "from_", "joins", "where", "group", "having", "distinct", "emit"}

MOST_SOURCES = 32
"""The most items of FROM, which bounds the depth of a plan."""


@dataclass(frozen=True, slots=True)
class Selected:
    """An item of the select list: its canonical tree over the sources, its given name if any, its place."""

    tree: Tree
    name: str
    origin: exp.Expr


@dataclass(slots=True)
class SelectBinder:
    """Binds one select, from the inside out."""

    binder: Binder
    select: exp.Select

    def plan(self) -> Plan:
        self.binder.refuse(self.select, SELECT_ARGS)
        frequency = self._frequency()
        aliases: dict[str, str] = {}
        child = self._where(self._from(aliases), aliases)
        scope = Scope.over(child, self.binder.source, aliases)
        items = [each for item in self.select.expressions for each in self._expanded(item, scope)]
        grouping = self._grouping(items, scope)
        by = [self._partition(column, items, scope) for column in frequency.columns] if frequency else []
        if frequency and frequency.length == ONE_TUPLE:
            frequency, by = None, []  # FREQUENCY 1 TUPLE keeps every row
        trees = [each.tree for each in items]
        if grouping:
            trees = [grouping.above(tree) for tree in trees]
            by = [grouping.above(tree) for tree in by]
            child = self._having(child, grouping, items)
        return self._projected(child, self._named(items, trees), frequency, by)

    def _from(self, aliases: dict[str, str]) -> Plan:
        from_ = self.select.args.get("from_")
        if from_ is None:
            raise QueryError(
                "SW-136", "SELECT without FROM", expected="FROM and a stream", hint="say which stream to read",
                place=self.binder.source.place_of(self.select),
            )  # fmt: skip
        joins = self.select.args.get("joins") or []
        sources = [from_.this, *(join.this for join in joins)]
        if len(sources) > MOST_SOURCES:
            raise QueryError(
                "SW-104", f"FROM has {len(sources)} items, more than {MOST_SOURCES}", expected="fewer",
                hint="join in views first", place=self.binder.source.place_of(sources[MOST_SOURCES]),
            )  # fmt: skip
        self._move_bracket(sources)
        for each in sources:
            if first := each.meta.get(FIRST_ALIAS):
                aliases[first.lower()] = each.alias
        plan = self.binder.item(from_.this)
        for join in joins:
            plan = self.binder.bind_join(plan, join, self.binder.item(join.this), aliases)
        return plan

    def _move_bracket(self, sources: list[exp.Expr]) -> None:
        """Move the bracket after WHERE to the only item of FROM (CSQL query 1(a))."""
        where = self.select.args.get("where")
        bracket = where.meta.get(BRACKET) if where else None
        if bracket is None:
            return
        if len(sources) > 1 or BRACKET in sources[0].meta:
            raise QueryError(
                "SW-215", "it is not clear whose bracket this is", expected="one source that has no bracket yet",
                hint="write the bracket after its source in FROM", place=self.binder.source.place(bracket.span),
            )  # fmt: skip
        sources[0].meta[BRACKET] = bracket

    def _where(self, child: Plan, aliases: dict[str, str]) -> Plan:
        where = self.select.args.get("where")
        if where is None:
            return child
        condition = Scope.over(child, self.binder.source, aliases).expression(where.this, "WHERE")
        with self.binder.source.blaming(where.this):
            check_boolean(condition)
        return Select(child, condition)

    def _expanded(self, item: exp.Expr, scope: Scope) -> list[Selected]:
        star = item.this if isinstance(item, exp.Column) else item
        if isinstance(star, exp.Star):
            return self._starred(item, star, scope)
        tree = item.this if isinstance(item, exp.Alias) else item
        scope.refuse_foreign(tree)
        self._check_calls(tree)
        name = self.binder.identifier_name(item.args["alias"]) if isinstance(item, exp.Alias) else ""
        return [Selected(scope.resolve(tree), name, item)]

    def _starred(self, item: exp.Expr, star: exp.Star, scope: Scope) -> list[Selected]:
        table = item.table if isinstance(item, exp.Column) else ""
        table = scope.renamed.get(table.lower(), table)
        if any(star.args.values()):
            raise QueryError(
                "SW-140", "EXCEPT, REPLACE and RENAME after * are not supported", expected="* or a list of columns",
                hint="list the columns", place=scope.source.place_of(item),
            )  # fmt: skip
        fields = [each for each in scope.schema if not table or each.qualifier.lower() == table.lower()]
        if not fields:
            known = sorted({each.qualifier for each in scope.schema})
            raise QueryError(
                "SW-201", f"there is no source '{table}' here", expected=" or ".join(known),
                hint="use an alias of FROM", place=scope.source.place_of(item),
            )  # fmt: skip
        return [Selected(column_node(scope.spelling(each)), each.name, item) for each in fields]

    def _check_calls(self, tree: Tree) -> None:
        for inner in (each for call in aggregates(tree) for each in nested_aggregates(call)):
            with self.binder.source.blaming(inner):
                no_aggregates([inner], "another aggregate")

    def _grouping(self, items: list[Selected], scope: Scope) -> GroupCollector | None:
        group, having = self.select.args.get("group"), self.select.args.get("having")
        if not group and not having and not any(aggregates(each.tree) for each in items):
            return None
        grouping = GroupCollector(scope)
        if group:
            self.binder.refuse(group, {"expressions"})
            for tree in group.expressions:
                grouping.add_group(self._group(tree, items, scope))
        return grouping

    def _group(self, tree: exp.Expr, items: list[Selected], scope: Scope) -> Tree:
        """Return the tree to group by: an expression, the alias of an item, or its position."""
        if isinstance(tree, exp.Literal) and tree.is_int:
            if not 1 <= int(tree.name) <= len(items):
                raise QueryError(
                    "SW-217", f"there is no item {tree.name} in the select list", expected=f"1 to {len(items)}",
                    hint="count the items, or name the column", place=scope.source.place_of(tree),
                )  # fmt: skip
            found = items[int(tree.name) - 1].tree
        else:
            scope.refuse_foreign(tree)
            for call in aggregates(tree):
                with scope.source.blaming(call):
                    no_aggregates([call], "GROUP BY")
            found = self._dealiased(tree, items, scope)
        with scope.source.blaming(tree):
            no_aggregates(aggregates(found), "GROUP BY")
        return found

    def _dealiased(self, tree: exp.Expr, items: list[Selected], scope: Scope) -> Tree:
        """Return the canonical tree with select-list aliases replaced by their expressions. Columns take precedence."""
        named = {each.name.lower(): each.tree for each in items if each.name}

        def meant(node: Tree) -> Tree | None:
            if not isinstance(node, exp.Column) or node.table or scope.matching(node.name):
                return None
            return named.get(node.name.lower()) if node.name.lower() not in scope.pseudo else None

        if (whole := meant(tree)) is not None:
            return whole.copy()
        swapped = tree.copy()
        for column in list(swapped.find_all(exp.Column)):
            if (item := meant(column)) is not None:
                column.replace(exp.paren(item.copy()))
        return scope.resolve(swapped)

    def _having(self, child: Plan, grouping: GroupCollector, items: list[Selected]) -> Plan:
        having = self.select.args.get("having")
        condition = None
        if having:
            self._check_calls(having.this)
            condition = grouping.above(self._dealiased(having.this, items, grouping.scope))
        plan: Plan = grouping.plan(child)
        self.binder.answer(plan, self._blamed())
        if condition is None:
            return plan
        expr = Scope.over(plan, self.binder.source).type_tree(condition)
        with self.binder.source.blaming(having and having.this):
            check_boolean(expr)
        return Select(plan, expr)

    def _blamed(self) -> exp.Expr:
        """Return the node that makes this query an aggregate, for error messages."""
        calls = [call for item in self.select.expressions for call in aggregates(item)]
        blamed: exp.Expr = self.select.args.get("group") or (calls[0] if calls else self.select.args["having"])
        return blamed

    def _frequency(self) -> Clause | None:
        bracket = self.select.expressions[0].meta.get(BRACKET)
        return bracket.clauses[0] if bracket else None

    def _partition(self, column: exp.Column, items: list[Selected], scope: Scope) -> Tree:
        named = {each.name.lower(): each.tree for each in items if each.name and isinstance(each.tree, exp.Column)}
        if not column.table and not scope.matching(column.name) and column.name.lower() in named:
            return named[column.name.lower()]
        return column_node(scope.reference(column))

    def _named(self, items: list[Selected], trees: list[Tree]) -> list[tuple[str, Tree]]:
        """Return names for all items. Given names must differ; generated names are made unique."""
        given = [each.name or (natural_name(each.tree) if isinstance(each.tree, exp.Column) else "") for each in items]
        seen: set[str] = set()
        for name, item in zip(given, items, strict=True):
            if name and name.lower() in seen:
                raise self._named_twice(name, item)
            seen.add(name.lower())
        made = Names(given)
        names = [name or made.new(natural_name(item.tree)) for name, item in zip(given, items, strict=True)]
        return list(zip(names, trees, strict=True))

    def _named_twice(self, name: str, item: Selected) -> QueryError:
        starred = item.origin.is_star
        return QueryError(
            "SW-206", f"two columns are named '{name}'", expected="a name of its own for each column",
            hint="list the columns instead of *, and rename one with AS" if starred else "rename one with AS",
            place=self.binder.source.place_of(item.origin),
        )  # fmt: skip

    def _projected(self, child: Plan, named: list[tuple[str, Tree]], frequency: Clause | None, by: list[Tree]) -> Plan:
        every = frequency.length if frequency else None
        distinct = self.select.args.get("distinct")
        if every and not distinct:
            columns = tuple(name_of(tree) for tree in by if isinstance(tree, exp.Column))
            child = Frequency(_rows(child), every, columns)
        scope = Scope.over(child, self.binder.source)
        exprs = scope.type_trees([tree for _, tree in named])
        plan: Plan = Project(child, tuple(Item(name, expr) for (name, _), expr in zip(named, exprs, strict=True)))
        if distinct:
            self.binder.refuse(distinct, set())
            plan = Distinct(plan)
            self.binder.answer(plan, distinct)
            if every:
                plan = Frequency(plan, every, tuple(self._output(tree, named, frequency) for tree in by))
        return plan

    def _output(self, tree: Tree, named: list[tuple[str, Tree]], frequency: Clause | None) -> str:
        """Return the result column to partition by.

        With DISTINCT, a frequency can be partitioned by result columns only.
        """
        for name, each in named:
            if each == tree:
                return name
        raise QueryError(
            "SW-218", f"'{text(tree)}' is not in the select list", expected="a column that SELECT DISTINCT yields",
            hint="select it, too", place=self.binder.source.place(frequency.span) if frequency else None,
        )  # fmt: skip


def _rows(child: Plan) -> Plan:
    """Put a projection over a window, so that a frequency above picks rows of the result instead of instants."""
    if not isinstance(child, Window):
        return child
    fields = schema_of(child).fields
    items = tuple(Item(each.name, Expr(text(column_node(each.name)), each.type)) for each in fields)
    return Project(child, items)
