"""Run a pipeline over given batches and punctuations instead of sources and controllers: for tests."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from slackwater.algebra.catalog import Pipeline
from slackwater.algebra.schema import Field
from slackwater.disorder import Controller
from slackwater.disorder.clock import LATEST, Times
from slackwater.disorder.estimator import NO_PUNCTUATION, Sources
from slackwater.spark.io.sinks import OnRows
from slackwater.spark.relation import quote
from slackwater.spark.run.pipeline import Manner, start
from slackwater.spark.watermark.accounts import stream_of
from slackwater.spark.watermark.gauge import controls_of
from slackwater.spark.watermark.spec import Spec

FIRST_FILE = 1_600_000_000
"""Seconds since 1970: the modification time of the first file. Each file is a second newer: Spark reads old ones first.
"""

Numbered = list[tuple[int, Row]]
"""Result rows of a pipeline, each with the number of its batch."""


@dataclass(frozen=True, slots=True)
class GivenStream:
    """A stream as batches of rows, and the punctuation in ms after each batch; None keeps the previous one."""

    fields: Sequence[Field]
    batches: Sequence[Sequence[Mapping[str, Any]]]
    punctuations: Sequence[int | None]


class Dictated:
    """An estimator that ignores the rows and returns the given punctuations one after the other."""

    def __init__(self, punctuations: Sequence[int | None]) -> None:
        self.marks = list(accumulate((NO_PUNCTUATION if each is None else each for each in punctuations), max))
        self.given = 0

    def observe(self, event: Times, arrival: Times, source: Sources | None = None) -> int:
        self.given = min(self.given + 1, len(self.marks))
        return self.marks[self.given - 1]

    def state(self) -> bytes:
        return self.given.to_bytes(8)

    def restore(self, state: bytes) -> None:
        self.given = int.from_bytes(state)


def run_given(
    session: SparkSession,
    pipeline: Pipeline,
    sides: Sequence[Pipeline],
    streams: Mapping[str, GivenStream],
    folder: Path,
    *,
    flush: bool,
) -> dict[str, Numbered]:
    """Return the rows of a pipeline and of the readers of its sides, by pipeline name, each with its batch number.

    All streams have the same number of batches. With `flush`, every window is closed after the last batch.
    """
    frames = {
        name: _write_stream(session, each, folder / "streams" / str(number))
        for number, (name, each) in enumerate(streams.items())
    }
    found: dict[str, Numbered] = {each.name: [] for each in (pipeline, *sides)}

    def collects(name: str) -> OnRows:
        return lambda batch, rows: found[name].extend((batch, row) for row in rows)

    checkpoint = folder / "checkpoint"
    with _dictate_punctuations(session, streams, checkpoint):
        running = start(pipeline, frames, checkpoint, Manner(available_now=True), collects, sides)
        try:
            _finish(running.progress())
            if flush:
                running.flush()
                _finish(running.progress())
        finally:
            running.stop()
    return found


def _finish(batches: Iterator[object]) -> None:
    for _ in batches:
        pass


@contextmanager
def _dictate_punctuations(
    session: SparkSession, streams: Mapping[str, GivenStream], checkpoint: Path
) -> Iterator[None]:
    """Give the query with this checkpoint the punctuations of the streams instead of controllers."""

    def dictate(spec: Spec) -> Controller:
        return Controller(Dictated(streams[stream_of(spec.control)].punctuations), skew=LATEST)

    given = controls_of(session).given
    given[str(checkpoint)] = dictate
    try:
        yield
    finally:
        del given[str(checkpoint)]


def _write_stream(session: SparkSession, given: GivenStream, folder: Path) -> DataFrame:
    """Write the batches as one file each, and return a stream that reads one file in each micro-batch."""
    folder.mkdir(parents=True)
    schema = ", ".join(f"{quote(field.name)} {field.type}" for field in given.fields)
    df = session.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    columns = to_arrow_schema(df.schema, timezone="UTC")
    for number, rows in enumerate(given.batches):
        file = folder / f"{number:05d}.parquet"
        arrays = [pa.array([row.get(each.name) for row in rows], each.type) for each in columns]
        pq.write_table(pa.Table.from_arrays(arrays, schema=columns), file)
        os.utime(file, (FIRST_FILE + number,) * 2)
    return df
