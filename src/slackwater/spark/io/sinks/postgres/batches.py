"""The table of written batches: one row per pipeline and checkpoint, updated in the transaction of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Identifier

from slackwater.spark.io.sinks.postgres.table import Target, exists

BATCHES = "slackwater_batches"
END_OF_TIME = 253_402_300_800_000
"""The year 10000, in ms since 1970. A later punctuation is written as infinity."""


@dataclass(frozen=True, slots=True)
class WrittenBatch:
    """A batch of a run. `run` identifies the checkpoint; `punctuation`, in ms, is the one in effect."""

    pipeline: str
    run: str
    batch: int
    punctuation: int = 0

    @property
    def as_of(self) -> str:
        """Return the punctuation as text for PostgreSQL."""
        if self.punctuation >= END_OF_TIME:
            return "infinity"
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=self.punctuation)).isoformat()


def lock(connection: Connection[Any]) -> None:
    """Lock until the transaction ends, so that two pipelines that start together do not create a table twice."""
    connection.execute("SELECT pg_advisory_xact_lock(hashtext('slackwater'))")


def ensure_batches(connection: Connection[Any], target: Target) -> None:
    table = target.beside(BATCHES)
    if not exists(connection, table):
        connection.execute(
            SQL(
                "CREATE TABLE {} (pipeline text, run text, batch bigint NOT NULL, punctuation timestamptz,"
                " written timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (pipeline, run))"
            ).format(table)
        )


def enter(connection: Connection[Any], target: Target, written: WrittenBatch) -> bool:
    """Record a batch. Return False if it or a later one was written before. Other writers wait for the transaction."""
    table = target.beside(BATCHES)
    statement = SQL(
        "INSERT INTO {table} AS b (pipeline, run, batch, punctuation) VALUES (%s, %s, %s, %s::timestamptz)"
        " ON CONFLICT (pipeline, run) DO UPDATE"
        " SET batch = EXCLUDED.batch, punctuation = EXCLUDED.punctuation, written = EXCLUDED.written"
        " WHERE b.batch < EXCLUDED.batch"
    ).format(table=table)
    values = [written.pipeline, written.run, written.batch, written.as_of]
    return connection.execute(statement, values).rowcount == 1


def is_new(connection: Connection[Any], target: Target, written: WrittenBatch) -> bool:
    """Return whether this run has written no batch yet."""
    statement = SQL("SELECT 1 FROM {} WHERE pipeline = %s AND run = %s").format(target.beside(BATCHES))
    return connection.execute(statement, [written.pipeline, written.run]).fetchone() is None


def is_empty(connection: Connection[Any], table: Identifier) -> bool:
    return connection.execute(SQL("SELECT 1 FROM {} LIMIT 1").format(table)).fetchone() is None
