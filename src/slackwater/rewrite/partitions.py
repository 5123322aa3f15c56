"""Compare and merge lists of partition columns."""

from __future__ import annotations

from slackwater.algebra.nodes import Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import Field


def fields_of(by: tuple[str, ...], plan: Plan) -> frozenset[Field]:
    """Return the columns that a list names, whatever their order and spelling."""
    schema = schema_of(plan)
    return frozenset(schema.find(column) for column in by)


def merge_partitions(outer: tuple[str, ...], inner: tuple[str, ...], plan: Plan) -> tuple[str, ...] | None:
    """Return the partition columns of one operator that replaces a frequency over a window, or None if there is none.

    A window without partition columns takes those of its frequency (PARTITIONED BY in FROM partitions the stream).
    Otherwise both must name the same columns.
    """
    if not inner or fields_of(outer, plan) == fields_of(inner, plan):
        return outer
    return None
