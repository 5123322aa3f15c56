"""When two answers are the same: the same rows, at the same times, in the same batches."""

from __future__ import annotations

from collections.abc import Hashable

from slackwater.algebra.nodes import Plan
from slackwater.algebra.properties.instants import instants_of
from slackwater.semantics import Answer


def told(answer: Answer, plan: Plan, *, windows: bool = True) -> Hashable:
    """Return the rows, changes and late rows of an answer in a form that can be compared.

    Rows keep their order, but for those of one boundary, which have none (`algebra.order`). With `windows` false the
    number of windows that a late row missed is left out: it counts those that are computed, which is what a rule that
    computes fewer changes.
    """
    rows = [(each.batch, each.time, repr(sorted(each.row.items()))) for each in answer.rows]
    if instants_of(plan).at_boundaries:
        rows.sort()
    late = [
        (each.stream, repr(sorted(each.row.items())), each.late_by, each.punctuation, each.batch)
        + ((each.missed,) if windows else ())
        for each in answer.late
    ]
    return (
        tuple(rows),
        answer.syncs,
        tuple(late),
        tuple((each.stream, repr(each.row), each.batch) for each in answer.rejected),
        tuple((each.stream, repr(each.row), each.batch) for each in answer.refused),
        tuple(
            sorted(
                (c.batch, c.valid_from, c.type, repr(c.valid_to), repr(sorted(c.row.items()))) for c in answer.changes
            )
        ),
    )
