"""F[n by G](γ[G](W(S))) = γ[G](W[every n by G](S)): only the requested aggregates are computed.

CSQL query 3: `COUNT(*) [Frequency 10 Tuples Partitioned By Id] ... [Range 1 Minute] GROUP BY Id` becomes a mixed
jumping window for each Id.
"""

from __future__ import annotations

from dataclasses import replace

from slackwater.algebra.lengths import ONE_TUPLE
from slackwater.algebra.nodes import Aggregate, Frequency, Plan, Window
from slackwater.algebra.properties.columns import schema_of
from slackwater.rewrite.change import Context, Replacement
from slackwater.rewrite.partitions import fields_of
from slackwater.rewrite.references import plain


def push_frequencies_below_aggregates(plan: Plan, context: Context) -> Replacement | None:
    """Move a tuple frequency, partitioned by the grouping columns, below an aggregate over a window at every row.

    Each input row yields one result row, for its own group, so both streams count alike. A tuple range must be
    partitioned by the grouping columns already: the last n rows of a group differ from the group's rows among the last
    n.
    """
    match plan:
        case Frequency(child=Aggregate(child=Window() as window) as aggregate, every=every, strict=False):
            if window.every != ONE_TUPLE or every.is_time or not context.final or context.names("row_number"):
                return None
            columns = _columns(aggregate)
            if columns is None or not _agree(plan, aggregate) or not _fits(columns, window):
                return None
            jumping = replace(window, every=every, by=columns)
            return Replacement(replace(aggregate, child=jumping), _why(columns))
    return None


def _agree(frequency: Frequency, aggregate: Aggregate) -> bool:
    """Return whether the partition columns of the frequency are the grouping of the aggregate."""
    return {column.lower() for column in frequency.by} == {item.name.lower() for item in aggregate.group}


def _fits(columns: tuple[str, ...], window: Window) -> bool:
    """Return whether the window holds the same rows of a group when it is partitioned by the grouping columns."""
    parts, own = fields_of(columns, window), fields_of(window.by, window)
    return own == parts or (not own and window.range.is_time)


def _columns(aggregate: Aggregate) -> tuple[str, ...] | None:
    """Return the columns of the window that the aggregate groups by, or None if it groups by another expression."""
    found = [plain(item.expr) for item in aggregate.group]
    schema = schema_of(aggregate.child)
    named = tuple(column for column in found if column is not None and column in schema)
    return named if len(named) == len(found) else None


def _why(columns: tuple[str, ...]) -> str:
    what = f"each {', '.join(columns)} is counted" if columns else "the result is counted"
    return f"{what} by the rows that come in, one result each, so the others need not be computed"
