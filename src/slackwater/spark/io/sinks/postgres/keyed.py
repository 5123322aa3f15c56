"""A changelog that is applied to a table: after each batch the table has the live rows, one for each key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from psycopg import Connection
from psycopg.sql import SQL, Composed, Identifier

from slackwater.errors import RunError
from slackwater.spark.io.sinks.net import CHANGE, SINCE, UNTIL, net
from slackwater.spark.io.sinks.postgres.batches import WrittenBatch, ensure_batches, enter, is_empty, is_new, lock
from slackwater.spark.io.sinks.postgres.copying import copy, names
from slackwater.spark.io.sinks.postgres.server import Server
from slackwater.spark.io.sinks.postgres.table import Target, ensure, exists

CHANGES = Identifier("slackwater_changes")


@dataclass(frozen=True, slots=True)
class Keyed:
    """Deletes, replaces and adds rows and records the batch in one transaction: a repeated batch changes nothing.

    The table has the column `_valid_to`: a row whose end is known is deleted once the punctuation has passed it. A run
    from a new checkpoint needs an empty table, because its changelog begins with no rows; `clear` empties the table.
    """

    server: Server
    target: Target
    clear: bool = False

    def open(self) -> None:
        """Create or check the tables."""
        with self.server.transaction() as connection:
            lock(connection)
            made = not exists(connection, self.target.identifier)
            ensure(connection, self.target)
            if made:
                expiry = SQL("CREATE INDEX ON {} ({})").format(self.target.identifier, Identifier(UNTIL))
                connection.execute(expiry)
            ensure_batches(connection, self.target)

    def write(self, changes: pa.Table, written: WrittenBatch) -> None:
        with self.server.transaction() as connection:
            begins = is_new(connection, self.target, written)
            if not enter(connection, self.target, written):
                return
            if begins:
                self._begin(connection)
            if changes.num_rows:
                self._apply(connection, net(changes, self.target.key or ()))
            expired = SQL("DELETE FROM {} WHERE {} <= %s::timestamptz").format(
                self.target.identifier, Identifier(UNTIL)
            )
            connection.execute(expired, [written.as_of])

    def _begin(self, connection: Connection[Any]) -> None:
        if self.clear:
            connection.execute(SQL("DELETE FROM {}").format(self.target.identifier))
        elif not is_empty(connection, self.target.identifier):
            raise RunError(
                "SW-536",
                f"the table '{self.target.name}' has rows of another run, and this one begins anew",
                expected="an empty table, or the checkpoint of the run that filled it",
                hint="empty the table, write to another, or let each new run empty it: restart 'clear'",
            )

    def _apply(self, connection: Connection[Any], changes: pa.Table) -> None:
        columns, table = names(self.target.columns), self.target.identifier
        like = SQL("CREATE TEMP TABLE {} ON COMMIT DROP AS SELECT {}, ''::text AS {} FROM {} WITH NO DATA")
        connection.execute(like.format(CHANGES, columns, Identifier(CHANGE), table))
        copy(connection, CHANGES, changes.select([*self.target.columns, CHANGE]))
        connection.execute(self._deletion(changes))
        connection.execute(self._upsert(columns))

    def _deletion(self, changes: pa.Table) -> Composed:
        """Return the statement that applies deletes. A delete never ends a row that began after it."""
        table = self.target.identifier
        equal = [_equal(name, nullable=bool(changes[name].null_count)) for name in self.target.key or ()]
        since = Identifier(SINCE)
        ended = SQL("c.{} = 'delete' AND t.{} <= c.{}").format(Identifier(CHANGE), since, since)
        every = SQL(" AND ").join([ended, *equal])
        return SQL("DELETE FROM {} AS t USING {} AS c WHERE {}").format(table, CHANGES, every)

    def _upsert(self, columns: Composed) -> Composed:
        others = [name for name in self.target.columns if name not in (self.target.key or ())]
        new = SQL(", ").join(SQL("{} = EXCLUDED.{}").format(Identifier(name), Identifier(name)) for name in others)
        return SQL(
            "INSERT INTO {} AS t ({}) SELECT {} FROM {} WHERE {} = 'insert'"
            " ON CONFLICT ({}) DO UPDATE SET {} WHERE t.{} <= EXCLUDED.{}"
        ).format(
            self.target.identifier, columns, columns, CHANGES, Identifier(CHANGE), self.target.conflict(), new,
            Identifier(SINCE), Identifier(SINCE),
        )  # fmt: skip


def _equal(name: str, *, nullable: bool) -> Composed:
    """Return the comparison of a key column. It treats NULL as a value only if needed, because that uses no index."""
    column = Identifier(name)
    return SQL("t.{} IS NOT DISTINCT FROM c.{}" if nullable else "t.{} = c.{}").format(column, column)
