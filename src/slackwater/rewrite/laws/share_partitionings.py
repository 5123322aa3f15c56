"""γ[G2](W2(γ[G1](W1(S)))), where G2 is part of G1: both windows are partitioned by G2, so that one shuffle serves both.

A group over a time window needs no row of another group, so the window may be partitioned by the grouping columns.
"""

from __future__ import annotations

from dataclasses import replace

from slackwater.algebra.aggregates import UNORDERED
from slackwater.algebra.expressions import parse_expr
from slackwater.algebra.lengths import ONE_TUPLE
from slackwater.algebra.nodes import (
    Aggregate,
    Frequency,
    Item,
    Plan,
    Project,
    Select,
    Subquery,
    Window,
    inputs,
    with_inputs,
)
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.properties.instants import instants_of
from slackwater.rewrite.change import Context, Replacement
from slackwater.rewrite.partitions import fields_of
from slackwater.rewrite.references import plain


def share_partitionings(plan: Plan, context: Context) -> Replacement | None:
    """Partition nested aggregates over time windows by common columns.

    Every frequency between them must count per partition.
    """
    if not isinstance(plan, Aggregate) or context.names("row_number"):
        return None
    sequenced = any(isinstance(each, (Window, Frequency)) for each in context.above)
    named = [column for item in plan.group if (column := plain(item.expr)) is not None]
    columns = [column for column in named if column in schema_of(plan.child)]  # pseudo-columns are left out
    by = tuple(column for column in columns if _apart(plan.child, (column,), 1, _in_order(plan)))
    apart = _apart(plan.child, by, 1, _in_order(plan)) if by else None
    if apart is None or apart == plan.child or (sequenced and not _keeps_order(plan, by)):
        return None
    return Replacement(replace(plan, child=apart), f"both aggregates can be taken apart by {', '.join(by)}")


def _apart(plan: Plan, by: tuple[str, ...], aggregates: int, ordered: bool) -> Plan | None:
    """Return the plan partitioned by these columns, down to the window below the next `aggregates` aggregates.

    Return None if a partition would need rows of another, or if an order-sensitive operator would see another order.
    """
    match plan:
        case Window(child=child, by=own):
            below = _apart(child, by, aggregates, ordered) if aggregates else child
            fits = fields_of(by, plan) <= fields_of(own, plan) if own else _by_time(plan)
            return replace(plan, child=below, by=own or by) if fits and below else None
        case Frequency(child=child, by=own, strict=strict):
            within = strict or fields_of(by, plan) <= fields_of(own, plan)
            return _over(plan, by, aggregates, ordered) if within and not isinstance(child, Window) else None
        case Aggregate(group=group) if aggregates:
            columns = _below(by, group)
            sound = columns and (_keeps_order(plan, columns) or not ordered)
            return _over(plan, columns, aggregates - 1, ordered) if sound else None
        case Project(items=items):
            return _over(plan, _below(by, items), aggregates, ordered)
        case Subquery():
            return _over(plan, tuple(schema_of(plan).find(column).name for column in by), aggregates, ordered)
        case Select():
            return _over(plan, by, aggregates, ordered)
        case _:
            return None


def _over(plan: Plan, by: tuple[str, ...] | None, aggregates: int, ordered: bool) -> Plan | None:
    below = _apart(inputs(plan)[0], by, aggregates, ordered) if by else None
    return with_inputs(plan, (below,)) if below else None


def _below(by: tuple[str, ...], items: tuple[Item, ...]) -> tuple[str, ...] | None:
    """Return the columns below a select list or a grouping that these columns stand for, or None if one is computed."""
    meaning = {item.name.lower(): plain(item.expr) for item in items}
    found = [meaning.get(column.lower()) for column in by]
    return tuple(column for column in found if column) if all(found) else None


def _by_time(window: Window) -> bool:
    return window.range.is_time and (window.every.is_time or window.every == ONE_TUPLE)


def _in_order(aggregate: Aggregate) -> bool:
    """Return whether an aggregate depends on row order: always at rows, at boundaries for calls such as LAST."""
    calls = [parse_expr(item.expr.sql) for item in aggregate.aggregates]
    return not instants_of(aggregate).at_boundaries or not all(isinstance(call, UNORDERED) for call in calls)


def _keeps_order(aggregate: Aggregate, by: tuple[str, ...]) -> bool:
    """Return whether partitioning keeps the order of a boundary's rows: the grouping must begin with `by`."""
    first = tuple(plain(item.expr) for item in aggregate.group[: len(by)])
    return not instants_of(aggregate).at_boundaries or first == by
