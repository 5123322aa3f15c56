"""Run plans for which Spark has no operators: one operator that hosts the plan's kernel, or a chain of operators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import pyarrow as pa
from pyspark.sql import DataFrame

from slackwater.algebra.nodes import Emit, Join, Minus, Plan, Scan, Union, emits_changes, walk
from slackwater.algebra.properties.columns import schema_of
from slackwater.engine.chain import EVENT_TIME
from slackwater.engine.columns.rows import COLUMN
from slackwater.engine.plan import Chain, Compute, decode, encode
from slackwater.errors import QueryError
from slackwater.spark.operator.entry import types_in
from slackwater.spark.operator.host import (
    HostInput,
    add_columns,
    digest_of,
    pack_again,
    pack_streams,
    result_rows,
    result_rows_by_bucket,
    run_kernel,
    run_stages,
)
from slackwater.spark.operator.kernel import RESULT, kernel_of
from slackwater.spark.operator.operator import Make
from slackwater.spark.operator.writing import DEFAULT, Form
from slackwater.spark.planner.fused.after import finish
from slackwater.spark.planner.fused.chains import chain_of
from slackwater.spark.planner.fused.changes import changelog, describe_changelog, refusal
from slackwater.spark.planner.fused.split import split, with_stand_ins
from slackwater.spark.planner.fused.stages import CHAIN, Stages, cut_stages, fewest_stages, with_expressions
from slackwater.spark.relation import quote
from slackwater.spark.watermark.control import Reads

Inputs = Mapping[str, DataFrame]


def fuse(plan: Plan, streams: Inputs, reads: Reads | None = None, form: Form = DEFAULT) -> DataFrame:
    """Return the plan's rows as a streaming DataFrame, computed by the engine, to be written in append mode.

    Over batch DataFrames the result is that of the whole input, in which no row is late.
    """
    reads = reads or Reads()
    if emits_changes(plan):
        return changelog(plan, streams, reads, form)
    divided = split(plan)
    (entry,) = divided.entries
    rows = entry.rows(streams, reads)
    fused = _fused_chain(divided.with_types({entry.scan.stream: types_in(rows)}).core, cut=is_chained(streams))
    result = fused.run(rows, entry.clock(streams, reads))
    return finish(result, divided.after, schema_of(plan).names) if divided.after else result


def reason(plan: Plan) -> str | None:
    """Return why a plan cannot be fused; None if it can."""
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
        fused = _fused_chain(with_stand_ins(split(plan).core))
        kernel_of(fused.document, fused.stream)
    except QueryError as refused:
        return str(refused).splitlines()[0]
    return None


def describe(plan: Plan, *, chain: bool = True) -> Stages:
    """Return how the fused operators of a plan are partitioned, and why; `chain` says whether the plan may be cut."""
    if emits_changes(plan):
        return describe_changelog(plan)
    divided = split(plan)
    return with_expressions(_fused_chain(with_stand_ins(divided.core), cut=chain).stages, divided.entries)


def is_chained(streams: Inputs) -> bool:
    """Return whether the session asks for a chain of operators where no columns serve all steps of a plan (CHAIN)."""
    session = next(iter(streams.values())).sparkSession
    return (session.conf.get(CHAIN, "false") or "").lower() == "true"


@dataclass(frozen=True, slots=True)
class _FusedChain:
    """The chain of a core, encoded, and the stages in which it runs."""

    stream: str
    document: str
    stages: Stages

    def run(self, rows: DataFrame, clock: DataFrame | None) -> DataFrame:
        """Return the results over the rows of the stream."""
        names = decode(self.document).input.names
        stream = HostInput(rows.select(*map(quote, names)), clock, self.stages.columns[0])
        last, blobs = self._run_around_spark(stream) if self.stages.computed else self._run_stages(stream)
        schema = last().outputs[RESULT]
        return result_rows(blobs, pa.schema([each for each in schema if each.name != EVENT_TIME]))

    def _run_stages(self, stream: HostInput) -> tuple[Make, DataFrame]:
        """Return the last kernel and its results as blobs. A batch DataFrame needs no stages."""
        about, by = digest_of(self.document, self.stages.columns), self.stages.columns
        if not self.stages.cuts or not stream.rows.isStreaming:
            make = partial(kernel_of, self.document, self.stream)
            return make, run_kernel(make, pack_streams({self.stream: stream}), about, (RESULT,))
        makes = [partial(kernel_of, self.document, self.stream, number) for number in range(len(by))]
        return makes[-1], run_stages(makes, by, self.stream, stream, about)

    def _run_around_spark(self, stream: HostInput) -> tuple[Make, DataFrame]:
        """Return the last kernel and its results as blobs. Spark computes columns between one kernel and the next."""
        blobs, chain = pack_streams({self.stream: stream}), decode(self.document)
        for number, place in enumerate(chain.computed):
            make, about = self._stage(chain, number)
            rows, step = result_rows_by_bucket(make, blobs, about), chain.steps[place]
            computed = add_columns(rows, [name.removeprefix(COLUMN) for name in rows.columns], step)
            kinds = types_in(computed)
            typed = Compute(tuple(replace(item, type=kinds[item.name]) for item in step.items))
            chain = replace(chain, steps=(*chain.steps[:place], typed, *chain.steps[place + 1 :]))
            added = [f"{COLUMN}{item.name}" for item in step.items]
            blobs = pack_again(computed.toDF(*rows.columns, *added), stream.by)
        make, about = self._stage(chain, len(chain.computed))
        return make, run_kernel(make, blobs, about, (RESULT,))

    def _stage(self, chain: Chain, number: int) -> tuple[Make, str]:
        """Return the kernel of a stage, and what identifies its state."""
        document = encode(chain)
        return partial(kernel_of, document, self.stream, number), f"{digest_of(document, self.stages.columns)}/{number}"


@lru_cache(maxsize=64)
def _fused_chain(core: Plan, cut: bool = False) -> _FusedChain:
    """Return the chain of a core. It is worked out once for the choice of a host, EXPLAIN and the query itself."""
    chain = chain_of(core)
    stages = cut_stages(chain) if cut else fewest_stages(chain)
    (scan,) = [node for node in walk(core) if isinstance(node, Scan)]
    return _FusedChain(scan.stream, encode(replace(chain, cuts=stages.cuts)), stages)
