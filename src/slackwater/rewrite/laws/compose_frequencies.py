"""F[a](F[b](S)) = F[a*b](S) for tuples; for times that divide each other the longer one alone (CSQL section 5)."""

from __future__ import annotations

from dataclasses import replace
from math import lcm

from slackwater.algebra.lengths import LONGEST, Length
from slackwater.algebra.nodes import Frequency, Plan, Project, Subquery, Window
from slackwater.rewrite.change import Context, Replacement
from slackwater.rewrite.partitions import fields_of
from slackwater.rewrite.references import trace


def compose_frequencies(plan: Plan, context: Context) -> Replacement | None:
    """Replace two successive frequencies of one kind and one partitioning by one, also through a projecting subquery.

    CSQL prints that the *shorter* of two dividing frequencies remains; the interpreter refutes it (docs/laws.md).
    """
    match plan:
        case Frequency(child=Frequency() as inner):
            return _composed(plan, plan.by, inner)
        case Frequency(child=Subquery(query=Project(child=Frequency() as inner) as project) as subquery):
            if context.names("row_number"):
                return None
            below = [trace(column, subquery) for column in plan.by]
            by = tuple(found[0] for found in below if found and found[1] == inner)
            change = _composed(plan, by, inner) if len(by) == len(plan.by) else None
            if change is None:
                return None
            inside = replace(project, child=change.plan)
            return Replacement(replace(subquery, query=inside), change.why)
    return None


def _composed(outer: Frequency, by: tuple[str, ...], inner: Frequency) -> Replacement | None:
    every = _every(outer, inner)
    if every is None or isinstance(inner.child, Window) or fields_of(by, inner) != fields_of(inner.by, inner):
        return None
    return Replacement(replace(inner, every=every), f"every {outer.every} of every {inner.every} is every {every}")


def _every(outer: Frequency, inner: Frequency) -> Length | None:
    a, b = outer.every.amount, inner.every.amount
    if outer.every.kind is not inner.every.kind or outer.strict is not inner.strict:
        return None
    if outer.strict:
        both = lcm(a, b)
    elif not outer.every.is_time:
        both = a * b
    elif max(a, b) % min(a, b) == 0:
        both = max(a, b)
    else:
        return None
    return Length(both, outer.every.kind) if both <= LONGEST else None
