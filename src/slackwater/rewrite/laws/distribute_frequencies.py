"""F[f](R1 ⋈ R2) = F[f](R1) ⋈ F[f](R2) at common boundaries: boundaries that nobody reads are not computed.

CSQL section 5 states this for every time frequency. It holds for CSQL 4.4's jumping operator, which yields the whole
relation at each multiple of f. That operator reads `[RANGE s SLIDE f]` over a query with boundaries every s. All
operators of such a query are local (they read the relation of one boundary), so the frequency moves down to the
windows.
"""

from __future__ import annotations

from dataclasses import replace

from slackwater.algebra.lengths import Length
from slackwater.algebra.nodes import Disorder, Frequency, Plan, Scan, Subquery, View, Window, inputs, with_inputs
from slackwater.algebra.properties.instants import instants_of
from slackwater.rewrite.change import Context, Replacement


def distribute_frequencies(plan: Plan, context: Context) -> Replacement | None:
    """Move a longer slide into a subquery, if the window is no longer than the subquery's slide.

    The longer slide must be a multiple of the subquery's slide.
    """
    match plan:
        case Window(child=Subquery(query=query) as subquery, range=range_, every=every) if every.is_time:
            slide = instants_of(query).every
            if not (slide.is_time and range_.is_time and range_.amount <= slide.amount < every.amount):
                return None
            if every.amount % slide.amount or not is_synchronised(query, slide):
                return None
            inside = replace(subquery, query=at_boundaries(query, slide, every))
            return Replacement(
                replace(plan, child=inside), f"of the boundaries every {slide} only those every {every} are read"
            )
    return None


def is_synchronised(query: Plan, slide: Length) -> bool:
    """Return whether every input of a query has boundaries of this slide and no operator in it counts rows."""
    match query:
        case Window(range=range_, every=every):
            return range_.is_time and every == slide
        case Subquery() | View():
            return instants_of(query).every == slide
        case Frequency() | Scan() | Disorder():
            return False
        case _:
            return all(is_synchronised(each, slide) for each in inputs(query))


def at_boundaries(query: Plan, slide: Length, every: Length) -> Plan:
    """Return the same query at other boundaries. A subquery without a window is read as RANGE s SLIDE s."""
    match query:
        case Window():
            return replace(query, every=every)
        case Subquery() | View():
            return Window(query, slide, every)
        case _:
            return with_inputs(query, tuple(at_boundaries(each, slide, every) for each in inputs(query)))
