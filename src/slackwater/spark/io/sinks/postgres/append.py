"""Rows that are appended to a table, each batch once."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from slackwater.spark.io.sinks.postgres.batches import WrittenBatch, ensure_batches, enter, lock
from slackwater.spark.io.sinks.postgres.copying import copy
from slackwater.spark.io.sinks.postgres.server import Server
from slackwater.spark.io.sinks.postgres.table import Target, ensure


@dataclass(frozen=True, slots=True)
class Append:
    """Appends the rows of a batch and records the batch in one transaction: a repeated batch changes nothing."""

    server: Server
    target: Target

    def open(self) -> None:
        """Create or check the tables."""
        with self.server.transaction() as connection:
            lock(connection)
            ensure(connection, self.target)
            ensure_batches(connection, self.target)

    def write(self, rows: pa.Table, written: WrittenBatch) -> None:
        with self.server.transaction() as connection:
            if enter(connection, self.target, written):
                copy(connection, self.target.identifier, rows)
