"""GROUP BY and aggregates: calls in the select list and HAVING are replaced by columns of an aggregate."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlglot import exp

from slackwater.algebra.expressions import Tree, column_node, is_aggregate, name_of, text
from slackwater.algebra.nodes import Aggregate, Item, Plan
from slackwater.algebra.schema import PSEUDO_COLUMNS
from slackwater.lang.parsing.forms import normal
from slackwater.lang.scope import Scope, canonical

LONGEST_NAME = 60
"""Characters of a generated column name; longer ones are cut."""


class Names:
    """Unique names, compared without regard to case. A taken name gets a number appended.

    >>> names = Names(["COUNT", "count_2"])
    >>> names.new("count"), names.new("sum"), names.new("count")
    ('count_3', 'sum', 'count_4')
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {each.lower() for each in taken}
        self._last: dict[str, int] = {}

    def new(self, name: str) -> str:
        number, made = self._last.get(name.lower(), 1), name
        while made.lower() in self._taken:
            number += 1
            made = f"{name}_{number}"
        self._last[name.lower()] = number
        self._taken.add(made.lower())
        return made


@dataclass(slots=True)
class GroupCollector:
    """Collects the groups and the aggregate calls of one query, each once and named after its text."""

    scope: Scope
    group: dict[Tree, str] = field(default_factory=dict)
    calls: dict[Tree, str] = field(default_factory=dict)
    names: Names = field(default_factory=Names)

    def add_group(self, tree: Tree) -> None:
        """Add a canonical tree to the grouping, unless it is there already."""
        if tree not in self.group:
            self.group[tree] = self.names.new(natural_name(tree))

    def above(self, tree: Tree) -> Tree:
        """Return the canonical tree of an expression in terms of the aggregate's output columns."""
        return canonical(normal(self._replaced(tree.copy())))

    def plan(self, child: Plan) -> Aggregate:
        return Aggregate(child, self._items(self.group), self._items(self.calls))

    def _items(self, named: dict[Tree, str]) -> tuple[Item, ...]:
        exprs = self.scope.type_trees(list(named))
        return tuple(Item(name, expr) for name, expr in zip(named.values(), exprs, strict=True))

    def _replaced(self, node: Tree) -> Tree:
        if node in self.group:
            return column_node(self.group[node])
        if is_aggregate(node):
            return column_node(self._call(node))
        if isinstance(node, exp.Column):
            return node if self._of_instant(node) else column_node(self._call(exp.Last(this=node.copy())))
        for child in list(node.iter_expressions()):
            child.replace(self._replaced(child))
        return node

    def _of_instant(self, column: exp.Column) -> bool:
        reference = name_of(column)
        return reference.lower() in PSEUDO_COLUMNS and not self.scope.matching(reference)

    def _call(self, call: Tree) -> str:
        if call not in self.calls:
            self.calls[call.copy()] = self.names.new(natural_name(call))
        return self.calls[call]


def natural_name(tree: Tree) -> str:
    """Return the column name of an expression without an alias.

    >>> from slackwater.algebra.expressions import parse_expr
    >>> [natural_name(parse_expr(sql)) for sql in ("MAX(speed)", "COUNT(*)", "Id", "LAST(B.speed)", "a + 1", "s['x']")]
    ['max_speed', 'count', 'Id', 'speed', 'a_1', 'x']
    """
    inner = tree.this if isinstance(tree, exp.Last) else tree
    if isinstance(inner, exp.Bracket) and all(each.is_string for each in inner.expressions):
        inner = inner.expressions[0]  # a field of a struct
    if isinstance(inner, exp.Column) or (isinstance(inner, exp.Literal) and re.fullmatch(r"[^\W\d]\w*", inner.name)):
        return str(inner.name)
    words = re.sub(r"\W+", "_", text(tree)).strip("_").lower()[:LONGEST_NAME].strip("_")
    return words if words and not words[0].isdigit() else f"c_{words}".rstrip("_")
