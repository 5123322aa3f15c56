"""The instants at which an operator is evaluated: at every row, at time boundaries, or at every n-th row."""

from __future__ import annotations

from dataclasses import dataclass, replace

from slackwater.algebra.lengths import ONE_TUPLE, Length
from slackwater.algebra.nodes import Disorder, Frequency, Plan, Scan, Subquery, Union, View, Window, inputs
from slackwater.algebra.plan_cache import cache_by_plan


@dataclass(frozen=True, slots=True)
class Instants:
    """The instants of an operator and the window that is evaluated at each.

    `every` is 1 tuple (every row), n tuples (a jump every n rows), or a time (its multiples are the boundaries).
    `window` is the range that is evaluated there; None means the unbounded stream.
    """

    every: Length = ONE_TUPLE
    window: Length | None = None
    by: tuple[str, ...] = ()

    @property
    def at_boundaries(self) -> bool:
        return self.every.is_time

    @property
    def at_rows(self) -> bool:
        """Return whether every row is an instant. Such an instant emits only the contribution of that row."""
        return self.every == ONE_TUPLE

    @property
    def jumping(self) -> bool:
        """Return whether an instant emits the whole relation of its window."""
        return not self.at_rows


@cache_by_plan
def instants_of(plan: Plan) -> Instants:
    """Return the instants of an operator. Of two inputs the left one counts; the checks ensure that both agree."""
    match plan:
        case Scan() | Disorder():
            return Instants()
        case View(query=query) | Subquery(query=query):
            return _as_stream(instants_of(query))
        case Window(range=range_, every=every, by=by):
            return Instants(every, range_, by)
        case Frequency(child=Window(range=range_, every=every), every=jump, by=by) if every == ONE_TUPLE:
            return Instants(jump, range_, by)
        case Frequency(child=child):
            return instants_of(child)
        case _:
            return instants_of(inputs(plan)[0])


def _as_stream(inner: Instants) -> Instants:
    """Return how the outer query reads a subquery: at its boundaries with their extents, or else as rows."""
    return Instants(inner.every, inner.window) if inner.at_boundaries else Instants()


def extents_of(plan: Plan) -> frozenset[Instants]:
    """Return the kinds of extents that an operator's rows come from. UNION ALL may combine several kinds."""
    match plan:
        case Union(left=left, right=right):
            return extents_of(left) | extents_of(right)
        case View(query=query) | Subquery(query=query):
            return extents_of(query)
        case Scan() | Disorder() | Window():
            return frozenset({replace(instants_of(plan), by=())})
        case Frequency() if is_jump(plan):
            return frozenset({replace(instants_of(plan), by=())})
        case _:
            return extents_of(inputs(plan)[0])


def is_jump(plan: Plan) -> bool:
    """Return whether a frequency picks the instants of a window rather than rows."""
    return isinstance(plan, Frequency) and isinstance(plan.child, Window) and plan.child.every == ONE_TUPLE
