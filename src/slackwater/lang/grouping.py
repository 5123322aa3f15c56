"""GROUP BY and aggregates: calls leave the select list and HAVING, and columns take their place."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from sqlglot import exp

from slackwater.algebra.expressions import Tree, column_node, is_aggregate, name_of, parsed, text
from slackwater.algebra.nodes import Aggregate, Item, Plan
from slackwater.algebra.schema import PSEUDO_COLUMNS
from slackwater.lang.forms import normal
from slackwater.lang.scope import Scope, canonical

LONGEST_NAME = 60


@dataclass(slots=True)
class Grouping:
    """Collects the groups and the aggregate calls of one query, each once and named after its text."""

    scope: Scope
    group: list[tuple[Tree, str]] = field(default_factory=list)
    calls: list[tuple[Tree, str]] = field(default_factory=list)

    def add_group(self, tree: Tree) -> None:
        """A canonical tree to group by; a second mention of it adds nothing."""
        if all(tree != known for known, _ in self.group):
            self.group.append((tree, self._name(tree)))

    def above(self, tree: Tree) -> Tree:
        """The canonical tree of an expression as it reads above the aggregate."""
        return canonical(normal(self._replaced(tree.copy())))

    def plan(self, child: Plan) -> Aggregate:
        return Aggregate(child, self._items(self.group), self._items(self.calls))

    def _items(self, named: list[tuple[Tree, str]]) -> tuple[Item, ...]:
        return tuple(Item(name, self.scope.typed(tree)) for tree, name in named)

    def _replaced(self, node: Tree) -> Tree:
        for tree, name in self.group:
            if node == tree:
                return column_node(name)
        if is_aggregate(node):
            return column_node(self._call(node))
        if isinstance(node, exp.Column):
            return node if self._of_instant(node) else column_node(self._call(parsed(f"LAST({text(node)})")))
        for child in list(node.iter_expressions()):
            child.replace(self._replaced(child))
        return node

    def _of_instant(self, column: exp.Column) -> bool:
        reference = name_of(column)
        return reference.lower() in PSEUDO_COLUMNS and not self.scope.schema.matching(reference)

    def _call(self, call: Tree) -> str:
        for known, name in self.calls:
            if known == call:
                return name
        name = self._name(call)
        self.calls.append((call.copy(), name))
        return name

    def _name(self, tree: Tree) -> str:
        return unique(natural_name(tree), [name for _, name in (*self.group, *self.calls)])


def natural_name(tree: Tree) -> str:
    """What an expression without an alias is called.

    >>> [natural_name(parsed(sql)) for sql in ("MAX(speed)", "COUNT(*)", "Id", "LAST(B.speed)", "a + 1", "s['x']")]
    ['max_speed', 'count', 'Id', 'speed', 'a_1', 'x']
    """
    inner = tree.this if isinstance(tree, exp.Last) else tree
    if isinstance(inner, exp.Bracket) and all(each.is_string for each in inner.expressions):
        inner = inner.expressions[0]  # a field of a struct
    if isinstance(inner, (exp.Column, exp.Literal)) and re.fullmatch(r"[^\W\d][^.`\n\r]*", inner.name):
        return str(inner.name)
    words = re.sub(r"\W+", "_", text(tree)).strip("_").lower()[:LONGEST_NAME].strip("_")
    return words if words and not words[0].isdigit() else f"c_{words}".rstrip("_")


def unique(name: str, taken: Collection[str]) -> str:
    """The name, with a number behind it if it is taken.

    >>> unique("count", ["COUNT", "count_2"])
    'count_3'
    """
    used = {each.lower() for each in taken}
    candidates = (name if n == 1 else f"{name}_{n}" for n in range(1, len(used) + 2))
    return next(each for each in candidates if each.lower() not in used)
