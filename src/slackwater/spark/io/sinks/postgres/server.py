"""Connections to a PostgreSQL server, and its errors as our errors."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from slackwater.errors import InputError, RunError
from slackwater.spark.options import CHANGELOG, SINK, Option, OptionKind, Options, OptionTable

if TYPE_CHECKING:
    import psycopg

PASSWORD = "PGPASSWORD"  # noqa: S105 (the name of a variable)
CONNECTION = {"host": "host", "port": "port", "database": "dbname", "user": "user", "sslmode": "sslmode"}
"""The options that are passed to libpq, with their names there."""
MODES, RESTARTS = ("table", "append"), ("refuse", "clear")
TABLE = OptionTable(
    "postgres",
    (
        Option("host", OptionKind.TEXT, None, "The server; without it, where PostgreSQL's own clients look."),
        Option("port", OptionKind.WHOLE, None, "The port of the server.", least=1),
        Option("database", OptionKind.TEXT, None, "The database."),
        Option("user", OptionKind.TEXT, None, "The user who writes."),
        Option("sslmode", OptionKind.TEXT, None, "Whether and how the connection is encrypted, as in libpq."),
        Option(
            "password_env", OptionKind.TEXT, None, f"The environment variable with the password; {PASSWORD} without it."
        ),
        Option("table", OptionKind.TEXT, None, "The table, perhaps schema.table; without it, the name of the sink."),
        Option("schema", OptionKind.TEXT, None, "The schema of the table."),
        Option("mode", OptionKind.CHOICE, None, "A changelog keeps a table of live rows, or appends its rows.", MODES),
        Option(
            "restart",
            OptionKind.CHOICE,
            "refuse",
            "Live rows of another checkpoint (EMIT CHANGES): stop or empty the table. Appended rows stay.",
            RESTARTS,
        ),
    ),
    SINK,
    prefixes=(CHANGELOG,),
)
PATIENCE = 10
"""Seconds to wait for a connection. Larger: a server that is down is reported later."""


@dataclass(frozen=True, slots=True)
class Server:
    """The address of a server. Missing parameters come from where PostgreSQL's clients look (PGHOST, ~/.pgpass)."""

    parameters: Mapping[str, str] = field(default_factory=dict)
    password_env: str = PASSWORD

    @classmethod
    def of(cls, sink: str, options: Mapping[str, str]) -> Server:
        """Return the server that a sink's options name. Raise an error if they contain a password."""
        given = {name.lower(): value for name, value in options.items()}
        _check_password(sink, given)
        Options(TABLE, options, f"the sink '{sink}'")
        variable = given.get("password_env")
        if variable is not None and variable not in os.environ:
            raise InputError(
                "SW-452",
                f"the sink '{sink}' takes its password from {variable}, which is not set",
                expected=f"the environment variable {variable}",
                hint=f"export {variable}=... before starting",
            )
        return cls({CONNECTION[name]: given[name] for name in CONNECTION if name in given}, variable or PASSWORD)

    def __str__(self) -> str:
        host, port = self.parameters.get("host", "the default host"), self.parameters.get("port", "")
        return f"{host}{':' + port if port else ''}/{self.parameters.get('dbname', '')}".rstrip("/")

    @contextmanager
    def transaction(self) -> Iterator[psycopg.Connection[Any]]:
        """Yield a connection in a transaction, committed at the end. Errors of the server become `RunError`."""
        driver = _driver()
        try:
            connection = driver.connect(
                **self.parameters,
                password=os.environ.get(self.password_env),
                connect_timeout=PATIENCE,
                application_name="slackwater",
                options="-c timezone=UTC -c client_min_messages=warning",
            )
        except driver.Error as cause:
            raise self._unreachable(str(cause)) from cause
        try:
            with connection, connection.transaction():
                yield connection
        except driver.Error as cause:
            raise self._refused(cause, connection.closed) from cause

    def _unreachable(self, told: str) -> RunError:
        return RunError(
            "SW-530",
            f"the PostgreSQL server at {self} lets nobody in: {_line(told)}",
            expected="a server that answers, a database that exists and a user who may connect",
            hint=f"check host, port, database and user of CREATE SINK, and the password in {self.password_env}; then"
            " start again: nothing is lost",
        )

    def _refused(self, cause: psycopg.Error, closed: bool) -> RunError:
        errors = _driver().errors
        told = _line(cause.diag.message_primary or str(cause))
        detail = f" ({_line(cause.diag.context)})" if cause.diag.context else ""
        match cause:
            case errors.InsufficientPrivilege():
                hint = f"GRANT the user {self.parameters.get('user', '')} what it lacks".replace("  ", " ")
                return RunError("SW-531", f"PostgreSQL: {told}", expected="the right to create and write", hint=hint)
            case errors.DataError() | errors.IntegrityError():
                hint = "change the column's type or constraint, or the query (a text must not hold the character NUL)"
                return RunError("SW-532", f"PostgreSQL refuses a row: {told}{detail}", hint=f"{hint}; then start again")
            case _ if closed:
                return self._unreachable(told)
            case _:
                return RunError(
                    "SW-533",
                    f"PostgreSQL: {told}{detail}",
                    hint="mend what it says and start again: the batch is repeated",
                )


def _check_password(sink: str, options: Mapping[str, str]) -> None:
    if "password" in options:
        raise InputError(
            "SW-451",
            f"the sink '{sink}' has a password in its options",
            expected="the password in the environment, where no log and no plan shows it",
            hint=f"export {PASSWORD}=..., or name another variable: password_env 'TOLLS_PASSWORD'",
        )


def _driver() -> Any:
    try:
        import psycopg  # noqa: PLC0415 (an extra)
    except ImportError as cause:
        raise InputError(
            "SW-453", "PostgreSQL needs the package psycopg", hint="in the clone: pip install '.[postgres]'"
        ) from cause
    return psycopg


def _line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason given")
