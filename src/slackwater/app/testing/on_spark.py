"""Run cases on Spark: the query as `run` runs it, over the batches and punctuations of the case."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from slackwater.algebra.catalog import LATE, REFUSED, REJECTED, Pipeline, SinkDef
from slackwater.algebra.lengths import TICKS_PER_MS
from slackwater.algebra.nodes import Disorder, Emit, Plan, Policy, Scan, emits_changes, inputs, walk, with_inputs
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import UNKNOWN
from slackwater.app.plans.optimise import optimise
from slackwater.app.readers import readers_of
from slackwater.app.testing.answers import EngineAnswers
from slackwater.app.testing.case import Line, QueryCase
from slackwater.app.testing.cells import EPOCH, read_cell
from slackwater.errors import InputError
from slackwater.semantics import Feed, FeedBatch
from slackwater.spark.io.streams import SparkSession
from slackwater.spark.run.given import GivenStream, run_given
from slackwater.spark.session import local_session

NAME = "case"
EVERY_CHANGE = SinkDef(NAME, "console", {"changelog.netChanges": "false"})
"""The sink of a case's changes. It keeps all changes, not the net change of each batch."""
CHANGE = {"_change_type": "type", "_valid_from": "from", "_valid_to": "to"}


class OnSpark:
    """Answers cases on Spark, in a session that is started for the first case."""

    @cached_property
    def session(self) -> SparkSession:
        return local_session()

    def __call__(self, case: QueryCase) -> EngineAnswers:
        plan = _alike(case.plan)
        pipeline = Pipeline(NAME, EVERY_CHANGE if emits_changes(plan) else None, plan)
        sides = readers_of(pipeline, case.declared.catalog)
        ready = replace(pipeline, plan=optimise(plan, case.declared.views).plan)
        with TemporaryDirectory(prefix="slackwater-case-", ignore_cleanup_errors=True) as folder:
            rows = run_given(self.session, ready, sides, _streams(case), Path(folder), flush=case.flush)
        return _found(case, {name: _in_time(case, lines) for name, lines in rows.items()})


def _alike(plan: Plan) -> Plan:
    """Return the plan with one policy everywhere.

    A case states its punctuations, so the query's policies do not count.
    """
    below = with_inputs(plan, tuple(map(_alike, inputs(plan))))
    return replace(below, policy=Policy()) if isinstance(below, Disorder) else below


def _streams(case: QueryCase) -> dict[str, GivenStream]:
    """Return the streams of a case, each with as many batches as the longest."""
    found = {}
    for scan in _scans(case.plan):
        given = case.feeds.get(scan.stream, Feed()).batches
        batches = [*given, *[FeedBatch()] * (case.batches - len(given))]
        marks = [_milliseconds(each.punctuation, scan.stream) for each in batches]
        found[scan.stream] = GivenStream(scan.fields, [each.rows for each in batches], marks)
    return found


def _milliseconds(ticks: int | None, stream: str) -> int | None:
    if ticks is not None and ticks % TICKS_PER_MS:
        raise InputError(
            "SW-487",
            f"a punctuation of '{stream}' is no whole millisecond, in which Spark's watermark counts",
            expected="P in seconds with at most three decimals",
            hint="change the punctuation, or run the case with --engine interpreter",
        )
    return None if ticks is None else ticks // TICKS_PER_MS


def _scans(plan: Plan) -> list[Scan]:
    return [node for node in walk(plan) if isinstance(node, Scan)]


def _in_time(case: QueryCase, rows: Sequence[tuple[int, Any]]) -> list[tuple[int, Sequence[Any]]]:
    """Return the rows of the batches that a case has, without Spark's own last batch unless it is a flush."""
    last = case.batches
    return [(min(batch, last), tuple(row)) for batch, row in rows if batch < last or case.flush]


def _found(case: QueryCase, rows: Mapping[str, Sequence[tuple[int, Sequence[Any]]]]) -> EngineAnswers:
    tables: dict[str, list[Line]] = {}
    for name, line in _lines(case, rows):
        tables.setdefault(name, []).append(line)
    read = [scan.stream for scan in _scans(case.plan)]
    twice = {scan.alias for scan in _scans(case.plan) if read.count(scan.stream) > 1}
    unknown = frozenset(name for name in case.outputs if name.partition(" ")[::2] in {(LATE, each) for each in twice})
    hidden = frozenset([("result", "time")] if "time" not in _columns(case.plan) else [])
    return EngineAnswers(
        {name: tuple(lines) for name, lines in tables.items() if name not in unknown},
        ordered=False,
        unknown=unknown,
        hidden=hidden,
    )


def _columns(plan: Plan) -> list[str]:
    schema = schema_of(plan)
    return [schema.reference(each) for each in schema]


def _lines(case: QueryCase, rows: Mapping[str, Sequence[tuple[int, Sequence[Any]]]]) -> Iterator[tuple[str, Line]]:
    """Return every row that Spark returned, with its table."""
    for batch, row in rows[NAME]:
        yield from _answered(case, batch, row)
    several = len({scan.stream for scan in _scans(case.plan)}) > 1
    for scan in _scans(case.plan):
        of = f"{NAME}${scan.stream}" if several else NAME
        for kind in (LATE, REJECTED, REFUSED):
            name = f"{kind} {scan.alias}" if f"{kind} {scan.alias}" in case.outputs else kind
            for batch, row in rows.get(f"{of}${kind}", ()):
                yield name, (batch, _side(scan, kind, row))


def _answered(case: QueryCase, batch: int, row: Sequence[Any]) -> Iterator[tuple[str, Line]]:
    """Return a row of the result, the changelog, or the sync tuples, which come among the rows of the result."""
    names = _columns(case.plan)
    if isinstance(case.plan, Emit) and case.plan.sync:
        *row, window_end, is_sync = row
        if is_sync:
            yield "sync", (batch, {"window_end": _plain(window_end, "timestamp")})
            return
    table = "result"
    if emits_changes(case.plan):
        table, names = "changes", [*CHANGE.values(), *names]
    kinds = case.outputs[table]
    yield table, (batch, {name: _plain(value, kinds[name]) for name, value in zip(names, row, strict=True)})


def _side(scan: Scan, kind: str, row: Sequence[Any]) -> dict[str, Any]:
    """Return a late, rejected or refused row by the columns of its stream."""
    if kind == REJECTED:
        return _rejected(scan, row[1])
    values = {field.name: _plain(value, field.type) for field, value in zip(scan.fields, row, strict=False)}
    if kind == LATE:
        late_by, _, missed = row[len(scan.fields) :]
        return {"late_by": late_by, "missed": missed} | values
    return values


def _rejected(scan: Scan, raw: str) -> dict[str, Any]:
    """Return the values of a rejected row, which Spark reports as JSON text."""
    found = json.loads(raw, parse_float=str, parse_int=str)
    kinds = {field.name: field.type for field in scan.fields}
    return {name: _from_json(found[name], kind) if name in found else None for name, kind in kinds.items()}


def _from_json(value: Any, kind: str) -> Any:
    if isinstance(value, str):
        return value if kind == "string" else read_cell(value, kind)
    return read_cell(json.dumps(value), kind)


def _plain(value: Any, kind: str) -> Any:
    """Return a value of Spark in the interpreter's form."""
    if isinstance(value, list):
        return [_plain(each, UNKNOWN) for each in value]
    if not isinstance(value, datetime):
        return value
    # Spark returns a timestamp in the machine's local time, and a TIMESTAMP_NTZ unchanged.
    aware = value.replace(tzinfo=UTC) if kind == "timestamp_ntz" else value.astimezone(UTC)
    return (aware - EPOCH) // timedelta(microseconds=1)
