"""Find the columns by which the inputs of a tree can be split into buckets that are computed independently.

Tuples that an operator needs together have equal values: a join in the columns that it compares, an aggregate in its
group items, DISTINCT and EXCEPT in all columns, an incoming changelog in its key. A column that all operators have in
common, traced back to one column of each input, defines buckets. Several such columns define smaller buckets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from slackwater.engine import plan as ops
from slackwater.engine.columns.rows import ROW_NUMBER
from slackwater.engine.expressions import marks_of

FLOATS = ("float", "double")
"""Types whose equal values may have different bits, such as 0.0 and -0.0, and so different buckets."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A column of each input, all with the same meaning, and the operator's column for it; None if it has none."""

    trace: frozenset[tuple[str, str]]
    column: str | None


def partitioning(query: ops.EnginePlan) -> dict[str, tuple[str, ...]] | None:
    """Return for each input the columns that define its buckets, in the same order; None if no split is possible."""
    traces = sorted({tuple(sorted(cut.trace)) for cut in _Trace(query).cuts(query.root)})
    if not traces:
        return None
    return {name: tuple(dict(trace)[name] for trace in traces) for name in query.inputs}


class _Trace:
    def __init__(self, query: ops.EnginePlan) -> None:
        self.query = query

    def cuts(self, node: ops.Node) -> list[Cut]:
        """Return the columns by which all operators up to this one can be split."""
        match node:
            case ops.Source():
                return [] if node.numbered else list(self._source(node))
            case ops.Numbered():
                return []
            case ops.Chained() | ops.Piped() | ops.Read() | ops.Streamed() if node.meeting is not None:
                return []  # all windows of a meeting must know the last boundary of any of them
            case ops.Chained(chain=chain, input=name):
                kept = [column for column, kind in chain.input.columns if kind not in FLOATS]
                return _through([Cut(frozenset({(name, column)}), column) for column in kept], chain.steps)
            case ops.Piped(child=child, steps=given):
                return _through(self.cuts(child), given)
            case ops.Over(child=child, step=step):
                return _through(self.cuts(child), (step,))
            case ops.UnionLogs() | ops.MinusLogs():
                return list(self._by_position(node))
            case ops.JoinLogs():
                return list(self._joined(node))
            case _:
                return self.cuts(node.child)

    def _source(self, node: ops.Source) -> Iterator[Cut]:
        given = self.query.inputs[node.input]
        besides = {given.change_type, given.time, given.arrival}
        for name, kind in given.columns:
            keyed = name in given.key if given.key else name not in besides
            if (given.change_type is None or keyed) and kind not in FLOATS:
                yield Cut(frozenset({(node.input, name)}), name)

    def _by_position(self, node: ops.UnionLogs | ops.MinusLogs) -> Iterator[Cut]:
        """Return the columns that both sides can be split by.

        EXCEPT needs equal tuples in one bucket. UNION does not, but an operator above it may.
        """
        left, right = names(self.query, node.left), names(self.query, node.right)
        for one, two in product(self.cuts(node.left), self.cuts(node.right)):
            known = one.column is not None and two.column is not None
            same = known and left.index(str(one.column)) == right.index(str(two.column))
            if same or isinstance(node, ops.UnionLogs):
                yield from self._merged(one, two, [one.column if same else None])

    def _joined(self, node: ops.JoinLogs) -> Iterator[Cut]:
        left, right = names(self.query, node.left), names(self.query, node.right)
        pairs = {(_column(one), _column(two)) for one, two in node.on}
        for one, two in product(self.cuts(node.left), self.cuts(node.right)):
            if None not in (one.column, two.column) and (one.column, two.column) in pairs:
                places = left.index(str(one.column)), len(left) + right.index(str(two.column))
                yield from self._merged(one, two, [node.columns[place] for place in places])

    def _merged(self, one: Cut, two: Cut, columns: Iterable[str | None]) -> Iterator[Cut]:
        """Merge two traces, if the result has one column of each input and all have one type.

        Equal values of different types may be in different buckets.
        """
        trace = one.trace | two.trace
        kinds = {dict(self.query.inputs[name].columns)[column] for name, column in trace}
        if len(kinds) == 1 and len(trace) == len({name for name, _ in trace}):
            yield from (Cut(trace, column) for column in columns)


def _through(cuts: list[Cut], given: Sequence[ops.Step]) -> list[Cut]:
    """Return the columns by which the steps can still be split; none if a step reads the numbers of rows."""
    if any(ROW_NUMBER in marks_of(tree) for step in given for tree in ops.trees_of(step)):
        return []
    for step in given:
        match step:
            case ops.ProjectStep(items=items):
                cuts = list(_renamed(cuts, [(item.name, item.tree) for item in items], lost=True))
            case ops.AggregateStep(group=group):
                cuts = list(_renamed(cuts, [(item.name, item.tree) for item in group], lost=False))
            case ops.WindowStep(range=length, every=every) if every.is_time and not length.is_time:
                return []  # the window is evaluated at every boundary up to the last row of all parts
            case ops.WindowStep(range=length, every=every, by=by, count_by=count_by):
                counted = set(by) & set(count_by) if not every.is_time and every.amount > 1 else set(by)
                free = length.is_time and (every.is_time or every.amount == 1)
                cuts = [cut for cut in cuts if free or cut.column in counted]
            case ops.FrequencyStep(by=by, strict=strict):
                cuts = [cut for cut in cuts if strict or cut.column in by]
            case ops.DistinctStep():
                cuts = [cut for cut in cuts if cut.column is not None]
    return cuts


def _renamed(cuts: Sequence[Cut], items: Sequence[tuple[str, ops.Tree]], lost: bool) -> Iterator[Cut]:
    """Return the columns under their new names; with `lost`, also those without a new name."""
    for cut in cuts:
        found = [name for name, tree in items if cut.column is not None and _column(tree) == cut.column]
        yield from (Cut(cut.trace, name) for name in found)
        if lost and not found:
            yield Cut(cut.trace, None)


def _column(tree: ops.Tree) -> str | None:
    return str(tree[1]) if tree[0] == "column" else None


def names(query: ops.EnginePlan, node: ops.Node) -> list[str]:
    """Return the columns of an operator, in order."""
    match node:
        case ops.Source(input=name):
            return query.inputs[name].names
        case ops.Chained(chain=chain):
            return ops.columns_after(chain.input.names, chain.steps)
        case ops.Piped(child=child, steps=given):
            return ops.columns_after(names(query, child), given)
        case ops.Over(child=child, step=step):
            return ops.columns_after(names(query, child), (step,))
        case ops.JoinLogs(columns=columns):
            return list(columns)
        case ops.UnionLogs(left=left) | ops.MinusLogs(left=left):
            return names(query, left)
        case _:
            return names(query, node.child)
