"""The entry of a fused plan: the stream, what Spark itself selects of it, and its punctuations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.columns import schema_of
from slackwater.algebra.expressions import columns
from slackwater.algebra.nodes import Disorder, Plan, Scan, Select, inputs, stated, walk, with_inputs
from slackwater.algebra.schema import Expr
from slackwater.errors import InputError, QueryError, nearest
from slackwater.spark.relation import Relation, column_name, quoted
from slackwater.spark.watermark.control import Reads, clock_of

Inputs = Mapping[str, DataFrame]


@dataclass(frozen=True, slots=True)
class Entry:
    """A controlled stream and the selections that stand right over it."""

    disorder: Disorder
    conditions: tuple[Expr, ...] = ()

    @property
    def scan(self) -> Scan:
        assert isinstance(self.disorder.child, Scan)  # noqa: S101
        return self.disorder.child

    def rows(self, streams: Inputs, reads: Reads) -> DataFrame:
        """The stream's columns under their own names, without the rows that the query does not want.

        The controller sees every row, wanted or not.
        """
        scan, schema = self.scan, schema_of(self.scan)
        columns = {"arrival": scan.arrival, "source": scan.source}
        df = stream_of(scan, streams)
        df = reads.rows(df, scan.event_time, self.disorder.policy, name=scan.stream, **columns)
        df = df.select(*(F.col(quoted(field.name)).alias(column_name(field)) for field in schema))
        for condition in self.conditions:
            df = df.where(Relation(df, schema).column(condition))
        return df.select(*(F.col(quoted(column_name(field))).alias(field.name) for field in schema))

    def clock(self, streams: Inputs) -> DataFrame | None:
        """The punctuations that the stream brings along, if it does."""
        return clock_of(stream_of(self.scan, streams))


def entered(plan: Plan) -> tuple[Entry, Plan]:
    """The entry of a plan over one stream, and the plan without what the entry does.

    Where rows are numbered every row goes in: their numbers count all.
    """
    controls = [node for node in walk(plan) if isinstance(node, Disorder)]
    if len(controls) != 1:
        raise QueryError("SW-305", f"the fused operator reads one stream, not {len(controls)}", hint="run them apart")
    if _numbers(plan):
        return Entry(controls[0]), plan
    conditions: list[Expr] = []
    rest = _without(plan, conditions)
    return Entry(controls[0], tuple(reversed(conditions))), rest


def stream_of(scan: Scan, streams: Inputs) -> DataFrame:
    """The DataFrame of a scan's stream, whatever the case of its name."""
    names = {name.lower(): name for name in streams}
    if scan.stream.lower() not in names:
        raise InputError(
            "SW-432", f"no DataFrame is given for the stream '{scan.stream}'", hint=nearest(scan.stream, streams)
        )
    return streams[names[scan.stream.lower()]]


def _without(plan: Plan, conditions: list[Expr]) -> Plan:
    """The plan without the selections right over its disorder control, which are gathered from the top down."""
    match plan:
        case Disorder():
            return plan
        case Select(child=child, condition=condition) if _is_selected(child):
            conditions.append(condition)
            return _without(child, conditions)
        case _:
            return with_inputs(plan, tuple(_without(each, conditions) for each in inputs(plan)))


def _is_selected(plan: Plan) -> bool:
    return isinstance(plan, Disorder) or (isinstance(plan, Select) and _is_selected(plan.child))


def _numbers(plan: Plan) -> bool:
    """Whether the plan names `row_number`."""
    exprs = [expr for node in walk(plan) for expr in stated(node)]
    return any(name.lower().rpartition(".")[2] == "row_number" for expr in exprs for name in columns(expr))
