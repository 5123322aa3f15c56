"""Runs a plan's kernel over a feed, batch by batch, with the state through bytes between batches."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from slackwater.algebra.nodes import Plan
from slackwater.engine.chain import ChainKernel
from slackwater.engine.columns.state import State
from slackwater.semantics.feeds import END_OF_TIME, Clock, Feed
from slackwater.spark.planner.fused.chains import chain_of


@dataclass
class Ran:
    """Per batch: the rows with their times, and the state after it."""

    rows: list[list[tuple[tuple[Any, ...], int]]] = field(default_factory=list)
    states: list[State] = field(default_factory=list)


Given = tuple[tuple[Mapping[str, Any], ...], int]
"""The rows of a batch, and the punctuation that is in force in it."""


def given_by(feed: Feed, flush: bool = True) -> list[Given]:
    """Return the rows and the punctuation of each batch. A flush adds an empty batch at the end of time."""
    clock = Clock.of([batch.punctuation for batch in feed.batches], len(feed.batches))
    clock = clock.add_flush(END_OF_TIME, 0) if flush else clock
    batches = [*(batch.rows for batch in feed.batches), *([()] if flush else [])]
    return [(rows, clock.at(number)) for number, rows in enumerate(batches)]


def ran(plan: Plan, feed: Feed, stored: bool = True) -> Ran:
    """Return the output of a plan's kernel over a feed and a flush."""
    return run(ChainKernel(chain_of(plan)), given_by(feed), stored)


def run(kernel: ChainKernel, batches: Iterable[Given], stored: bool = True) -> Ran:
    """Return the output of a kernel. With `stored`, the state is written and read again after every batch."""
    made, state = Ran(), kernel.init()
    names = kernel.chain.input.names
    for rows, punctuation in batches:
        given = [{name: row.get(name) for name in names} for row in rows]
        batch = pa.RecordBatch.from_pylist(given, kernel.chain.input.schema)
        state, output = kernel.step(state, batch, punctuation)
        made.rows.append([(values[:-1], values[-1]) for values in plain_rows(output)])
        if stored:
            state = through_bytes(state)
        made.states.append(state)
    return made


def through_bytes(state: State) -> State:
    """Return the state after it was written to bytes and read again, as in a host."""
    pieces = {name: state.piece(name) for name in state.names()}
    return State.read(pieces.__getitem__)


def plain_rows(batch: pa.RecordBatch) -> list[tuple[Any, ...]]:
    """Return rows as tuples; times as microseconds."""
    columns = [
        (column.cast(pa.timestamp("us")).cast(pa.int64()) if pa.types.is_timestamp(column.type) else column).to_pylist()
        for column in batch.columns
    ]
    return list(zip(*columns, strict=True)) if columns else []


def close(one: Any, two: Any) -> bool:
    """Return whether two values are equal: floats up to rounding, and NaN equals NaN."""
    if isinstance(one, float) and isinstance(two, float):
        return (math.isnan(one) and math.isnan(two)) or math.isclose(one, two, rel_tol=1e-13, abs_tol=1e-300)
    if isinstance(one, tuple | list):
        return len(one) == len(two) and all(map(close, one, two))
    return type(one) is type(two) and one == two
