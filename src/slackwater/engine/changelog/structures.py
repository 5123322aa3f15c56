"""The structures in which operators keep live tuples: one table, by the class of the input.

for line in kept(query): print(line.operator, line.level, line.key, line.structure)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from slackwater.engine.plan import (
    Aggregate,
    Chained,
    Distinct,
    Join,
    Minus,
    Node,
    Over,
    Piped,
    Query,
    Read,
    Source,
    Turn,
    Window,
    children,
)


@dataclass(frozen=True, slots=True)
class Structure:
    """How the live tuples of an edge are kept.

    `expires`: tuples leave at their bound. `ordered`: they leave in the order in which they began, from the front.
    `indexed`: a negative tuple may end a tuple, which is found by its identity.
    """

    name: str
    expires: bool
    ordered: bool
    indexed: bool


STRUCTURES = {
    1: Structure("list", expires=False, ordered=True, indexed=False),
    2: Structure("queue", expires=True, ordered=True, indexed=False),
    3: Structure("expiry order", expires=True, ordered=False, indexed=False),
    4: Structure("expiry order and key index", expires=True, ordered=False, indexed=True),
}


@dataclass(frozen=True, slots=True)
class KeptState:
    """A line of EXPLAIN: an operator, the class and key of its result, and what it keeps of each input."""

    operator: str
    depth: int
    level: int
    key: tuple[str, ...] | None
    structure: tuple[str, ...]


def kept(query: Query) -> list[KeptState]:
    """Return a line for every operator of a query, parents before children."""
    return list(_lines(query, query.root, 0))


def _lines(query: Query, node: Node, depth: int) -> Iterator[KeptState]:
    yield KeptState(name_of(node), depth, node.edge.level, node.edge.key, structures_of(query, node))
    for each in children(node):
        yield from _lines(query, each, depth + 1)


def name_of(node: Node) -> str:
    """Return the name of an operator in EXPLAIN."""
    match node:
        case Over(step=Window() as window) if not window.is_range:
            return "counted"
        case Over(step=step):
            return type(step).__name__.lower()
    return type(node).__name__.lower()


def structures_of(query: Query, node: Node) -> tuple[str, ...]:
    """Return the structures of an operator, one per input. Operators over single tuples keep nothing."""
    match node:
        case Source(input=name):
            indexed = query.inputs[name].change_type is not None
            return ("rows beyond the punctuation", *((f"index on {', '.join(node.edge.key or ())}",) * indexed))
        case Chained() | Piped():
            return ("what its windows keep",)
        case Over(step=Window() as window) if not window.is_range:
            return ("rows held, and rows that wait for the next instant",)
        case Turn(range=int()):
            return ("rows of its window",)
        case Read():
            return ("rows that wait for the next boundary",)
        case Over(step=Aggregate()) if node.child.edge.level == 1:
            return ("a tally per group",)
        case Over(step=Aggregate() | Distinct()) | Join() | Minus():
            return tuple(STRUCTURES[each.edge.level].name for each in children(node))
        case _:
            return ()
