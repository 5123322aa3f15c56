"""Plans that Spark has no operators for, as one operator that hosts their kernel, or a chain of such operators."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.nodes import Emit, Join, Minus, Plan, Scan, Union, emits_changes, walk
from slackwater.algebra.properties.columns import schema_of
from slackwater.engine.columns.rows import COLUMN
from slackwater.engine.plan import Compute, decode, encode
from slackwater.errors import QueryError
from slackwater.spark.operator.blobs import BUCKETS
from slackwater.spark.operator.entry import types_in
from slackwater.spark.operator.host import (
    HostInput,
    Stage,
    chained,
    entered,
    handed_on,
    hosted,
    output,
    stepped,
    taken_in,
)
from slackwater.spark.operator.kernel import RESULT, kernel_of, plain_columns, stage_of
from slackwater.spark.operator.operator import Make
from slackwater.spark.planner.fused import changes
from slackwater.spark.planner.fused.changes import DEFAULT, Form, changelog, refusal
from slackwater.spark.planner.fused.cutting import CHAIN, Stages, stages, whole
from slackwater.spark.planner.fused.finish import finished
from slackwater.spark.planner.fused.lowering import chain_of
from slackwater.spark.planner.fused.partitioning import spelled
from slackwater.spark.planner.fused.split import split, with_stand_ins
from slackwater.spark.relation import quote
from slackwater.spark.watermark.control import Reads

Inputs = Mapping[str, DataFrame]


def fuse(plan: Plan, streams: Inputs, reads: Reads | None = None, form: Form = DEFAULT) -> DataFrame:
    """A streaming DataFrame of the plan's rows, computed by one stateful operator; to be written in append mode.

    On a batch DataFrame it is the answer over the whole of it, in which nothing is late.
    """
    if emits_changes(plan):
        return changelog(plan, streams, reads or Reads(), form)
    divided = split(plan)
    (entry,) = divided.entries
    reads = reads or Reads()
    rows = entry.rows(streams, reads)
    made = _made(divided.with_types({entry.scan.stream: types_in(rows)}).core, chain=chains(streams))
    result = made.result(rows, entry.clock(streams, reads))
    return finished(result, divided.after, schema_of(plan).names) if divided.after else result


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
        _made(with_stand_ins(split(plan).core)).whole()
    except QueryError as refused:
        return str(refused).splitlines()[0]
    return None


def describe(plan: Plan, *, chain: bool = True) -> Stages:
    """How the fused operator of a plan is partitioned, and why; with `chain`, each of them if there can be several."""
    if emits_changes(plan):
        return changes.describe(plan)
    divided = split(plan)
    found = _made(with_stand_ins(divided.core), chain=chain).stages
    return replace(found, each=tuple(spelled(each, divided.entries) for each in found.each))


def chains(streams: Inputs) -> bool:
    """Whether the session asks for operators in a chain where no columns serve all steps of a plan (see CHAIN)."""
    session = next(iter(streams.values())).sparkSession
    return (session.conf.get(CHAIN, "false") or "").lower() == "true"


@dataclass(frozen=True, slots=True)
class _Made:
    """What the core of a plan is made into: an operator, or several in a chain."""

    stream: str
    document: str
    stages: Stages

    @property
    def whole(self) -> Make:
        return partial(kernel_of, self.document, self.stream)

    def _stage(self, number: int) -> Make:
        return partial(stage_of, self.document, number, self.stream)

    def result(self, rows: DataFrame, clock: DataFrame | None) -> DataFrame:
        """The rows that the operators yield over those of the stream."""
        names = decode(self.document).input.names
        stream = HostInput(rows.select(*map(quote, names)), clock, self.stages.columns[0])
        if self.stages.computed:
            return _results(*self._around_spark(stream))
        digest = self._digest(self.document)
        if not self.stages.cuts or not rows.isStreaming:
            return _results(self.whole, hosted(self.whole, {self.stream: stream}, digest, (RESULT,)))
        each = [Stage(self._stage(number), by) for number, by in enumerate(self.stages.columns)]
        return _results(self.whole, chained(each, self.stream, stream, digest))

    def _around_spark(self, stream: HostInput) -> tuple[Make, DataFrame]:
        """The last kernel, and what it yields: Spark computes columns between one kernel and the next."""
        blobs, chain = entered({self.stream: stream}), decode(self.document)
        for number, place in enumerate(chain.computed):
            document = encode(chain)
            make = partial(stage_of, document, number, self.stream)
            items = chain.steps[place].items
            own = [F.expr(item.tree[1]).alias(item.name) for item in items]
            rows = handed_on(make, blobs, f"{self._digest(document)}/{number}")
            plain = [F.col(quote(name)).alias(name.removeprefix(COLUMN)) for name in rows.columns]
            computed = rows.select(*plain).select("*", *own)
            kinds = types_in(computed)
            typed = Compute(tuple(replace(item, type=kinds[item.name]) for item in items))
            chain = replace(chain, steps=(*chain.steps[:place], typed, *chain.steps[place + 1 :]))
            names = [*rows.columns, *(f"{COLUMN}{item.name}" for item in items)]
            blobs = taken_in(computed.toDF(*names), stream.by)
        document = encode(chain)
        last = partial(stage_of, document, len(chain.computed), self.stream)
        return last, stepped(last, blobs, f"{self._digest(document)}/{len(chain.computed)}", (RESULT,))

    def _digest(self, document: str) -> str:
        about = json.dumps([document, self.stages.columns, BUCKETS])
        return hashlib.sha256(about.encode()).hexdigest()


def _results(make: Make, blobs: DataFrame) -> DataFrame:
    schema = make().outputs[RESULT]
    return output(blobs, RESULT, schema, plain_columns(schema))


@lru_cache(maxsize=64)
def _made(core: Plan, chain: bool = False) -> _Made:
    """The operators of a core, worked out once for the choice of a host, EXPLAIN and the query itself."""
    made = chain_of(core)
    found = stages(made) if chain else whole(made)
    (scan,) = [node for node in walk(core) if isinstance(node, Scan)]
    return _Made(scan.stream, encode(replace(made, cuts=found.cuts)), found)
