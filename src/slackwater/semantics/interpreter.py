"""`interpret`: the exact answer of a plan over finite streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from slackwater.algebra.lengths import TICK
from slackwater.algebra.nodes import Emit, Frequency, Mode, Plan, Project, Scan, Select, inputs, walk, with_inputs
from slackwater.algebra.properties.columns import schema_of
from slackwater.semantics.arrivals import clocks_of
from slackwater.semantics.changelog.operators import Changes
from slackwater.semantics.changelog.temporal import Log, Temporal
from slackwater.semantics.feeds import END_OF_TIME, Feed
from slackwater.semantics.final import check_final
from slackwater.semantics.late import late_rows
from slackwater.semantics.rows import Answer, Change, Instant, Result, Row, Sync, Value
from slackwater.semantics.streams import PlanRun, is_jump, window_of


def interpret(plan: Plan, feeds: Mapping[str, Feed], flush: bool = False) -> Answer:
    """Return the answer of a plan. `feeds` has a feed for each stream by name; a stream without one is empty.

    With `flush` one more batch follows the last, in which the punctuation of every stream is the end of time. Under
    EMIT CHANGES it is one tick after the newest row that is not suspect, so that tuples that live then stay alive, and
    suspect rows are released at that time.

    Batch N of the run reads batch N of every feed; a feed that has ended supplies empty batches. If a stream is read
    twice, both readers get the same given punctuations, whatever their policies say.
    """
    root = plan if isinstance(plan, Emit) else Emit(plan)
    root = replace(root, child=separate_operators(root.child))
    scans = [node for node in walk(root) if isinstance(node, Scan)]
    clocks = clocks_of(root, feeds, flush)
    run = PlanRun.over(root, feeds, clocks)
    late = tuple(late_rows(run, root.child, clocks))
    rejected = tuple(row for scan in scans for row in run.stores[id(scan)].rejected)
    if root.mode is Mode.CHANGES:
        log = Changes(run)
        changes = tuple(change_rows(run, root.child, log.log(root.child)))
        return Answer(late=late, rejected=rejected, refused=tuple(log.refused), changes=changes)
    check_final(root)
    names = columns_of(root)
    rows = tuple(Result(name_values(names, row), row.time, row.batch) for row in run.stream(root.child))
    syncs = tuple(sync_rows(run, root.child)) if root.sync else ()
    return Answer(rows, syncs, late, rejected)


def separate_operators(plan: Plan) -> Plan:
    """Return the same plan with every operator as a separate object, because a self-join reads its stream twice."""
    below = tuple(separate_operators(each) for each in inputs(plan))
    return with_inputs(plan, below) if below else replace(plan)


def columns_of(plan: Plan) -> list[str]:
    """Return the names of a result's columns, with the alias if the name is not unique."""
    schema = schema_of(plan)
    return [schema.reference(field) for field in schema.fields]


def name_values(names: list[str], row: Row) -> dict[str, Value]:
    return dict(zip(names, row.values, strict=True))


def change_rows(run: PlanRun, plan: Plan, log: Log) -> Iterator[Change]:
    """Return the changelog so far, ordered by start, then end. A negative tuple is a point, so it comes first."""
    numbers: dict[Temporal, int] = {}
    clock, names = run.clock(plan), columns_of(plan)
    for event in sorted(log, key=lambda event: (event.at, event.positive, event.tuple.end)):
        number = numbers.setdefault(event.tuple, len(numbers) + 1)
        batch = clock.first_beyond(event.at)
        if batch is None:
            continue
        end = event.tuple.end if event.positive else event.at
        kind = "insert" if event.positive else "delete"
        row = name_values(names, event.tuple.row)
        yield Change(kind, row, event.at, None if end == END_OF_TIME else end, batch, number)


def sync_rows(run: PlanRun, plan: Plan) -> Iterator[Sync]:
    """Return one sync tuple at the end of every extent that holds a row, with or without a result (WIN 6)."""
    windows = below_frequencies(plan)
    come = [each for each in run.passed_instants(windows) if holds_row(run, windows, each)]
    for boundary in sorted({each.boundary for each in come if each.boundary is not None}):
        batch = run.clock(plan).first_beyond(boundary - TICK)
        if batch is not None:
            yield Sync(boundary, batch)


def below_frequencies(plan: Plan) -> Plan:
    """Return the part of a query below a frequency on its result. Its instants are the extents of the query."""
    match plan:
        case Select(child=child) | Project(child=child):
            return below_frequencies(child)
        case Frequency(child=child) if not is_jump(plan):
            return below_frequencies(child)
        case _:
            return plan


def holds_row(run: PlanRun, plan: Plan, instant: Instant) -> bool:
    """Return whether any window below an operator holds a row at an instant."""
    if window_of(plan) is not None:
        return bool(run.relation(plan, instant))
    return any(holds_row(run, each, instant) for each in inputs(plan))
