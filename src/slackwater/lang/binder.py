"""Turn syntax trees into plans: set operations, sources and EMIT. `selects` binds the selects themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from slackwater.algebra.catalog import Catalog, ViewDef, check_name
from slackwater.algebra.checks import check_answer, check_final, check_node
from slackwater.algebra.nodes import Emit, Join, Minus, Mode, Plan, Scan, Subquery, Union, View
from slackwater.algebra.properties.widening import with_common_types
from slackwater.algebra.schema import Schema
from slackwater.errors import QueryError
from slackwater.lang.from_clause import Windowing
from slackwater.lang.parsing.queries import BRACKET
from slackwater.lang.parsing.source_text import SourceText
from slackwater.lang.scope import Scope
from slackwater.lang.selects import SelectBinder

MOST_OPERANDS = 64
"""The most queries combined by set operations, which bounds the depth of a plan."""
QUERY_ARGS = {"this", "expression", "distinct", "emit", "alias"}
FOREIGN_ARGS = {
    "order": ("ORDER BY", "order the rows where they are read: a stream has no end to sort by"),
    "sort": ("SORT BY", "order the rows where they are read: a stream has no end to sort by"),
    "limit": ("LIMIT", "limit the rows where they are read: the result of a stream has no end"),
    "offset": ("OFFSET", "skip rows where they are read: the result of a stream has no end"),
    "laterals": ("LATERAL VIEW", "unnest the rows before they enter the stream"),
    "windows": ("WINDOW", "use a bracket at the stream: [RANGE ... SLIDE ...]"),
    "qualify": ("QUALIFY", "group by what OVER partitions by, at a window, and filter with HAVING"),
    "distribute": ("DISTRIBUTE BY", "leave it out: rows are distributed as the query needs"),
    "cluster": ("CLUSTER BY", "leave it out: rows are distributed as the query needs"),
    "hint": ("a hint", "leave it out"),
    "into": ("SELECT INTO", "write INSERT INTO sink SELECT ..."),
    "sample": ("TABLESAMPLE", "use FREQUENCY to sample rows"),
    "all": ("GROUP BY ALL", "name the columns to group by"),
    "cube": ("CUBE", "write one query for each grouping"),
    "rollup": ("ROLLUP", "write one query for each grouping"),
    "grouping_sets": ("GROUPING SETS", "write one query for each grouping"),
    "on": ("DISTINCT ON", "write SELECT DISTINCT, or GROUP BY"),
    "by_name": ("BY NAME", "select the columns in the same order on both sides"),
}
SET_OPERATIONS: dict[type[exp.SetOperation], str] = {
    exp.Union: "write SELECT DISTINCT * FROM (left UNION ALL right) AS both",
    exp.Except: "write EXCEPT, which yields each row once",
    exp.Intersect: "write left EXCEPT (left EXCEPT right)",
}
"""Hints for UNION, EXCEPT ALL and INTERSECT, which are not supported."""


@dataclass(frozen=True, slots=True)
class Binder:
    """Binds the queries of one text; `mode` says what the current query emits."""

    source: SourceText
    catalog: Catalog
    mode: Mode = Mode.FINAL

    def root(self, tree: exp.Expr) -> Emit:
        """Return the canonical plan of a whole query."""
        tree, emit = self._unwrapped(tree)
        said = emit.name if emit else "FINAL"
        mode = Mode.CHANGES if said.startswith("CHANGES") else Mode.FINAL
        plan = Emit(replace(self, mode=mode).query(tree), mode, said.endswith("SYNC"))
        with self.source.blaming(emit or tree):
            check_node(plan)
        return plan

    def bind_subquery(self, tree: exp.Expr) -> Plan:
        """Return the plan of a query inside another query."""
        tree, emit = self._unwrapped(tree)
        if emit:
            raise QueryError(
                "SW-232", "EMIT belongs to the whole query", expected="EMIT at the end of the outermost query",
                hint="move it to the end", place=self.source.place_of(emit),
            )  # fmt: skip
        return self.query(tree)

    def query(self, tree: exp.Expr) -> Plan:
        if isinstance(tree, exp.SetOperation):
            return self._set_operation(tree)
        if isinstance(tree, exp.Select):
            return SelectBinder(self, tree).plan()
        raise QueryError(
            "SW-140", "this kind of query is not supported", expected="SELECT", hint="write a SELECT",
            place=self.source.place_of(tree),
        )  # fmt: skip

    def answer(self, plan: Plan, blamed: exp.Expr | None) -> None:
        """Raise if the query asks for final answers and this operator has none."""
        if self.mode is Mode.FINAL:
            with self.source.blaming(blamed):
                check_answer(plan)

    def refuse(self, tree: exp.Expr, known: set[str]) -> None:
        """Raise an error if the tree has a part of SQL that is not supported. The error names a replacement."""
        for key, value in tree.args.items():
            if key in known or not value:
                continue
            word, instead = FOREIGN_ARGS.get(key, (key.strip("_").upper(), "leave it out"))
            first = value[0] if isinstance(value, list) else value
            raise QueryError(
                "SW-140", f"{word} is not supported", expected="SELECT, FROM, WHERE, GROUP BY, HAVING, EMIT",
                hint=instead, place=self.source.place_of(first if isinstance(first, exp.Expr) else tree),
            )  # fmt: skip

    def identifier_name(self, name: exp.Identifier) -> str:
        """Return the name of an identifier. It must not hold a dot, because plans write `alias.name`."""
        with self.source.blaming(name):
            return check_name(name.name)

    def _unwrapped(self, tree: exp.Expr) -> tuple[exp.Expr, exp.Expr | None]:
        """Return a query without its parentheses, and its EMIT, inside or outside of them."""
        emit = tree.args.get("emit")
        while isinstance(tree, exp.Subquery):
            self.refuse(tree, QUERY_ARGS)
            tree = tree.this
            emit = emit or tree.args.get("emit")
        return tree, emit

    def _set_operation(self, tree: exp.SetOperation) -> Plan:
        self.refuse(tree, QUERY_ARGS)
        union = isinstance(tree, exp.Union)
        if isinstance(tree, exp.Intersect) or union == bool(tree.args.get("distinct")):
            raise QueryError(
                "SW-140", f"{tree.key.upper()}{'' if union else ' ALL'} is not supported"
                if not isinstance(tree, exp.Intersect) else "INTERSECT is not supported",
                expected="UNION ALL, EXCEPT or MINUS", hint=SET_OPERATIONS[type(tree)],
                place=self.source.place_of(tree.expression),
            )  # fmt: skip
        if sum(1 for _ in tree.find_all(exp.SetOperation)) >= MOST_OPERANDS:
            raise QueryError(
                "SW-104", f"more than {MOST_OPERANDS} queries are put together", expected="fewer",
                hint="put some together in views first", place=self.source.place_of(tree.expression),
            )  # fmt: skip
        left, right = self.bind_subquery(tree.this), self.bind_subquery(tree.expression)
        plan = Union(left, right) if union else Minus(left, right)
        with self.source.blaming(tree.expression):
            check_node(plan)
        self.answer(plan, tree.expression)
        return with_common_types(plan)

    def item(self, tree: exp.Expr) -> Plan:
        """Return the plan of an item of FROM."""
        windowing = Windowing(self.source, tree.meta.get(BRACKET))
        if isinstance(tree, exp.Subquery):
            return windowing.add_window(self._subquery(tree, windowing))
        with self.source.blaming(tree.this):
            declared = self.catalog.source(tree.name)
        alias = self.identifier_name(tree.args["alias"].this) if tree.alias else declared.name
        if isinstance(declared, ViewDef):
            return windowing.add_window(self._view(tree, declared, alias, windowing))
        wattr = windowing.wattr()
        event_time = ""
        if wattr:
            scope = Scope(self.source, Schema(declared.fields).qualify(alias), {})
            event_time = scope.schema.find(scope.reference(wattr)).name
        with self.source.blaming(wattr or tree.this):
            scan = self.catalog.fill(Scan(declared.name, alias, (), event_time))
        self.answer(scan, tree.this)
        return windowing.add_policy(scan)

    def _subquery(self, tree: exp.Subquery, windowing: Windowing) -> Plan:
        windowing.refuse_control("a subquery")
        if not tree.alias:
            raise QueryError(
                "SW-216", "a subquery needs a name", expected="( query ) AS name", hint="write AS and a name after )",
                place=self.source.place_of(tree),
            )  # fmt: skip
        return Subquery(self.identifier_name(tree.args["alias"].this), self.bind_subquery(tree.this))

    def _view(self, tree: exp.Expr, view: ViewDef, alias: str, windowing: Windowing) -> Plan:
        windowing.refuse_control("a view")
        query = view.query.child if isinstance(view.query, Emit) else view.query
        if self.mode is Mode.FINAL:
            with self.source.blaming(tree.this):
                check_final(query)
        return View(view.name, alias, query, view.key)

    def bind_join(self, left: Plan, tree: exp.Join, right: Plan, aliases: dict[str, str]) -> Plan:
        """Return the join of a plan with one more source on the right."""
        self._check_join(tree)
        plan = Join(left, right)
        with self.source.blaming(tree.this):
            check_node(plan)
        if on := tree.args.get("on"):
            condition = Scope.over(plan, self.source, aliases).expression(on, "ON")
            plan = replace(plan, condition=condition)
            with self.source.blaming(on):
                check_node(plan)
        return plan

    def _check_join(self, tree: exp.Join) -> None:
        side, kind, method = (str(tree.args.get(key) or "") for key in ("side", "kind", "method"))
        if (
            side
            or kind not in ("", "INNER", "CROSS")
            or method
            or tree.args.get("using")
            or tree.this.args.get("joins")
        ):
            words = " ".join(filter(None, (method, side, kind, "JOIN" if not tree.args.get("using") else "JOIN USING")))
            raise QueryError(
                "SW-141", f"{words} is not supported", expected="JOIN ... ON, or a comma and WHERE",
                hint=_instead(side, kind, nested=bool(tree.this.args.get("joins"))),
                place=self.source.place_of(tree.this),
            )  # fmt: skip


def _instead(side: str, kind: str, *, nested: bool) -> str:
    """Return the hint for a join that is not an inner join with a condition."""
    match side, kind:
        case _, "SEMI":
            return "write JOIN ... ON, and SELECT DISTINCT of the left columns"
        case _, "ANTI":
            return (
                "write SELECT key FROM left EXCEPT SELECT key FROM right, and JOIN it with the left if more is wanted"
            )
        case (("LEFT" | "RIGHT" | "FULL"), _):
            return (
                "write JOIN ... ON for rows with a partner; for others UNION ALL SELECT key ... EXCEPT SELECT key ..."
            )
    if nested:
        return "write the joins one after the other, without parentheses"
    return "name the columns: JOIN stream ON A.id = B.id"
