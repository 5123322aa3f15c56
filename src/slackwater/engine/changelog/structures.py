"""What an operator keeps of each input, by the class of that input: the one table from which all operators choose.

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
    """How the living tuples of an edge are kept.

    `expires`: they leave when their bound has come. `ordered`: that is the order in which they came, so that those
    which leave stand at the front. `indexed`: a negative may end one, which its identity finds.
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
class Kept:
    """One operator, what it yields, and what it keeps of each input: a line of EXPLAIN."""

    operator: str
    depth: int
    level: int
    key: tuple[str, ...] | None
    structure: tuple[str, ...]


def kept(query: Query) -> list[Kept]:
    """Every operator of a query, each before what it reads."""
    return list(_lines(query, query.root, 0))


def _lines(query: Query, node: Node, depth: int) -> Iterator[Kept]:
    yield Kept(name_of(node), depth, node.edge.level, node.edge.key, structures_of(query, node))
    for each in children(node):
        yield from _lines(query, each, depth + 1)


def name_of(node: Node) -> str:
    """What an operator is called in EXPLAIN."""
    match node:
        case Over(step=Window() as window) if not window.is_range:
            return "counted"
        case Over(step=step):
            return type(step).__name__.lower()
    return type(node).__name__.lower()


def structures_of(query: Query, node: Node) -> tuple[str, ...]:
    """The structures of an operator, one per input; operators that look at one tuple at a time keep none."""
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
