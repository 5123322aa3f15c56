"""Decide which conditions may move below an operator: one `match` arm for each law (docs/laws.md).

All rules that move, split or merge selections ask `passes`, so that no rule undoes the work of another.
"""

from __future__ import annotations

from slackwater.algebra.expressions import columns
from slackwater.algebra.lengths import ONE_TUPLE
from slackwater.algebra.nodes import Aggregate, Frequency, Item, Join, Plan, Project, Subquery, Window
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import Expr, Schema
from slackwater.rewrite.change import Context
from slackwater.rewrite.references import bare, is_pure, reads


def passes(condition: Expr, below: Plan, context: Context) -> bool:
    """Return whether a selection by `condition` over `below`, in this context, may move below it."""
    if not is_pure(condition, schema_of(below)):
        return False
    match below:
        case Window():
            return _window(condition, below, context)
        case Frequency():
            return _frequency(condition, below, context)
        case Aggregate(group=group):
            needed = {field.name.lower() for field in reads(condition, schema_of(below))}
            return bool(needed) and needed <= {item.name.lower() for item in group}
        case Project(child=child, items=items):
            return _project(condition, items, child)
        case Subquery(query=Project(child=child, items=items)):
            watched = context.names("row_number") or context.synced or context.endless
            return not watched and _project(condition, items, child)
        case Join():
            return bool(reads(condition, schema_of(below)))
        case _:
            return False


def _window(condition: Expr, window: Window, context: Context) -> bool:
    """Return whether a selection may move below a window.

    A time range holds the same rows whether the selection runs before or after it; a tuple range does not. A condition
    on the partition columns keeps or drops whole partitions, so it may pass a tuple range, too. At time boundaries it
    may not: a tuple range has rows at every boundary until the last row of all partitions has passed, and the condition
    may drop that row. The selection stays if a frequency is above it, because a frequency picks instants over a window
    but rows over a selection. It also stays if sync rows report extents that have rows only before the selection, or if
    a MINUS may have an answer at such a boundary.
    """
    if isinstance(context.parent, Frequency) or context.names("row_number"):
        return False
    if window.every.is_time and (context.synced or context.endless):
        return False
    if window.range.is_time and (window.every.is_time or window.every == ONE_TUPLE):
        return True
    endless = window.every.is_time and not window.range.is_time
    return not endless and _on_partition(condition, window.by, schema_of(window))


def _frequency(condition: Expr, frequency: Frequency, context: Context) -> bool:
    """Return whether a selection may move below a frequency: never below a tuple frequency, which counts all rows.

    A time frequency picks the same last row of a slot without the other partitions; the strict form is local. A
    frequency over a window is part of the window and is moved into it first.
    """
    if isinstance(frequency.child, Window) or context.names("row_number"):
        return False
    if frequency.strict:
        return True
    return frequency.every.is_time and _on_partition(condition, frequency.by, schema_of(frequency))


def _on_partition(condition: Expr, by: tuple[str, ...], schema: Schema) -> bool:
    needed = reads(condition, schema)
    return bool(needed) and needed <= {schema.find(column) for column in by}


def _project(condition: Expr, items: tuple[Item, ...], child: Plan) -> bool:
    """Return whether the items that the condition names have the same value when they are evaluated once more below."""
    needed = {bare(name) for name in columns(condition)}
    used = [item for item in items if item.name.lower() in needed]
    return len(used) == len(needed) and all(is_pure(item.expr, schema_of(child)) for item in used)
