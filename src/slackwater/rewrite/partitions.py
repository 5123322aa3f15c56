"""When two lists of partition columns take a stream apart in the same way."""

from __future__ import annotations

from slackwater.algebra.columns import schema_of
from slackwater.algebra.nodes import Plan
from slackwater.algebra.schema import Field


def fields_of(by: tuple[str, ...], plan: Plan) -> frozenset[Field]:
    """The columns that a list names, whatever their order and spelling."""
    schema = schema_of(plan)
    return frozenset(schema.find(column) for column in by)


def merged(outer: tuple[str, ...], inner: tuple[str, ...], plan: Plan) -> tuple[str, ...] | None:
    """The partition columns of a frequency over a window as one operator's; None where there is no such operator.

    A window that is not taken apart takes over the parts of its frequency (PARTITIONED BY in FROM takes the stream
    apart); otherwise both must name the same columns.
    """
    if not inner or fields_of(outer, plan) == fields_of(inner, plan):
        return outer
    return None
