"""Plans that Spark has no operators for, as one operator that hosts their kernel, or a chain of such operators."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from slackwater.algebra.nodes import Emit, Join, Minus, Plan, Scan, Union, emits_changes, walk
from slackwater.engine.chain import parse
from slackwater.errors import QueryError
from slackwater.spark.operator.blobs import BUCKETS
from slackwater.spark.operator.entry import Entry, entered
from slackwater.spark.operator.host import Input, Stage, chained, hosted, output
from slackwater.spark.operator.kernel import RESULT, kernel_of, plain_columns, stage_of
from slackwater.spark.planner.fused import changes
from slackwater.spark.planner.fused.changes import DEFAULT, Form, changelog, refusal
from slackwater.spark.planner.fused.cutting import CHAIN, Stages, stages, whole
from slackwater.spark.planner.fused.lowering import chain_of
from slackwater.spark.relation import quoted
from slackwater.spark.watermark.control import Reads

Inputs = Mapping[str, DataFrame]


def fuse(plan: Plan, streams: Inputs, reads: Reads | None = None, form: Form = DEFAULT) -> DataFrame:
    """A streaming DataFrame of the plan's rows, computed by one stateful operator; to be written in append mode.

    On a batch DataFrame it is the answer over the whole of it, in which nothing is late.
    """
    if emits_changes(plan):
        return changelog(plan, streams, reads or Reads(), form)
    made = _made(plan, chain=chains(streams))
    return output(made.blobs(streams, reads or Reads()), RESULT, made.schema, plain_columns(made.schema))


def reason(plan: Plan) -> str | None:
    """Why a plan cannot be fused; None if it can."""
    if emits_changes(plan):
        return refusal(plan)
    for node in walk(plan):
        match node:
            case Emit(sync=True):
                return "WITH SYNC is not for the fused operator"
            case Join() | Union() | Minus():
                return f"{type(node).__name__} reads two streams; the fused operator has one"
            case Scan(change_type=str()):
                return "a stream with CHANGELOG BY is not for the fused operator of final answers"
    try:
        _made(plan)
    except QueryError as refused:
        return str(refused).splitlines()[0]
    return None


def describe(plan: Plan, *, chain: bool = True) -> Stages:
    """How the fused operator of a plan is partitioned, and why; with `chain`, each of them if there can be several."""
    return Stages((changes.describe(plan),)) if emits_changes(plan) else _made(plan, chain=chain).stages


def chains(streams: Inputs) -> bool:
    """Whether the session asks for operators in a chain where no columns serve all steps of a plan (see CHAIN)."""
    session = next(iter(streams.values())).sparkSession
    return (session.conf.get(CHAIN, "false") or "").lower() == "true"


@dataclass(frozen=True, slots=True)
class _Made:
    """What a plan is made into: an operator, or several in a chain."""

    entry: Entry
    document: str
    stages: Stages

    @property
    def _whole(self) -> Any:
        return partial(kernel_of, self.document, self.entry.scan.stream)

    def _stage(self, number: int) -> Any:
        return partial(stage_of, self.document, number, self.entry.scan.stream)

    def blobs(self, streams: Inputs, reads: Reads) -> DataFrame:
        name, columns = self.entry.scan.stream, [quoted(name) for name, _ in json.loads(self.document)["columns"]]
        rows = self.entry.rows(streams, reads).select(*columns)
        stream = Input(rows, self.entry.clock(streams), self.stages.columns[0])
        about = json.dumps([self.document, self.stages.columns, BUCKETS])
        digest = hashlib.sha256(about.encode()).hexdigest()
        if not self.stages.cuts or not rows.isStreaming:
            return hosted(self._whole, {name: stream}, digest, (RESULT,))
        each = [Stage(self._stage(number), by) for number, by in enumerate(self.stages.columns)]
        return chained(each, name, stream, digest)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the results."""
        return self._whole().outputs[RESULT]


def _made(plan: Plan, chain: bool = False) -> _Made:
    entry, rest = entered(plan)
    steps = chain_of(rest)
    steps["columns"] = _needed(steps)
    found = stages(parse(steps)) if chain else whole(parse(steps))
    document = json.dumps({**steps, "cuts": found.cuts} if found.cuts else steps)
    return _Made(entry, document, found)


def _needed(chain: dict[str, Any]) -> list[list[str]]:
    """The columns that some step names, if the result is not the rows as they are."""
    if not any(step["op"] in ("project", "aggregate") for step in chain["steps"]):
        return list(chain["columns"])
    named = {chain["time"], chain["arrival"], *_names(chain["steps"])}
    return [column for column in chain["columns"] if column[0] in named]


def _names(tree: Any) -> set[str]:
    """Every string in a description: the names of columns are among them."""
    match tree:
        case str():
            return {tree}
        case dict():
            return set().union(*map(_names, tree.values()))
        case list() | tuple():
            return set().union(*map(_names, tree))
        case _:
            return set()
