"""By which columns the inputs of a tree can be taken apart, so that each part is computed without the rows of another.

Tuples that an operator needs together agree in a column: of a join in what it compares, of an aggregate in a group
item, of DISTINCT and EXCEPT in any column, of an incoming changelog in a key column. A column that all operators have
in common, traced back to one column of each input, makes buckets; several such columns make finer ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from slackwater.engine import plan as steps
from slackwater.engine.columns.rows import ROW_NUMBER
from slackwater.engine.expressions.evaluate import marks_of
from slackwater.engine.plan import (
    Aggregate,
    Chain,
    Chained,
    Distinct,
    Join,
    Minus,
    Node,
    Numbered,
    Over,
    Piped,
    Project,
    Query,
    Read,
    Source,
    Streamed,
    Tree,
    Union,
    Window,
    columns_after,
    trees_of,
)

FLOATS = ("float", "double")
"""Types whose equal values need not look alike: 0.0 and -0.0."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A column of each input, all of the same meaning, and which column of the operator it is, None if it is gone."""

    trace: frozenset[tuple[str, str]]
    column: str | None


def partitioning(query: Query) -> dict[str, tuple[str, ...]] | None:
    """By input, the columns to make buckets of, in one order for all; None where all rows are needed together."""
    traces = sorted({tuple(sorted(cut.trace)) for cut in _Trace(query).cuts(query.root)})
    if not traces:
        return None
    return {name: tuple(dict(trace)[name] for trace in traces) for name in query.inputs}


class _Trace:
    def __init__(self, query: Query) -> None:
        self.query = query

    def cuts(self, node: Node) -> list[Cut]:
        """The columns by which everything up to this operator can be taken apart."""
        match node:
            case Source():
                return [] if node.numbered else list(self._source(node))
            case Numbered():
                return []
            case Chained() | Piped() | Read() | Streamed() if node.meeting is not None:
                return []  # how far any of their windows goes, all of them must know
            case Chained():
                return _chain(node.chain, node.input)
            case Piped(child=child, steps=given):
                return _through(self.cuts(child), given)
            case Over(child=child, step=Project(items=items)):
                return list(_renamed(self.cuts(child), [(item.name, item.tree) for item in items], lost=True))
            case Over(child=child, step=Aggregate(group=group)):
                return list(_renamed(self.cuts(child), [(item.name, item.tree) for item in group], lost=False))
            case Over(child=child, step=Window() as window) if not window.is_range:
                counts = set(window.by) & set(window.count_by)
                shared = set(window.by) if window.every == steps.ONE_TUPLE else counts
                return [cut for cut in self.cuts(child) if cut.column in shared]
            case Over(child=child, step=Distinct()):
                return [cut for cut in self.cuts(child) if cut.column is not None]
            case Union() | Minus():
                return list(self._by_position(node))
            case Join():
                return list(self._joined(node))
            case _:
                return self.cuts(node.child)

    def _source(self, node: Source) -> Iterator[Cut]:
        given = self.query.inputs[node.input]
        besides = {given.change_type, given.time, given.arrival}
        for name, kind in given.columns:
            keyed = name in given.key if given.key else name not in besides
            if (given.change_type is None or keyed) and kind not in FLOATS:
                yield Cut(frozenset({(node.input, name)}), name)

    def _by_position(self, node: Union | Minus) -> Iterator[Cut]:
        """EXCEPT needs what is equal together; UNION needs nothing, but what stands above may."""
        left, right = names(self.query, node.left), names(self.query, node.right)
        for one, two in product(self.cuts(node.left), self.cuts(node.right)):
            known = one.column is not None and two.column is not None
            same = known and left.index(str(one.column)) == right.index(str(two.column))
            if same or isinstance(node, Union):
                yield from self._merged(one, two, [one.column if same else None])

    def _joined(self, node: Join) -> Iterator[Cut]:
        left, right = names(self.query, node.left), names(self.query, node.right)
        pairs = {(_column(one), _column(two)) for one, two in node.on}
        for one, two in product(self.cuts(node.left), self.cuts(node.right)):
            if None not in (one.column, two.column) and (one.column, two.column) in pairs:
                places = left.index(str(one.column)), len(left) + right.index(str(two.column))
                yield from self._merged(one, two, [node.columns[place] for place in places])

    def _merged(self, one: Cut, two: Cut, columns: Iterable[str | None]) -> Iterator[Cut]:
        """Both traces as one, if each input has one column in it and all have one type: equal values are alike then."""
        trace = one.trace | two.trace
        kinds = {dict(self.query.inputs[name].columns)[column] for name, column in trace}
        if len(kinds) == 1 and len(trace) == len({name for name, _ in trace}):
            yield from (Cut(trace, column) for column in columns)


def _chain(chain: Chain, name: str) -> list[Cut]:
    """The columns by which a chain can be taken apart: those of every group, and of every part of what counts rows."""
    kept = [column for column, kind in chain.input.columns if kind not in FLOATS]
    return _through([Cut(frozenset({(name, column)}), column) for column in kept], chain.steps)


def _through(cuts: list[Cut], given: Sequence[steps.Step]) -> list[Cut]:
    """What is left of the columns after some steps of a chain; none where every row has its number."""
    if any(ROW_NUMBER in marks_of(tree) for step in given for tree in trees_of(step)):
        return []
    for step in given:
        match step:
            case steps.Project(items=items):
                cuts = list(_renamed(cuts, [(item.name, item.tree) for item in items], lost=True))
            case steps.Aggregate(group=group):
                cuts = list(_renamed(cuts, [(item.name, item.tree) for item in group], lost=False))
            case steps.Window(range=length, every=every) if every.is_time and not length.is_time:
                return []  # the last rows stand at every boundary up to the last row of all, of whichever part
            case steps.Window(range=length, every=every, by=by, count_by=count_by):
                counted = set(by) & set(count_by) if not every.is_time and every.amount > 1 else set(by)
                free = length.is_time and (every.is_time or every.amount == 1)
                cuts = [cut for cut in cuts if free or cut.column in counted]
            case steps.Frequency(by=by, strict=strict):
                cuts = [cut for cut in cuts if strict or cut.column in by]
            case steps.Distinct():
                cuts = [cut for cut in cuts if cut.column is not None]
    return cuts


def _renamed(cuts: Sequence[Cut], items: Sequence[tuple[str, Tree]], lost: bool) -> Iterator[Cut]:
    """The columns under their new names; with `lost`, those without one still take the inputs apart."""
    for cut in cuts:
        found = [name for name, tree in items if cut.column is not None and _column(tree) == cut.column]
        yield from (Cut(cut.trace, name) for name in found)
        if lost and not found:
            yield Cut(cut.trace, None)


def _column(tree: Tree) -> str | None:
    return str(tree[1]) if tree[0] == "column" else None


def names(query: Query, node: Node) -> list[str]:
    """The columns of an operator, in order."""
    match node:
        case Source(input=name):
            return query.inputs[name].names
        case Chained(chain=chain):
            return columns_after(chain.input.names, chain.steps)
        case Piped(child=child, steps=given):
            return columns_after(names(query, child), given)
        case Over(child=child, step=step):
            return columns_after(names(query, child), (step,))
        case Join(columns=columns):
            return list(columns)
        case Union(left=left) | Minus(left=left):
            return names(query, left)
        case _:
            return names(query, node.child)
