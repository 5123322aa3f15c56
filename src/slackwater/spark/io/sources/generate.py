"""`USING generate`: the streams of the papers, in real time or as fast as they can be read."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, InputPartition
from pyspark.sql.types import StructType

from slackwater.algebra.lengths import MICROSECONDS
from slackwater.errors import InputError, nearest
from slackwater.spark.io.sources.recipe import GENERATE, PAGE, Recipe
from slackwater.spark.options import Options
from slackwater.spark.shim.reader import StreamReader
from slackwater.spark.shim.schema import arrow_schema

ROWS_PER_PARTITION = 50_000
"""The rows that one task makes, if there are enough cores. Larger: fewer tasks, each of which takes longer."""
STEP = 100_000
"""Ticks (a tenth of a second) to which the end of a batch is rounded down if the option `batch` is not given."""
SLICE = PAGE
"""Ticks of arrival that a task makes at a time. Larger: fewer record batches, but more memory."""


class Generate(DataSource):
    """A source with the columns `timestamp` (event time), `received` (arrival) and those of the option `stream`.

    Options: GENERATE.
    """

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self.settings = Options(GENERATE, dict(options))
        self.recipe = Recipe.of(self.settings)

    @classmethod
    def name(cls) -> str:
        return "generate"

    def schema(self) -> str:
        return self.recipe.schema

    def streamReader(self, schema: StructType) -> StreamReader:  # noqa: N802
        return GenerateReader(self.recipe, schema, self.settings)


@dataclass
class Interval(InputPartition):
    """An interval of arrival time."""

    since: int
    until: int


class GenerateReader(StreamReader):
    """The reader of `generate`. Its offset is the arrival time that has been read, in ticks since the start."""

    def __init__(self, recipe: Recipe, schema: StructType, options: Options) -> None:
        self.recipe = recipe
        self.schema = arrow_schema(schema)
        self.pace: float | None = options["pace"]
        self.batch = options.get("batch", MICROSECONDS["second"] if self.pace is None else 0) or None
        self.asked = False
        self.began: tuple[float, int] | None = None
        _check_columns(self.schema, recipe)

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        return {"until": 0}

    def next_offset(self, start: dict[str, Any]) -> dict[str, Any]:
        since = int(start["until"])
        until = self._arrived(since)
        if self.batch is not None:
            until = min(until, since + self.batch) if until >= since + self.batch or self._over(until) else since
        return {"until": max(since, until)}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        if self.recipe.end is None:
            raise InputError("SW-444", "a stream without an end has no last row", hint="give the option rows")
        self.pace = None

    def plan(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        since, until = int(start["until"]), int(end["until"])
        wanted = self.recipe.rate * (until - since) / PAGE / ROWS_PER_PARTITION
        parts = max(1, min(os.cpu_count() or 1, round(wanted)))
        edges = np.linspace(since, until, parts + 1).astype(np.int64).tolist()
        return [Interval(*edge) for edge in pairwise(edges) if edge[0] < edge[1]]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Interval)  # noqa: S101
        for since in range(partition.since, partition.until, SLICE):
            columns = self.recipe.between(since, min(since + SLICE, partition.until))
            yield _record_batch(columns, self.schema)

    def _arrived(self, since: int) -> int:
        """Return the arrival time up to which rows are available: the end at pace max, else by the clock."""
        end = self.recipe.end
        if self.pace is None:
            return since + (self.batch or PAGE) if end is None else end
        passed = self._passed(since) if self.asked else since + (self.batch or STEP)
        self.asked = True
        passed -= passed % STEP if self.batch is None else 0
        return passed if end is None else min(end, passed)

    def _passed(self, since: int) -> int:
        """Return the stream's time by the clock. It starts after the first batch: Spark's start does not count."""
        now = time.monotonic()
        self.began = self.began or (now, since)
        return self.began[1] + int((now - self.began[0]) * float(self.pace or 1) * PAGE)

    def _over(self, until: int) -> bool:
        return until == self.recipe.end


def _record_batch(columns: dict[str, Any], schema: pa.Schema) -> pa.RecordBatch:
    by_name = {name.lower(): values for name, values in columns.items()}
    arrays = []
    for each in schema:
        values = by_name[each.name.lower()]
        array = pa.array(values, pa.timestamp("us", "UTC")) if pa.types.is_timestamp(each.type) else pa.array(values)
        arrays.append(array.cast(each.type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _check_columns(schema: pa.Schema, recipe: Recipe) -> None:
    known = list(recipe.between(0, 0))
    for name in schema.names:
        if name.lower() not in [each.lower() for each in known]:
            raise InputError(
                "SW-445", f"the stream '{recipe.stream}' has no column '{name}'",
                expected="columns of: " + ", ".join(known), hint=nearest(name, known),
            )  # fmt: skip
