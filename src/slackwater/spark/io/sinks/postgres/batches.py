"""Which batches have been written: one row per pipeline and checkpoint, changed in the transaction of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Identifier

from slackwater.spark.io.sinks.postgres.table import Target, exists

BATCHES = "slackwater_batches"
END_OF_TIME = 253_402_300_800_000
"""The year 10000: a punctuation that is later than this is past every row."""


@dataclass(frozen=True, slots=True)
class Written:
    """A batch of a run. `run` tells one checkpoint from another; the punctuation, in ms, is the one that acted."""

    pipeline: str
    run: str
    batch: int
    punctuation: int = 0

    @property
    def as_of(self) -> str:
        """The punctuation as PostgreSQL reads it."""
        if self.punctuation >= END_OF_TIME:
            return "infinity"
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=self.punctuation)).isoformat()


def lock(connection: Connection[Any]) -> None:
    """Two pipelines that start together must not make the same table twice."""
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


def enter(connection: Connection[Any], target: Target, written: Written) -> bool:
    """Notes a batch; gives False if it, or a later one, was written before. Others wait until this one is decided."""
    table = target.beside(BATCHES)
    statement = SQL(
        "INSERT INTO {table} AS b (pipeline, run, batch, punctuation) VALUES (%s, %s, %s, %s::timestamptz)"
        " ON CONFLICT (pipeline, run) DO UPDATE"
        " SET batch = EXCLUDED.batch, punctuation = EXCLUDED.punctuation, written = EXCLUDED.written"
        " WHERE b.batch < EXCLUDED.batch"
    ).format(table=table)
    values = [written.pipeline, written.run, written.batch, written.as_of]
    return connection.execute(statement, values).rowcount == 1


def is_new(connection: Connection[Any], target: Target, written: Written) -> bool:
    """Whether this run has written nothing yet."""
    statement = SQL("SELECT 1 FROM {} WHERE pipeline = %s AND run = %s").format(target.beside(BATCHES))
    return connection.execute(statement, [written.pipeline, written.run]).fetchone() is None


def is_empty(connection: Connection[Any], table: Identifier) -> bool:
    return connection.execute(SQL("SELECT 1 FROM {} LIMIT 1").format(table)).fetchone() is None
