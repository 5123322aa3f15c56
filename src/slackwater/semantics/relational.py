"""Select, project, join, aggregate, union, distinct and minus over the relation that a window holds at an instant.

A relation is a list of rows in sequence order. Operators that merge rows (aggregate, distinct, minus) sort their output
by its columns, NULL first, so that a frequency above counts in a defined order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from slackwater.algebra.expressions import parse_expr
from slackwater.algebra.nodes import Aggregate, Item
from slackwater.algebra.schema import Expr, Schema
from slackwater.semantics.aggregates import Fold, add_row, new_fold
from slackwater.semantics.expressions import scope_of, values_of
from slackwater.semantics.rows import Row, Values
from slackwater.semantics.values import orders


def select(rows: Iterable[Row], condition: Expr, schema: Schema) -> list[Row]:
    """Return the rows for which the condition is true (CSQL 4.1); unknown is not true."""
    values = values_of([condition], schema)
    return [row for row in rows if values(row)[0] is True]


def project(rows: Iterable[Row], items: Sequence[Item], schema: Schema) -> list[Row]:
    """Return the select list evaluated over each row."""
    values = values_of([item.expr for item in items], schema)
    return [replace(row, values=values(row)) for row in rows]


def join(left: Sequence[Row], right: Sequence[Row], condition: Expr | None, schema: Schema) -> list[Row]:
    """Return the pairs for which the condition is true, by left row, then right row. A pair is new if either row is."""
    pairs = [pair(one, two) for one in left for two in right]
    return pairs if condition is None else select(pairs, condition, schema)


def pair(one: Row, two: Row) -> Row:
    """Return two rows as one. Both have the same instant; a pair has no row number."""
    marks = replace(one.marks, row_number=None)
    time = max(one.time, two.time)
    return replace(one, values=one.values + two.values, time=time, marks=marks, new=one.new or two.new)


def distinct(rows: Iterable[Row]) -> list[Row]:
    """Return each row once."""
    return in_order(merge_group(group) for group in groups(rows, lambda row: row.values).values())


def minus(left: Iterable[Row], right: Iterable[Row]) -> list[Row]:
    """Return the rows of the left that have no equal row in the right, each once."""
    gone = {orders(row.values) for row in right}
    return [row for row in distinct(left) if orders(row.values) not in gone]


def aggregate(rows: Sequence[Row], node: Aggregate, schema: Schema) -> list[Row]:
    """Return one row per group: the group's items, then its aggregates.

    Without rows there is no group, even without GROUP BY.
    """
    keyed = groups(rows, values_of([item.expr for item in node.group], schema))
    results = [
        replace(merge_group(group), values=key_of(group[0], node.group, schema) + aggregate_group(group, node, schema))
        for group in keyed.values()
    ]
    return in_order(results)


def key_of(row: Row, items: Sequence[Item], schema: Schema) -> Values:
    return values_of([item.expr for item in items], schema)(row)


def aggregate_group(group: Sequence[Row], node: Aggregate, schema: Schema) -> Values:
    """Return the aggregates of a group. With panes, partial aggregates of each pane are merged in order of time."""
    if node.pane is None:
        return tuple(fold.result() for fold in fold_rows(group, node, schema))
    length = node.pane
    panes = [fold_rows(list(rows), node, schema) for _, rows in groupby(group, key=lambda row: row.time // length)]
    for later in panes[1:]:
        for fold, partial in zip(panes[0], later, strict=True):
            fold.merge(partial)
    return tuple(fold.result() for fold in panes[0])


def fold_rows(rows: Sequence[Row], node: Aggregate, schema: Schema) -> list[Fold]:
    """Return one fold per aggregate call, after adding the rows."""
    calls = [parse_expr(item.expr.sql) for item in node.aggregates]
    folds, scope = [new_fold(call) for call in calls], scope_of(schema)
    for row in rows:
        for fold, call in zip(folds, calls, strict=True):
            add_row(fold, call, scope, row)
    return folds


def groups(rows: Iterable[Row], key: Callable[[Row], Values]) -> dict[Any, list[Row]]:
    """Return the rows by key, with keys compared as in GROUP BY."""
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(orders(key(row)), []).append(row)
    return found


def merge_group(group: Sequence[Row]) -> Row:
    """Return the row that represents a group. It is new if any of its rows is."""
    return replace(group[0], new=any(row.new for row in group))


def in_order(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: orders(row.values))
