"""One case: a query, its input as batches with punctuations, and the expected tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slackwater.algebra.catalog import Pipeline, Script
from slackwater.algebra.nodes import Emit, Plan, Scan, emits_changes
from slackwater.algebra.properties.columns import schema_of
from slackwater.app.testing.cells import DURATION, Notation
from slackwater.app.testing.page import FencedBlock
from slackwater.app.testing.tables import Table
from slackwater.semantics import Feed

ADDED_TO_LATE = {"late_by": DURATION, "missed": "bigint"}

Kinds = Mapping[str, str]
"""The type of each column of an output table, in order."""
Line = tuple[int, Mapping[str, Any]]
"""The batch of a row, and its values by column."""


@dataclass(frozen=True, slots=True)
class Expected:
    """An output table as a case shows it: some of the columns, and every row."""

    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    table: Table


@dataclass(frozen=True, slots=True)
class QueryCase:
    """A parsed case. `outputs` holds the columns of every table that its query can fill."""

    block: FencedBlock
    query: str
    pipeline: Pipeline
    declared: Script
    feeds: Mapping[str, Feed]
    flush: bool
    outputs: Mapping[str, Kinds]
    expected: Mapping[str, Expected]
    notation: Notation = Notation.SECONDS
    inputs: tuple[Table, ...] = field(default=(), repr=False)

    @property
    def title(self) -> str:
        return self.block.title

    @property
    def plan(self) -> Plan:
        return self.pipeline.plan

    @property
    def batches(self) -> int:
        """Return the number of input batches, without a flush."""
        return max((len(feed.batches) for feed in self.feeds.values()), default=0)


def outputs_of(plan: Plan, scans: Sequence[Scan]) -> dict[str, dict[str, str]]:
    """Return the columns of every output table of a query.

    If a query reads several streams, each has its own table of late, rejected and refused rows.
    """
    schema = schema_of(plan)
    own = {schema.reference(each): each.type for each in schema}
    found: dict[str, dict[str, str]]
    if emits_changes(plan):
        found = {"changes": {"type": "string", "from": "timestamp", "to": "timestamp"} | own}
    else:
        found = {"result": {"time": "timestamp"} | own}
    aliases = {scan.alias: scan for scan in scans}
    for alias, scan in aliases.items():
        suffix = f" {alias}" if len(aliases) > 1 else ""
        columns = {each.name: each.type for each in scan.fields}
        found[f"late{suffix}"] = columns | {name: kind for name, kind in ADDED_TO_LATE.items() if name not in columns}
        found[f"rejected{suffix}"] = columns
        if scan.change_type:
            found[f"refused{suffix}"] = columns
    if isinstance(plan, Emit) and plan.sync:
        found["sync"] = {"window_end": "timestamp"}
    return found
