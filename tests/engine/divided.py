"""What Spark does around the engine, done by the interpreter: columns computed before it, the select list after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from slackwater.algebra.nodes import Select
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import PSEUDO_COLUMNS
from slackwater.semantics import Feed
from slackwater.semantics.expressions import holds, value_of
from slackwater.semantics.rows import Marks, Row
from slackwater.spark.operator.entry import Entry
from slackwater.spark.planner.fused.split import After


def computed_feeds(entries: Sequence[Entry], feeds: Mapping[str, Feed]) -> dict[str, Feed]:
    """Return the streams as the core reads them."""
    by_stream = {entry.scan.stream: entry for entry in entries}
    return {name: computed_feed(by_stream[name], feed) for name, feed in feeds.items() if name in by_stream}


def computed_feed(entry: Entry, feed: Feed) -> Feed:
    batches = (replace(batch, rows=tuple(computed_rows(entry, batch.rows))) for batch in feed.batches)
    return replace(feed, batches=tuple(batches))


def computed_rows(entry: Entry, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows that meet the conditions, with the columns that the engine reads."""
    schema = schema_of(entry.scan)
    given = [Row(tuple(row.get(field.name) for field in schema), 0) for row in rows]
    met = [row for row in given if all(holds(condition, schema, row) for condition in entry.conditions)]
    return [{item.name: value_of(item.expr, schema, row) for item in entry.columns} for row in met]


def finished_row(after: After | None, values: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return a row of the core after the select list and HAVING; None if HAVING leaves it out."""
    if after is None:
        return tuple(values)
    names = [*after.columns.values(), *after.marks.values()]
    found = dict(zip(names, values, strict=True))
    marks = Marks(**{mark: found[name] for mark, name in after.marks.items() if mark in PSEUDO_COLUMNS})
    own = (found.get(after.columns.get(place, "")) for place in range(len(after.schema)))
    row = Row(tuple(own), 0, marks=marks)
    for step in after.steps:
        schema = schema_of(step.child)
        if isinstance(step, Select):
            if not holds(step.condition, schema, row):
                return None
        else:
            row = replace(row, values=tuple(value_of(item.expr, schema, row) for item in step.items))
    return row.values
