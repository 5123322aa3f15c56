"""The events of a run that displays and logs receive: its pipelines, and what each batch did."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from slackwater.algebra.catalog import Pipeline
from slackwater.algebra.lengths import TICKS_PER_MS
from slackwater.algebra.nodes import Plan, Scan, Window, walk
from slackwater.app.monitor.board import Event
from slackwater.app.render.svg import graph_of
from slackwater.spark.run.physical import placements
from slackwater.spark.run.progress import Progress
from slackwater.spark.run.record import record_of


def events_of(progress: Progress) -> list[Event]:
    """Return the events of a batch: its record, and a row of its result if there is one."""
    rows = [json.loads(progress.answer)] if progress.answer else []
    said: list[Event] = [record_of(progress)]
    return [*said, {"kind": "rows", "pipeline": progress.pipeline, "rows": rows}] if rows else said


def about(pipeline: Pipeline, trigger: float = 0.0) -> Event:
    """Return the event of a pipeline that starts: its plan, who runs it, its windows and its sink.

    It has no options of sources or sinks, and so no secrets.
    """
    placed = placements(pipeline.plan)
    sink = f"{pipeline.sink.name} ({pipeline.sink.format})" if pipeline.sink else "shown"
    return {
        "kind": "pipeline",
        "pipeline": pipeline.name,
        "graph": graph_of(pipeline.plan, [each.where for each in placed], sink),
        "windows": windows_of(pipeline.plan),
        "trigger": trigger,
    }


def windows_of(plan: Plan) -> dict[str, list[tuple[int, int]]]:
    """Return the time windows over each stream of a plan: their length and their slide, in ms."""
    found: dict[str, list[tuple[int, int]]] = {}
    for node in walk(plan):
        if isinstance(node, Window) and node.range.is_time and node.every.is_time:
            sizes = max(1, node.range.amount // TICKS_PER_MS), max(1, node.every.amount // TICKS_PER_MS)
            for scan in walk(node):
                if isinstance(scan, Scan):
                    found.setdefault(scan.stream, []).append(sizes)
    return found


def answers(pipeline: str, rows: Sequence[Any]) -> Event:
    """Return the event of result rows that are shown, with values as text, which any reader can show."""
    shown: list[Mapping[str, str]] = [
        {name: _text(value) for name, value in zip(row.__fields__, row, strict=True)} for row in rows
    ]
    return {"kind": "rows", "pipeline": pipeline, "rows": shown}


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
