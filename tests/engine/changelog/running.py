"""Run the changelog kernel of a plan over feeds, and compare its output with the interpreter's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from tests.engine.running import plain_rows, through_bytes

from slackwater.algebra.nodes import Plan, Scan, walk
from slackwater.engine.changelog.kernel import ChangelogKernel
from slackwater.engine.changelog.log import TupleLog
from slackwater.engine.columns.arrays import LATEST
from slackwater.engine.columns.state import State
from slackwater.semantics import Answer, Change, Feed, Rejected
from slackwater.semantics.arrivals import clocks_of
from slackwater.semantics.values import orders
from slackwater.spark.planner.fused.changelog import changes_of

Given = tuple[dict[str, tuple[Mapping[str, Any], ...]], dict[str, int]]
"""The rows of a batch by stream, and the punctuations that are in force in it."""


class Releasing(tuple[Any, ...]):
    """The batch of a flush that releases every row."""


@dataclass
class Ran:
    """Per batch: the changelog, refused rows by stream, and the state after it."""

    changes: list[Change] = field(default_factory=list)
    lines: list[pa.RecordBatch] = field(default_factory=list)
    refused: list[dict[str, list[tuple[Any, ...]]]] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    logs: list[TupleLog] = field(default_factory=list)


def given_by(plan: Plan, feeds: Mapping[str, Feed], flush: bool = True) -> list[Given]:
    """Return the rows and punctuations of each batch; a flush adds one batch."""
    clocks = clocks_of(plan, feeds, flush)
    count = len(next(iter(clocks.values())).in_force)
    made: list[Given] = []
    for number in range(count):
        rows = {
            name: feeds[name].batches[number].rows if name in feeds and number < len(feeds[name].batches) else ()
            for name in clocks
        }
        made.append((rows, {name: clock.at(number) for name, clock in clocks.items()}))
    if all(clock.everything for clock in clocks.values()):
        made[-1] = Releasing(made[-1])
    return made


def ran(plan: Plan, feeds: Mapping[str, Feed], flush: bool = True, **options: Any) -> Ran:
    """Return the output of a plan's kernel over feeds."""
    return run(ChangelogKernel(changes_of(plan), **options), given_by(plan, feeds, flush))


def run(kernel: ChangelogKernel, batches: Sequence[Given], stored: bool = True) -> Ran:
    """Return the output of a kernel; with `stored`, the state goes through bytes after every batch."""
    made, state = Ran(), kernel.init()
    numbers: dict[tuple[int, ...], int] = {}
    for number, (rows, marks) in enumerate(batches):
        given = {name: record_batch(kernel, name, each) for name, each in rows.items()}
        everything = isinstance(batches[number], Releasing)
        state, lines, refused, log, _ = kernel.step(state, given, marks, everything=everything)
        made.changes += changes_in(log, number, numbers)
        made.lines.append(lines)
        made.refused.append({name: plain_rows(each) for name, each in refused.items()})
        made.logs.append(log)
        if stored:
            state = through_bytes(state)
        made.states.append(state)
    return made


def record_batch(kernel: ChangelogKernel, name: str, rows: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
    schema = kernel.query.inputs[name].schema
    return pa.RecordBatch.from_pylist([{column: row.get(column) for column in schema.names} for row in rows], schema)


def changes_in(log: TupleLog, batch: int, numbers: dict[tuple[int, ...], int]) -> list[Change]:
    """Return the changes of a log with the numbers of their tuples."""
    names = log.born.rows.schema.names
    made = []
    for kind, tuples in (("insert", log.born), ("delete", log.ended)):
        values = plain_rows(tuples.rows)
        for place in range(len(tuples)):
            identity = tuple(int(each[place]) for each in tuples.ids)
            if kind == "insert":
                assert identity not in numbers
            number = numbers.setdefault(identity, len(numbers) + 1)
            end = int(tuples.end[place])
            start = int(log.at[place] if kind == "delete" else tuples.start[place])
            to = start if kind == "delete" else None if end == LATEST else end
            made.append(Change(kind, dict(zip(names, values[place], strict=True)), start, to, batch, number))
    return sorted(made, key=lambda each: (each.valid_from, each.type != "delete"))


def answer_of(plan: Plan, found: Ran) -> Answer:
    """Return the output of a kernel as an answer of the interpreter; the changes are read from the output rows."""
    scans = [node for node in walk(plan) if isinstance(node, Scan)]
    changes = [
        Change(kind, dict(zip(lines.schema.names[3:], values, strict=True)), start, to, batch, 0)
        for batch, lines in enumerate(found.lines)
        for kind, start, to, *values in plain_rows(lines)
    ]
    refused = [
        Rejected(scan.stream, scan.alias, dict(zip([each.name for each in scan.fields], values, strict=True)), batch)
        for scan in scans
        for batch, again in enumerate(found.refused)
        for values in again[scan.stream]
    ]
    return Answer(refused=tuple(refused), changes=tuple(changes))


def table_at(changes: Sequence[Change], time: int) -> Counter[Any]:
    """Return the rows that live at a point in time as a multiset; floats are rounded to 12 digits."""
    come = [change for change in changes if change.valid_from <= time]
    ended = {change.number for change in come if change.type == "delete"}
    live = [
        each
        for each in come
        if each.type == "insert" and each.number not in ended and (each.valid_to is None or each.valid_to > time)
    ]
    return Counter(orders(map(rounded, each.row.values())) for each in live)


def rounded(value: Any) -> Any:
    return float(f"{value:.11e}") + 0.0 if isinstance(value, float) else value


def moments(*logs: Sequence[Change]) -> list[int]:
    """Return every time at which a table may change, and the tick before it."""
    times = {each.valid_from for log in logs for each in log} | {each.valid_to or 0 for log in logs for each in log}
    return sorted(times | {time - 1 for time in times})
