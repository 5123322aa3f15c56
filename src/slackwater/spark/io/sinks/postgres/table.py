"""The table that a pipeline writes to: created if it is missing, else checked against the pipeline's columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psycopg import Connection, sql
from psycopg.sql import SQL, Composed, Identifier

from slackwater.algebra.schema import Field
from slackwater.errors import RunError, nearest
from slackwater.spark.io.sinks.postgres.copying import names
from slackwater.spark.io.sinks.postgres.types import holds, postgres_type

NULLS_NOT_DISTINCT = 150_000
"""The first server version whose unique indexes can treat NULLs as equal."""


@dataclass(frozen=True, slots=True)
class Target:
    """A table and the columns that are written to it; with a `key`, one row for each value of its columns."""

    schema: str | None
    name: str
    fields: tuple[Field, ...]
    key: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls, sink: str, options: Mapping[str, str], fields: tuple[Field, ...], key: tuple[str, ...] | None = None
    ) -> Target:
        """Return the table of the options `table` (or `schema.table`) and `schema`, else of the sink's name."""
        given = {name.lower(): value for name, value in options.items()}
        schema, table = given.get("schema"), given.get("table", sink)
        if schema is None and "." in table:
            schema, _, table = table.partition(".")
        return cls(schema, table, fields, key)

    @property
    def identifier(self) -> Identifier:
        return self.beside(self.name)

    def beside(self, name: str) -> Identifier:
        """Return the identifier of a name in the schema of the table."""
        return Identifier(self.schema, name) if self.schema else Identifier(name)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields)

    def conflict(self) -> Composed:
        """Return the columns of the unique index: the key, or a constant if the key is empty (at most one row)."""
        return names(self.key) if self.key else Composed([SQL("(true)")])


def ensure(connection: Connection[Any], target: Target) -> None:
    """Create the table, or raise an error if the existing one cannot take the pipeline's rows."""
    if not exists(connection, target.identifier):
        _create(connection, target)
        return
    found = {name: (kind, needed) for name, kind, needed in connection.execute(COLUMNS, [_path(connection, target)])}
    for field in target.fields:
        _check_column(target, field, found)
    for name, (_, needed) in found.items():
        if needed and name not in target.columns:
            raise _misfit(target, f"needs a value for '{name}', which the query does not give", name, found)
    if target.key is not None:
        _check_key(connection, target)


def exists(connection: Connection[Any], table: Identifier) -> bool:
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", [table.as_string(connection)]).fetchone()
    return bool(row and row[0])


COLUMNS = """
SELECT attname, format_type(atttypid, atttypmod), attnotnull AND NOT atthasdef AND attidentity = ''
FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped
"""
KEYS = """
SELECT ARRAY(SELECT attname::text FROM pg_attribute
    WHERE attrelid = indrelid AND attnum = ANY (indkey::int2[]) AND attnum > 0)
FROM pg_index WHERE indrelid = to_regclass(%s) AND indisunique AND indpred IS NULL
"""


def _create(connection: Connection[Any], target: Target) -> None:
    columns = [SQL("{} {}").format(Identifier(each.name), SQL(postgres_type(each.type))) for each in target.fields]
    listed = sql.SQL(", ").join(columns)
    connection.execute(SQL("CREATE TABLE {} ({})").format(target.identifier, listed))
    if target.key is None:
        return
    distinct = " NULLS NOT DISTINCT" if connection.info.server_version >= NULLS_NOT_DISTINCT else ""
    unique = SQL("CREATE UNIQUE INDEX ON {} ({}){}")
    connection.execute(unique.format(target.identifier, target.conflict(), SQL(distinct)))


def _check_column(target: Target, field: Field, found: Mapping[str, tuple[str, bool]]) -> None:
    if field.name not in found:
        raise _misfit(target, f"has no column '{field.name}'", field.name, found)
    kind = found[field.name][0]
    if not holds(kind, field.type):
        wanted = postgres_type(field.type)
        raise _misfit(target, f"has '{field.name}' as {kind}, the query gives {wanted}", field.name, found)


def _check_key(connection: Connection[Any], target: Target) -> None:
    keys = [set(row[0]) for row in connection.execute(KEYS, [_path(connection, target)])]
    if set(target.key or ()) not in keys:
        wanted = target.conflict().as_string(connection)
        raise RunError(
            "SW-535",
            f"the table '{target.name}' has no unique index over the key of its rows",
            expected=f"a unique index on ({wanted})",
            hint=f"CREATE UNIQUE INDEX ON {target.identifier.as_string(connection)} ({wanted}), or drop the table",
        )


def _path(connection: Connection[Any], target: Target) -> str:
    return target.identifier.as_string(connection)


def _misfit(target: Target, what: str, name: str, found: Mapping[str, tuple[str, bool]]) -> RunError:
    near = "" if name in found else f" ({nearest(name, found)})"
    return RunError(
        "SW-534",
        f"the table '{target.name}' {what}",
        expected=", ".join(f"{each.name} {postgres_type(each.type)}" for each in target.fields),
        hint=f"alter or drop the table, or write to another: table '...'{near}",
    )
