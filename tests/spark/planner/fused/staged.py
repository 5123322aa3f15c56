"""A chain in stages without Spark: every bucket of every stage steps in every batch, and hands its answers on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
from tests.engine.running import Given, Ran, plain_rows, through_bytes

from slackwater.engine.chain import ChainKernel
from slackwater.engine.columns.state import State
from slackwater.engine.plan import Chain
from slackwater.spark.operator.blobs import BUCKETS, with_places
from slackwater.spark.operator.handing import hash_rows, split_by_bucket
from slackwater.spark.planner.fused.stages import Stages

PARTS = 3
"""So many partitions of Spark's, and buckets of the first stage."""


def run_in_stages(chain: Chain, found: Stages, batches: Sequence[Given]) -> Ran:
    """Return the output of the stages. The batches of a bucket come in reverse order; states go through bytes."""
    chain = replace(chain, cuts=found.cuts)
    kernels = [ChainKernel(chain, number) for number in range(len(found.cuts) + 1)]
    states: list[dict[int, State]] = [{} for _ in kernels]
    made = Ran()
    for number, (rows, punctuation) in enumerate(batches):
        given = _buckets(chain, rows, number, found.columns[0])
        for stage, kernel in enumerate(kernels):
            outputs = []
            for bucket in range(PARTS) if stage == 0 else BUCKETS if found.columns[stage] else BUCKETS[:1]:
                own = given.get(bucket, [])
                batch = pa.concat_batches(list(reversed(own))) if own else kernel.nothing
                state = states[stage].get(bucket, kernel.init())
                state, output = kernel.step(state, batch, punctuation)
                states[stage][bucket] = through_bytes(state)
                outputs.append(output)
            if stage + 1 < len(kernels):
                given = {}
                for output in outputs:
                    for bucket, own in split_by_bucket(output, found.columns[stage + 1]):
                        given.setdefault(bucket, []).append(own)
        made.rows.append([(row[:-1], row[-1]) for output in outputs for row in plain_rows(output)])
    return made


def _buckets(chain: Chain, rows: Sequence[object], number: int, by: Sequence[str]) -> dict[int, list[pa.RecordBatch]]:
    """Return the rows of a batch by bucket, with the places of each partition."""
    names = chain.input.schema.names
    plain = [{name: row.get(name) for name in names} for row in rows]  # type: ignore[attr-defined]
    size = -(-len(plain) // PARTS) or 1
    found: dict[int, list[pa.RecordBatch]] = {}
    for part in range(PARTS):
        batch = pa.RecordBatch.from_pylist(plain[part * size : (part + 1) * size], chain.input.schema)
        placed = with_places(batch, number, part, 0)
        buckets = hash_rows([batch.column(name) for name in by]) % PARTS
        for bucket in range(PARTS):
            # The rows of a bucket come in the order of their partitions: `run_in_stages` turns the blobs round.
            found.setdefault(bucket, []).insert(0, placed.filter(pa.array(buckets == bucket)))
    return found
