"""Describe what runs each operator of a plan, and Spark's own plan: for `explain --physical`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from slackwater.algebra.catalog import Pipeline
from slackwater.algebra.nodes import (
    Aggregate,
    Disorder,
    Distinct,
    Emit,
    Frequency,
    Join,
    Minus,
    Plan,
    Project,
    Scan,
    Select,
    Subquery,
    Union,
    View,
    Window,
    emits_changes,
    inputs,
)
from slackwater.algebra.properties.monotonicity import Class, class_of
from slackwater.engine.changelog.living import STRUCTURES
from slackwater.spark.batches import DeliveredBatch
from slackwater.spark.planner.fused.fuse import describe, is_chained
from slackwater.spark.planner.fused.split import split
from slackwater.spark.planner.plan import compile_plan, is_entry, scan_of, session_of
from slackwater.spark.planner.ways import Host, copies_of, way_of
from slackwater.spark.run.sides import Beside
from slackwater.spark.run.views.plans import is_log
from slackwater.spark.shim.driver import explain
from slackwater.spark.watermark.hosts import ABOUT, GAUGE, host_of


@dataclass(frozen=True, slots=True)
class Placement:
    """An operator, its depth in the plan, who runs it (`scan`, `control`, `native` or `fused`), and how."""

    node: Plan
    depth: int
    where: str
    how: str


@dataclass(frozen=True, slots=True)
class Physical:
    """The physical plan of a query: its host and why, the placement of each operator, and Spark's own plan."""

    host: Host
    reason: str
    operators: tuple[Placement, ...]
    spark: str


def physical(plan: Plan, streams: Mapping[str, DataFrame]) -> Physical:
    """Compile a plan over these streams and return its physical plan; no query is started."""
    host = host_of(session_of(streams))
    way = way_of(plan, placed=host == GAUGE)
    reason = way.reason
    if way.host is Host.FUSED:
        computed = ", ".join(split(plan).computed)
        reason = f"{reason}; {describe(plan, chain=is_chained(streams))}"
        reason += f"; Spark computes before it: {computed}" if computed else ""
    return Physical(way.host, reason, placements(plan, host), explain(compile_plan(plan, streams)))


def placements(plan: Plan, control: str = GAUGE) -> tuple[Placement, ...]:
    """Return who runs each operator of a plan, in pre-order. `control` names the host of the controllers."""
    host = way_of(plan, placed=control == GAUGE).host
    after = split(plan).after if host is Host.FUSED else None
    steps = after.steps if after else ()
    placed = _place_operators(plan, host, emits_changes(plan))
    return tuple(_after(each) if each.node in steps else _with_control_host(each, control) for each in placed)


def _with_control_host(placed: Placement, control: str) -> Placement:
    """Add the host of the controllers to the placement of a disorder control; return any other one as it is."""
    if not isinstance(placed.node, Disorder) or is_log(scan_of(placed.node).stream):
        return placed
    return replace(placed, how=f"{placed.how}; host: {ABOUT[control]}")


def _after(placed: Placement) -> Placement:
    """Return the placement of an operator that Spark runs over the output of the engine."""
    return replace(placed, where="native", how="row by row, over what the engine yields")


def physical_beside(entry: Beside, reader: Pipeline, streams: Mapping[str, DataFrame]) -> Physical:
    """Return the physical plan of a query over late, rejected or refused rows: an output of the query they are of."""
    reason = f"an output of the query of '{entry.pipeline.name}', of the same batches"
    operators = tuple(
        Placement(each.node, each.depth, *_beside(each.node, entry))
        for each in _place_operators(reader.plan, Host.NATIVE, False)
    )
    rows = entry.read_by(reader, entry.rows(streams), DeliveredBatch(0, ""))
    return Physical(Host.NATIVE, reason, operators, explain(rows))


def _beside(plan: Plan, entry: Beside) -> tuple[str, str]:
    match plan:
        case Scan():
            return "scan", entry.how
        case Disorder():
            return "native", "nothing to control: the rows are final as they are"
        case Emit():
            return "native", "batch by batch, each once"
        case _:
            return "native", "row by row"


def _place_operators(plan: Plan, host: Host, changes: bool, depth: int = 0) -> Iterator[Placement]:
    where, how = _how(plan, host, changes)
    yield Placement(plan, depth, where, how)
    for each in inputs(plan):
        yield from _place_operators(each, host, changes, depth + 1)


def _how(plan: Plan, host: Host, changes: bool) -> tuple[str, str]:
    match plan:
        case Scan(stream=stream) if is_log(stream):
            return "scan", "what the view's own query has written, as it comes"
        case Disorder(child=Scan(stream=stream)) if is_log(stream):
            return "control", "rows come in order, with the punctuations of the view"
        case Scan():
            return "scan", "read by Spark; control reads the clocks of its rows as they pass"
        case Disorder():
            return "control", "sees every row of the stream; its punctuations are Spark's watermark"
        case Select() if is_entry(plan):
            return "scan", "moved below control: what it leaves out is never held"
        case Project() if is_entry(plan):
            return "scan", "moved below control: what it leaves out is never held"
        case Emit():
            return str(host), _emitted(plan)
        case Aggregate() | Distinct() | Join() | Minus() if host is Host.FUSED and changes:
            return "fused", f"in the kernel, which keeps {_kept(plan)}"
        case _ if host is Host.FUSED:
            return "fused", "in the kernel"
        case _:
            return "native", _native(plan)


def _kept(plan: Plan) -> str:
    """Return the structures that a changelog operator keeps, one for each input, by the class of the input."""
    if isinstance(plan, Aggregate) and class_of(plan.child) is Class.MONOTONIC:
        return "a tally per group"
    return ", ".join(STRUCTURES[int(class_of(each))].name for each in inputs(plan))


def _emitted(plan: Emit) -> str:
    return "sync rows from a second reading of the windows" if plan.sync else "append mode"


def _native(plan: Plan) -> str:
    match plan:
        case Window() | Frequency():
            copies = copies_of(plan)
            return "every row in one extent" if copies == 1 else f"every row copied into {copies} extents"
        case Aggregate():
            return "an aggregate by boundary and group, which yields a boundary when the watermark has passed it"
        case Distinct():
            return "an aggregate by boundary and all columns, or dropDuplicates where rows are final already"
        case Join():
            return "both sides closed, collected by boundary and equal columns in one aggregate, and paired"
        case Union():
            return "both sides closed, then a union"
        case Minus():
            return "both sides in one aggregate by boundary and all columns"
        case Subquery() | View():
            return "its rows go on in the same batch, under the same watermark"
        case Select() | Project():
            return "row by row"
        case _:
            return ""
