"""Which conditions pass below which operator: one arm, one law (docs/laws.md).

`passes` says whether a selection over an operator may stand below it. The rules that move selections, and the two
that take them apart and put them together, all ask here, so that none undoes what another did.
"""

from __future__ import annotations

from slackwater.algebra.columns import schema_of
from slackwater.algebra.expressions import columns
from slackwater.algebra.lengths import ONE_TUPLE
from slackwater.algebra.nodes import Aggregate, Frequency, Item, Join, Plan, Project, Subquery, Window
from slackwater.algebra.schema import Expr, Schema
from slackwater.rewrite.change import Context
from slackwater.rewrite.references import bare, is_pure, reads


def passes(condition: Expr, below: Plan, context: Context) -> bool:
    """Whether a selection by `condition` over `below`, in this context, may stand further down."""
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
    """A range of time holds the same rows whether the others are dropped before it or after; a count does not.

    Parts are kept or dropped whole by a condition on the partition columns; but the last rows of a part are there at
    every boundary until the last row of all parts has passed, which the condition may drop. A frequency over a window
    picks instants, over a selection rows: so the selection between them stays. A sync row tells of an extent
    that has rows before the selection, and MINUS may have an answer at such a boundary.
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
    """Which row is the n-th depends on all rows before it: never below a tuple frequency.

    The last row of a slot is the same without the other partitions; the strict form is local. A frequency over a
    window is part of the window, and is moved into it first.
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
    """What a name stands for is evaluated once more below: it must have the same value there."""
    needed = {bare(name) for name in columns(condition)}
    used = [item for item in items if item.name.lower() in needed]
    return len(used) == len(needed) and all(is_pure(item.expr, schema_of(child)) for item in used)
