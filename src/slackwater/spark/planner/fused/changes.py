"""EMIT CHANGES on Spark: the changelog of a query, from one operator that hosts its kernel over all its streams."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.nodes import Disorder, Plan, Scan, walk
from slackwater.engine.arrays import EARLIEST
from slackwater.engine.changelog.boundaries import AtBoundaries, changelog_kernel
from slackwater.engine.changelog.partitioning import partitioning as cuts_of
from slackwater.engine.changelog.profiles import check_profile
from slackwater.engine.changelog.structures import Kept
from slackwater.engine.state import State
from slackwater.errors import InputError, QueryError
from slackwater.spark.operator.blobs import BUCKETS
from slackwater.spark.operator.entry import Entry
from slackwater.spark.operator.host import Input, hosted, output, tagged
from slackwater.spark.operator.kernel import RESULT, Batches
from slackwater.spark.planner.fused.changelog import changes_of
from slackwater.spark.planner.fused.partitioning import Partitioning
from slackwater.spark.planner.fused.partitioning import partitioning as columns_of
from slackwater.spark.relation import quoted
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


@dataclass(frozen=True, slots=True)
class Form:
    """How a changelog is written: each batch as its `net` change or in full, in which profile, updates as one row."""

    net: bool = True
    profile: str = "changes"
    upserts: bool = False


DEFAULT = Form()


class ChangesKernel:
    """A changelog's kernel, as the host wants it."""

    def __init__(self, document: str, form: Form) -> None:
        self.kernel = changelog_kernel(document, form.net, form.profile, form.upserts)
        self._outputs = {name: batch.schema for name, batch in self.step(self.init(), {}, EARLIEST)[1].items()}

    @property
    def inputs(self) -> dict[str, pa.Schema]:
        if isinstance(self.kernel, AtBoundaries):
            return {self.kernel.input: self.kernel.chain.chain.schema}
        return {name: reader.sample.rows.schema for name, reader in self.kernel.readers.items()}

    @property
    def outputs(self) -> dict[str, pa.Schema]:
        return self._outputs

    def init(self) -> State:
        return self.kernel.init()

    def read(self, fetch: Callable[[str], bytes]) -> State:
        return State.read(fetch)

    def step(self, state: State, batches: Batches, punctuation: int) -> tuple[State, Batches]:
        after, changelog, _, refused, _ = self.kernel.step(state, batches, punctuation)
        return after, {RESULT: changelog} | {output_of(name): rows for name, rows in refused.items()}


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
    kernel, blobs = _hosted(plan, streams, reads, form, (RESULT,))
    schema = kernel.outputs[RESULT]
    return output(blobs, RESULT, schema, schema.names)


def with_refused(
    plan: Plan, streams: Inputs, reads: Reads, form: Form, result: str, refused: Mapping[str, str]
) -> DataFrame:
    """The changelog and the rows that streams refused, from one operator: each kind in a column of its own.

    `result` names that of the changelog, `refused` those of each stream whose rows are wanted.
    """
    names = {RESULT: result} | {output_of(stream): column for stream, column in refused.items()}
    kernel, blobs = _hosted(plan, streams, reads, form, tuple(names))
    rows = tagged(blobs, {name: kernel.outputs[name] for name in names})
    return rows.select(*(F.col(quoted(name)).alias(column) for name, column in names.items()))


def _hosted(
    plan: Plan, streams: Inputs, reads: Reads, form: Form, wanted: tuple[str, ...]
) -> tuple[ChangesKernel, DataFrame]:
    document = json.dumps(changes_of(plan))
    make = partial(kernel_of, document, form)
    kernel, by = make(), _columns(document)
    inputs = {
        name: Input(
            entry.rows(streams, reads).select(*map(quoted, kernel.inputs[name].names)),
            entry.clock(streams),
            by.get(name, ()),
        )
        for name, entry in _entries(plan).items()
    }
    about = json.dumps([document, asdict(form), by, BUCKETS])
    refusing = [output_of(node.stream) for node in walk(plan) if isinstance(node, Scan) and node.change_type]
    counted = tuple(dict.fromkeys(refusing))
    return kernel, hosted(make, inputs, hashlib.sha256(about.encode()).hexdigest(), wanted, counted)


def refusal(plan: Plan) -> str | None:
    """Why a query's changelog cannot be computed; None if it can."""
    try:
        kernel_of(json.dumps(changes_of(plan)), DEFAULT)
        _entries(plan)
    except QueryError as refused:
        return str(refused).splitlines()[0]
    return None


def form_of(options: Mapping[str, str]) -> tuple[Form, dict[str, str]]:
    """How a sink wants its changelog, and its other options.

    >>> form_of({"path": "out", "changelog.profile": "flink", "changelog.netChanges": "false"})
    (Form(net=False, profile='flink', upserts=False), {'path': 'out'})
    """
    own = {name.lower(): value for name, value in options.items() if name.lower() in OPTIONS}
    profile = "updates" if flag(own, UPDATES, default=False) else own.get(PROFILE, "changes")
    rest = {name: value for name, value in options.items() if name.lower() not in OPTIONS}
    return Form(flag(own, NET, default=True), check_profile(profile), flag(own, UPSERTS, default=False)), rest


def flag(options: Mapping[str, str], name: str, *, default: bool) -> bool:
    value = options.get(name, str(default)).lower()
    if value not in ("true", "false"):
        raise InputError("SW-459", f"{name} is '{value}'", expected="true or false", hint="write 'true' or 'false'")
    return value == "true"


def describe(plan: Plan) -> Partitioning:
    """How the operator of a changelog is partitioned, and why."""
    by = _columns(json.dumps(changes_of(plan)))
    if not by or not all(by.values()):
        return Partitioning((), "no column that every operator can be taken apart by")
    columns = tuple(f"{name}.{column}" for name, own in by.items() for column in own)
    return Partitioning(columns, "no operator needs rows of two of them together")


def kept_by(plan: Plan) -> list[Kept]:
    """Every operator of a changelog with its class, its key and what it keeps."""
    return kernel_of(json.dumps(changes_of(plan)), DEFAULT).kernel.kept


@lru_cache(maxsize=64)
def kernel_of(document: str, form: Form) -> ChangesKernel:
    """The kernel of a description, compiled once in each worker."""
    return ChangesKernel(document, form)


def _columns(document: str) -> dict[str, tuple[str, ...]]:
    """By input, the columns that buckets are made of; none where all rows are needed together."""
    kernel: Any = kernel_of(document, DEFAULT).kernel
    if isinstance(kernel, AtBoundaries):
        return {kernel.input: columns_of(kernel.chain.chain).columns}
    return cuts_of(kernel.query) or {}


def _entries(plan: Plan) -> dict[str, Entry]:
    """The controlled streams of a plan by name; one that is read twice must have one policy."""
    controls = [node for node in walk(plan) if isinstance(node, Disorder)]
    found: dict[str, Entry] = {}
    for control in controls:
        entry = Entry(control)
        name = entry.scan.stream
        if name in found and found[name].disorder.policy != control.policy:
            raise QueryError(
                "SW-308",
                f"the changelog reads '{name}' under two disorder policies",
                expected="one policy for each stream",
                hint="state the same DRATIO, SLACK or BSIZE in both brackets",
            )
        found.setdefault(name, entry)
    return found
