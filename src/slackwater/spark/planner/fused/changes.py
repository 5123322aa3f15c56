"""EMIT CHANGES on Spark: the changelog of a query, from one operator that hosts its kernel over all its streams."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial, reduce

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from slackwater.algebra.nodes import Disorder, Plan, Policy, Scan, walk
from slackwater.algebra.policies import effective
from slackwater.engine.changelog.kernel import ChangelogKernel
from slackwater.engine.changelog.log import LOG_COLUMNS, handed_rows, rows_of
from slackwater.engine.changelog.partitioning import partitioning as cuts_of
from slackwater.engine.changelog.profiles import PROFILES, check_profile, check_upserts
from slackwater.engine.columns.arrays import EARLIEST
from slackwater.engine.columns.state import State
from slackwater.engine.plan import Chained, Compute, EnginePlan, Input, Node, decode, encode
from slackwater.errors import QueryError
from slackwater.spark.operator.blobs import BUCKET, BUCKETS
from slackwater.spark.operator.entry import Entry, types_in
from slackwater.spark.operator.host import (
    HostInput,
    count_rows,
    ended,
    entered,
    handed_on,
    stepped,
    tagged,
    taken_in,
)
from slackwater.spark.operator.kernel import RESULT, Batches
from slackwater.spark.operator.operator import END
from slackwater.spark.operator.writing import profile_schema, to_profile
from slackwater.spark.options import CHANGELOG, Option, OptionCodes, OptionKind, Options, OptionTable
from slackwater.spark.planner.fused.changelog import changes_of, result_names
from slackwater.spark.planner.fused.cutting import Stages, computes, handed_input, part, texts
from slackwater.spark.planner.fused.edges import key_under
from slackwater.spark.planner.fused.finish import finished
from slackwater.spark.planner.fused.lowering import input_of, undotted
from slackwater.spark.planner.fused.partitioning import Partitioning
from slackwater.spark.planner.fused.partitioning import partitioning as columns_of
from slackwater.spark.planner.fused.split import COMPUTED, After, Split, split, with_stand_ins
from slackwater.spark.relation import dataframe_of, quote
from slackwater.spark.watermark.control import Reads

Inputs = Mapping[str, DataFrame]
REFUSED = "refused"
NET, PROFILE, UPDATES, UPSERTS = OPTIONS = (
    "changelog.netchanges",
    "changelog.profile",
    "changelog.updates",
    "changelog.upserts",
)
"""The options of a sink that say how a changelog is written, in lower case: Spark's options have none."""
TABLE = OptionTable(
    "changelog",
    (
        Option(
            "changelog.netChanges", OptionKind.FLAG, "true", "Whether a batch tells the net change of each row alone."
        ),
        Option("changelog.profile", OptionKind.TEXT, "changes", "How a change is written.", PROFILES),
        Option(
            "changelog.updates", OptionKind.FLAG, "false", "Whether a delete and an insert of a key are one update."
        ),
        Option("changelog.upserts", OptionKind.FLAG, "false", "Whether an update tells the new row alone."),
    ),
    OptionCodes("SW-463", "SW-459"),
)


@dataclass(frozen=True, slots=True)
class Form:
    """How a changelog is written: each batch as its `net` change or in full, in which profile, updates as one row."""

    net: bool = True
    profile: str = "changes"
    upserts: bool = False


DEFAULT = Form()


class ChangesKernel:
    """A changelog's kernel, as the host wants it."""

    def __init__(self, document: str, form: Form | None, *, handed: bool = False) -> None:
        """Without a form the changelog is given as rows that Spark can change before it is written.

        With `handed`, another operator reads these rows.
        """
        self.form, self.handed = form, handed
        plain = form or Form(net=False)
        self.kernel = ChangelogKernel(decode(document), plain.net, plain.profile, plain.upserts)
        self._outputs = {name: batch.schema for name, batch in self.step(self.init(), {}, EARLIEST)[1].items()}

    @property
    def inputs(self) -> dict[str, pa.Schema]:
        return {name: given.schema for name, given in self.kernel.query.inputs.items()}

    @property
    def outputs(self) -> dict[str, pa.Schema]:
        return self._outputs

    def init(self) -> State:
        return self.kernel.init()

    def read(self, fetch: Callable[[str], bytes]) -> State:
        return State.read(fetch)

    def take_back(self, state: State, punctuation: int) -> State:
        """A flush of a changelog takes time no further than its newest row: nothing has to be taken back."""
        return state

    def step(
        self, state: State, batches: Batches, punctuation: int, *, everything: bool = False
    ) -> tuple[State, Batches]:
        after, changelog, refused, log, now = self.kernel.step(state, batches, punctuation, everything=everything)
        plain = handed_rows(log) if self.handed else rows_of(log, now)
        result = plain if self.form is None else changelog
        return after, {RESULT: result} | {output_of(name): _declared(rows) for name, rows in refused.items()}


def _declared(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows without the columns that were computed of them."""
    return rows.select([name for name in rows.schema.names if not name.startswith(COMPUTED)])


def output_of(stream: str) -> str:
    """The output of the rows that a stream with CHANGELOG BY refuses."""
    return f"{REFUSED}/{stream}"


def refused_by(metrics: Mapping[str, int | None]) -> dict[str, int]:
    """How many rows each stream refused, by what Spark's progress counted under the names of outputs.

    >>> refused_by({"refused/Edits": 3, "refused/Other": None})
    {'Edits': 3, 'Other': 0}
    """
    return {output.removeprefix(output_of("")): rows or 0 for output, rows in metrics.items()}


def changelog(plan: Plan, streams: Inputs, reads: Reads, form: Form = DEFAULT) -> DataFrame:
    """A streaming DataFrame of the changelog, to be written in append mode. On batch DataFrames, that of all rows."""
    return with_refused(plan, streams, reads, form, RESULT, {}).select(f"{RESULT}.*")


def with_refused(
    plan: Plan, streams: Inputs, reads: Reads, form: Form, result: str, refused: Mapping[str, str]
) -> DataFrame:
    """The changelog and the rows that streams refused, from one operator: each kind in a column of its own.

    `result` names that of the changelog, `refused` those of each stream whose rows are wanted.
    """
    names = {RESULT: result} | {output_of(stream): column for stream, column in refused.items()}
    divided = _divided(plan)
    kernel, blobs = _hosted(divided, streams, reads, None if divided.after else form, tuple(names))
    rows = tagged(blobs, {name: kernel.outputs[name] for name in names})
    if divided.after:
        rows = _written(rows, divided.after, plan, form)
    return rows.select(*(F.col(quote(name)).alias(column) for name, column in names.items()))


def _written(rows: DataFrame, after: After, plan: Plan, form: Form) -> DataFrame:
    """The changelog after the select list and HAVING, which Spark evaluates."""
    own, others = rows.select(f"{RESULT}.*").columns, rows.columns[1:]
    flat = rows.select(*(F.col(f"{RESULT}.{quote(name)}").alias(name) for name in own), *map(quote, others))
    made = finished(flat, after, result_names(plan), [*LOG_COLUMNS, *others])
    arrow = to_arrow_schema(made.schema)
    columns = pa.schema([arrow.field(name) for name in result_names(plan)])
    key = key_under(plan, result_names(plan))
    about = form.profile, key, form.net, check_upserts(form.upserts, key)
    lines = profile_schema(columns, *about)
    schema = pa.schema([pa.field(RESULT, pa.struct(list(lines))), *(arrow.field(name) for name in others)])
    return made.mapInArrow(to_profile(schema, columns.names, *about), from_arrow_schema(schema))


def _hosted(
    divided: Split, streams: Inputs, reads: Reads, form: Form | None, wanted: tuple[str, ...]
) -> tuple[ChangesKernel, DataFrame]:
    rows = {entry.scan.stream: entry.rows(streams, reads) for entry in divided.entries}
    core = divided.with_types({name: types_in(each) for name, each in rows.items()}).core
    document, by = _lowered(core)
    scans = {node.stream: node for node in walk(core) if isinstance(node, Scan)}

    def given(entry: Entry, *, again: bool) -> HostInput:
        stream = entry.scan.stream
        own = entry.rows(streams, None) if again else rows[stream]
        return HostInput(
            own.select(*map(quote, input_of(scans[stream]).names)), entry.clock(streams, reads), by.get(stream, ())
        )

    inputs = {entry.scan.stream: partial(given, entry) for entry in divided.entries}
    engine, ends = decode(document), ended(_ends(divided, streams))
    engine, blobs = _Parts(engine, by, inputs, ends).made(engine.root)
    make = partial(kernel_of, encode(engine), form)
    out = stepped(make, [*blobs, *ends], _digest(encode(engine), form, by), wanted)
    return make(), count_rows(out, [output_of(name) for name, scan in scans.items() if scan.change_type])


@dataclass(frozen=True, slots=True)
class _Parts:
    """The operators of a changelog's tree, which is cut where Spark computes columns."""

    plan: EnginePlan
    by: Mapping[str, tuple[str, ...]]
    streams: Mapping[str, Callable[..., HostInput]]
    ends: Sequence[DataFrame]
    entered: set[str] = field(default_factory=set)

    def made(self, root: Node) -> tuple[EnginePlan, list[DataFrame]]:
        """The operator from a root down to the next cuts, and its inputs as blobs."""
        blobs: list[DataFrame] = []

        def handed(name: str, step: Compute, child: Node) -> Input:
            below, given = self.made(child)
            make = partial(kernel_of, encode(below), None, handed=True)
            own = [F.expr(item.tree[1]).alias(item.name) for item in step.items]
            rows = handed_on(make, [*given, *self.ends], _digest(encode(below), None, self.by))
            computed = rows.toDF(*map(undotted, rows.columns)).select("*", *own)
            blobs.extend(taken_in(computed, next(iter(self.by.values()), ()), name))
            names = [*rows.columns, *(item.name for item in step.items)]
            kinds = zip(names, types_in(computed).values(), strict=True)
            return handed_input([each for each in kinds if each[0] != BUCKET], below)

        own = part(self.plan, root, handed)
        read = {name: self.streams[name](again=name in self.entered) for name in self.streams if name in own.inputs}
        self.entered.update(read)
        return own, [*(entered(read) if read else ()), *blobs]


def _digest(document: str, form: Form | None, by: Mapping[str, tuple[str, ...]]) -> str:
    about = json.dumps([document, asdict(form) if form else None, by, BUCKETS])
    return hashlib.sha256(about.encode()).hexdigest()


def _ends(divided: Split, streams: Inputs) -> DataFrame | None:
    """The newest time of each stream of a batch query."""
    given = [(entry, dataframe_of(entry.scan, streams)) for entry in divided.entries]
    if all(rows.isStreaming for _, rows in given):
        return None
    return reduce(DataFrame.union, [newest_time(entry, rows) for entry, rows in given])


def newest_time(entry: Entry, rows: DataFrame) -> DataFrame:
    """One row with the newest event time of a stream that is not suspect, in microseconds, whatever WHERE selects.

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


def refusal(plan: Plan) -> str | None:
    """Why a query's changelog cannot be computed; None if it can."""
    try:
        _kernel(_divided(plan))
    except QueryError as refused:
        return str(refused).splitlines()[0]
    return None


def check_form(plan: Plan, form: Form) -> None:
    """Raise an error if the changelog of a plan cannot be written in a form; Spark is not asked."""
    divided = _divided(plan)
    kernel_of(_lowered(with_stand_ins(divided.core))[0], None if divided.after else form)
    if divided.after:
        check_upserts(form.upserts, key_under(plan, result_names(plan)))


def form_of(options: Mapping[str, str]) -> tuple[Form, dict[str, str]]:
    """How a sink wants its changelog, and its other options.

    >>> form_of({"path": "out", "changelog.profile": "flink", "changelog.netChanges": "false"})
    (Form(net=False, profile='flink', upserts=False), {'path': 'out'})
    """
    own = {name: value for name, value in options.items() if name.lower().startswith(CHANGELOG)}
    rest = {name: value for name, value in options.items() if name not in own}
    found = Options(TABLE, own, "the sink of a changelog")
    profile = "updates" if found[UPDATES] else found[PROFILE]
    return Form(found[NET], check_profile(profile), found[UPSERTS]), rest


def describe(plan: Plan) -> Stages:
    """How the operators of a changelog are partitioned, and why."""
    divided = _divided(plan)
    document, by = _lowered(with_stand_ins(divided.core))
    asked = computes(decode(document))
    return Stages((_described(divided, by),), tuple(range(len(asked))), texts(asked))


def _described(divided: Split, by: Mapping[str, tuple[str, ...]]) -> Partitioning:
    if not by or not all(by.values()):
        return Partitioning((), "no column that every operator can be taken apart by")
    known = {(entry.scan.stream, item.name): item.expr.sql for entry in divided.entries for item in entry.columns}
    columns = tuple(f"{name}.{known.get((name, column), column)}" for name, own in by.items() for column in own)
    return Partitioning(columns, "no operator needs rows of two of them together")


@lru_cache(maxsize=64)
def kernel_of(document: str, form: Form | None, *, handed: bool = False) -> ChangesKernel:
    """The kernel of a description, compiled once in each worker."""
    return ChangesKernel(document, form, handed=handed)


@lru_cache(maxsize=64)
def _lowered(core: Plan) -> tuple[str, dict[str, tuple[str, ...]]]:
    """The engine's plan of a core, encoded; and by input the columns that buckets are made of, if there are any."""
    plan = changes_of(core)
    if isinstance(plan.root, Chained) and plan.root.lifetime is not None:
        return encode(plan), {plan.root.input: columns_of(plan.root.chain).columns}
    return encode(plan), cuts_of(plan) or {}


def _kernel(divided: Split) -> ChangesKernel:
    """The kernel, as far as it is known without Spark."""
    return kernel_of(_lowered(with_stand_ins(divided.core))[0], DEFAULT)


def _divided(plan: Plan) -> Split:
    """The plan between Spark and the engine; a stream that is read twice must have one policy."""
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
