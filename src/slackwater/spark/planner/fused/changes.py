"""Run the changelog of a query on Spark: one operator over all its streams, or several around columns of Spark's.

The tree of a changelog is cut at each step that Spark computes (`Compute`). What stands above such a step, down to the
next ones, is one operator of Spark's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial, reduce

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from slackwater.algebra.nodes import Disorder, Plan, Policy, Scan, walk
from slackwater.algebra.policies import effective
from slackwater.engine import plan as engine
from slackwater.engine.changelog.log import IDENTITY, LOG_COLUMNS
from slackwater.engine.changelog.partitioning import partitioning as partition_tree
from slackwater.engine.changelog.profiles import check_upserts
from slackwater.errors import QueryError
from slackwater.spark.operator.blobs import BUCKET
from slackwater.spark.operator.entry import Entry, types_in
from slackwater.spark.operator.host import (
    HostInput,
    add_columns,
    count_rows,
    digest_of,
    output_structs,
    pack_again,
    pack_ends,
    pack_streams,
    result_rows_by_bucket,
    run_kernel,
)
from slackwater.spark.operator.kernel import RESULT, HostedChangelog, changelog_kernel_of, output_of
from slackwater.spark.operator.operator import END
from slackwater.spark.operator.writing import DEFAULT, Form, profile_schema, to_profile
from slackwater.spark.planner.fused.after import After, finish
from slackwater.spark.planner.fused.chains import input_of, undotted
from slackwater.spark.planner.fused.changelog import changes_of, result_names
from slackwater.spark.planner.fused.edges import key_under
from slackwater.spark.planner.fused.split import Split, split, with_stand_ins
from slackwater.spark.planner.fused.stages import Partitioning, Stages, expressions_of_spark, partitioning
from slackwater.spark.relation import dataframe_of, quote
from slackwater.spark.watermark.control import Reads

Inputs = Mapping[str, DataFrame]
Buckets = Mapping[str, tuple[str, ...]]
"""The columns of each input that define its buckets."""


def changelog(plan: Plan, streams: Inputs, reads: Reads, form: Form = DEFAULT) -> DataFrame:
    """Return the changelog as a streaming DataFrame, to be written in append mode; of batch DataFrames, of all rows."""
    return with_refused(plan, streams, reads, form, RESULT, {}).select(f"{RESULT}.*")


def with_refused(
    plan: Plan, streams: Inputs, reads: Reads, form: Form, result: str, refused: Mapping[str, str]
) -> DataFrame:
    """Return the changelog and the rows that streams refused, from one operator: each kind in a column of its own.

    `result` names the column of the changelog, `refused` the column of each stream whose refused rows are wanted.
    """
    names = {RESULT: result} | {output_of(stream): column for stream, column in refused.items()}
    divided = split_changelog(plan)
    kernel, blobs = _run(divided, streams, reads, None if divided.after else form, tuple(names))
    rows = output_structs(blobs, {name: kernel.outputs[name] for name in names})
    if divided.after:
        rows = _finish_and_write(rows, divided.after, plan, form)
    return rows.select(*(F.col(quote(name)).alias(column) for name, column in names.items()))


def _finish_and_write(rows: DataFrame, after: After, plan: Plan, form: Form) -> DataFrame:
    """Return the changelog after Spark has evaluated the select list and HAVING, in the profile of a form."""
    own, others = rows.select(f"{RESULT}.*").columns, rows.columns[1:]
    flat = rows.select(*(F.col(f"{RESULT}.{quote(name)}").alias(name) for name in own), *map(quote, others))
    made = finish(flat, after, result_names(plan), [*LOG_COLUMNS, *others])
    arrow = to_arrow_schema(made.schema)
    columns = pa.schema([arrow.field(name) for name in result_names(plan)])
    key = key_under(plan, result_names(plan))
    lines = profile_schema(columns, form, key)
    schema = pa.schema([pa.field(RESULT, pa.struct(list(lines))), *(arrow.field(name) for name in others)])
    return made.mapInArrow(to_profile(schema, columns.names, form, key), from_arrow_schema(schema))


def _run(
    divided: Split, streams: Inputs, reads: Reads, form: Form | None, wanted: tuple[str, ...]
) -> tuple[HostedChangelog, DataFrame]:
    """Return the kernel of the topmost operator, and its outputs as blobs."""
    rows = {entry.scan.stream: entry.rows(streams, reads) for entry in divided.entries}
    core = divided.with_types({name: types_in(each) for name, each in rows.items()}).core
    document, by = _engine_plan(core)
    scans = {node.stream: node for node in walk(core) if isinstance(node, Scan)}

    def read(entry: Entry, *, again: bool) -> HostInput:
        stream = entry.scan.stream
        own = entry.rows(streams, None) if again else rows[stream]
        names = input_of(scans[stream]).names
        return HostInput(own.select(*map(quote, names)), entry.clock(streams, reads), by.get(stream, ()))

    inputs = {entry.scan.stream: partial(read, entry) for entry in divided.entries}
    whole, ends = engine.decode(document), pack_ends(_ends(divided, streams))
    topmost, blobs = _CutTree(whole, by, inputs, ends).operator(whole.root)
    document = engine.encode(topmost)
    make = partial(changelog_kernel_of, document, form)
    about = digest_of(document, asdict(form) if form else None, by)
    out = run_kernel(make, [*blobs, *ends], about, wanted)
    return make(), count_rows(out, [output_of(name) for name, scan in scans.items() if scan.change_type])


@dataclass(frozen=True, slots=True)
class _CutTree:
    """Runs the operators of a changelog's tree, which is cut where Spark computes columns.

    `streams` returns an input by its name, with `again` apart from the controller: each operator reads the streams that
    it needs.
    """

    plan: engine.EnginePlan
    by: Buckets
    streams: Mapping[str, Callable[..., HostInput]]
    ends: Sequence[DataFrame]
    seen: set[str] = field(default_factory=set)

    def operator(self, root: engine.Node) -> tuple[engine.EnginePlan, list[DataFrame]]:
        """Return the plan of the operator from a root down to the next cuts, and its inputs as blobs."""
        blobs: list[DataFrame] = []

        def run_below(name: str, step: engine.Compute, child: engine.Node) -> engine.Input:
            below, given = self.operator(child)
            document = engine.encode(below)
            make = partial(changelog_kernel_of, document, None, handed=True)
            rows = result_rows_by_bucket(make, [*given, *self.ends], digest_of(document, None, self.by))
            computed = add_columns(rows, map(undotted, rows.columns), step)
            blobs.extend(pack_again(computed, next(iter(self.by.values()), ()), name))
            names = [*rows.columns, *(item.name for item in step.items)]
            kinds = zip(names, types_in(computed).values(), strict=True)
            return input_from([each for each in kinds if each[0] != BUCKET], below)

        own = cut_tree(self.plan, root, run_below)
        read = {name: given(again=name in self.seen) for name, given in self.streams.items() if name in own.inputs}
        self.seen.update(read)
        return own, [*(pack_streams(read) if read else ()), *blobs]


def cut_tree(
    plan: engine.EnginePlan, root: engine.Node, input_below: Callable[[str, engine.Compute, engine.Node], engine.Input]
) -> engine.EnginePlan:
    """Return the plan of one operator: from a root of a changelog's tree down to the next columns that Spark computes.

    `input_below` returns the input, by its name, that has these columns of the operator below.
    """
    inputs: dict[str, engine.Input] = {}

    def cut(node: engine.Node) -> engine.Node:
        if not isinstance(node, engine.Over) or not isinstance(node.step, engine.Compute):
            return engine.with_children(node, *map(cut, engine.children(node)))
        name = f"{RESULT}.{len(inputs)}"
        inputs[name] = input_below(name, node.step, node.child)
        return engine.Source(node.edge, name)

    made, *beside = map(cut, (root, *_trees_beside(plan, root)))
    read = {
        node.input
        for tree in (made, *beside)
        for node in engine.walk(tree)
        if isinstance(node, engine.Source | engine.Chained)
    }
    streams = {name: given for name, given in plan.inputs.items() if name in read}
    return engine.EnginePlan({**streams, **inputs}, made, tuple(beside))


def _trees_beside(plan: engine.EnginePlan, root: engine.Node) -> list[engine.Node]:
    """Return the trees that an operator needs beside its own.

    These are the other windows of its meetings, and for the topmost operator sources whose refused rows it returns.
    """
    own = list(_walk_uncut(root))
    meetings = {engine.meeting_of(node) for node in own} - {None}
    met = [
        node
        for node in engine.walk(plan.root)
        if engine.meeting_of(node) in meetings and all(node is not each for each in own)
    ]
    read = {node.input for node in own if isinstance(node, engine.Source)}
    edited = [name for name, given in plan.inputs.items() if given.change_type and name not in read]
    return [*met, *(engine.Source(engine.Edge(4), name) for name in edited if root is plan.root)]


def _walk_uncut(node: engine.Node) -> Iterator[engine.Node]:
    """Return the operators from a node down to the next columns that Spark computes."""
    yield node
    if not isinstance(node, engine.Over) or not isinstance(node.step, engine.Compute):
        for each in engine.children(node):
            yield from _walk_uncut(each)


def input_from(columns: Sequence[tuple[str, str]], below: engine.EnginePlan) -> engine.Input:
    """Return the input with these columns, by name and type, of the rows that another operator returns."""
    ids = sum(name.startswith(IDENTITY) for name, _ in columns)
    return engine.Input(tuple(columns), "", ids=ids, slots=engine.slots_of(below.root, below.inputs))


def _ends(divided: Split, streams: Inputs) -> DataFrame | None:
    """Return the newest time of each stream of a batch query; None for a streaming query."""
    given = [(entry, dataframe_of(entry.scan, streams)) for entry in divided.entries]
    if all(rows.isStreaming for _, rows in given):
        return None
    return reduce(DataFrame.union, [newest_time(entry, rows) for entry, rows in given])


def newest_time(entry: Entry, rows: DataFrame) -> DataFrame:
    """Return one row with the newest event time that is not suspect, in microseconds, whatever WHERE selects.

    A row without an arrival time is never suspect, since nothing says when it came. If all rows are suspect, the latest
    arrival is the only time that can be trusted.
    """
    scan, skew = entry.scan, effective(entry.disorder.policy).skew or 0
    time = F.unix_micros(F.col(quote(scan.event_time)).cast("timestamp"))
    if scan.arrival is None:
        return rows.agg(F.max(time).alias(END))
    arrival = F.unix_micros(F.col(quote(scan.arrival)).cast("timestamp"))
    honest = F.when(F.coalesce(time - arrival <= skew, F.lit(True)), time)
    return rows.agg(F.coalesce(F.max(honest), F.max(arrival)).alias(END))


# what is known without Spark


def refusal(plan: Plan) -> str | None:
    """Return why a query's changelog cannot be computed; None if it can."""
    try:
        _kernel_without_spark(split_changelog(plan), DEFAULT)
    except QueryError as refused:
        return str(refused).splitlines()[0]
    return None


def check_form(plan: Plan, form: Form) -> None:
    """Raise an error if the changelog of a plan cannot be written in a form."""
    divided = split_changelog(plan)
    _kernel_without_spark(divided, None if divided.after else form)
    if divided.after:
        check_upserts(form.upserts, key_under(plan, result_names(plan)))


def describe_changelog(plan: Plan) -> Stages:
    """Return how the operators of a changelog are partitioned, and why."""
    divided = split_changelog(plan)
    document, by = _engine_plan(with_stand_ins(divided.core))
    nodes = reversed(list(engine.walk(engine.decode(document).root)))
    computed = [node.step for node in nodes if isinstance(node, engine.Over) and isinstance(node.step, engine.Compute)]
    return Stages((_describe_buckets(divided, by),), tuple(range(len(computed))), expressions_of_spark(computed))


def _describe_buckets(divided: Split, by: Buckets) -> Partitioning:
    if not by or not all(by.values()):
        return Partitioning((), "no column that every operator can be taken apart by")
    known = {(entry.scan.stream, item.name): item.expr.sql for entry in divided.entries for item in entry.columns}
    columns = tuple(f"{name}.{known.get((name, column), column)}" for name, own in by.items() for column in own)
    return Partitioning(columns, "no operator needs rows of two of them together")


def _kernel_without_spark(divided: Split, form: Form | None) -> HostedChangelog:
    """Return the kernel of a changelog; columns that only Spark can type have another type."""
    return changelog_kernel_of(_engine_plan(with_stand_ins(divided.core))[0], form)


@lru_cache(maxsize=64)
def _engine_plan(core: Plan) -> tuple[str, Buckets]:
    """Return the engine's plan of a core, encoded, and the columns of each input that define its buckets, if any."""
    plan = changes_of(core)
    if isinstance(plan.root, engine.Chained) and plan.root.lifetime is not None:
        return engine.encode(plan), {plan.root.input: partitioning(plan.root.chain).columns}
    return engine.encode(plan), partition_tree(plan) or {}


def split_changelog(plan: Plan) -> Split:
    """Divide a plan between Spark and the engine; raise an error if it reads a stream under two policies."""
    policies: dict[str, Policy] = {}
    for control in (node for node in walk(plan) if isinstance(node, Disorder)):
        assert isinstance(control.child, Scan)  # noqa: S101
        name = control.child.stream
        if policies.setdefault(name, control.policy) != control.policy:
            raise QueryError(
                "SW-308",
                f"the changelog reads '{name}' under two disorder policies",
                expected="one policy for each stream",
                hint="state the same DRATIO, SLACK or BSIZE in both brackets",
            )
    return split(plan)
