"""From text to declarations and plans: the entry of this package."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sqlglot.errors import SqlglotError

from slackwater.algebra.catalog import Catalog, Script
from slackwater.algebra.nodes import Plan
from slackwater.errors import QueryError
from slackwater.lang import syntax
from slackwater.lang.binder import Binder
from slackwater.lang.complaints import unread
from slackwater.lang.declarations import ScriptReader
from slackwater.lang.dialect import Slackwater
from slackwater.lang.lexing import tokens_of
from slackwater.lang.reading import UnparsedError
from slackwater.lang.source import Source, Span

logging.getLogger("sqlglot").addHandler(logging.NullHandler())
"""What sqlglot would print to stderr is either an error here or no concern of the user's."""


def parse_script(
    text: str, file: str = "query", variables: Mapping[str, str] | None = None, catalog: Catalog | None = None
) -> Script:
    """The declarations and plans of a script; `variables` fill `${NAME}`, `catalog` holds what is declared already."""
    source = Source(text, file)
    known = catalog or Catalog()
    with _as_query_errors(source):
        reader = ScriptReader(source, known)
        for statement, span in _statements(source, variables or {}):
            with source.shallow(span):
                reader.read(statement)
    return reader.result


def bind_query(text: str, catalog: Catalog) -> Plan:
    """The canonical plan of a single query over declared streams and views."""
    source = Source(text, "query")
    with _as_query_errors(source):
        found = list(_statements(source, {}))
        statement, span = found[0]
        if len(found) > 1 or not isinstance(statement, syntax.Query):
            raise QueryError(
                "SW-130", "this is not a single query", expected="one SELECT", hint="give statements to a script",
                place=source.place(found[1][1] if len(found) > 1 else span),
            )  # fmt: skip
        with source.shallow(span):
            return Binder(source, catalog).root(statement.query)


def _statements(source: Source, variables: Mapping[str, str]) -> Iterator[tuple[syntax.Statement, Span]]:
    tokens = tokens_of(source, variables)
    if not any(token.text != ";" for token in tokens):
        raise QueryError(
            "SW-105", "there is nothing here but blanks and comments" if source.text.strip() else "the text is empty",
            expected="a statement", hint="write a query, such as SELECT MAX(speed) FROM Traffic [RANGE 5 minutes]",
            place=source.place((0, 1)),
        )  # fmt: skip
    return Slackwater.Parser(source=source, dialect=Slackwater()).statements(tokens)


@contextmanager
def _as_query_errors(source: Source) -> Iterator[None]:
    """Whatever sqlglot raises becomes an error of ours, with its place."""
    try:
        yield
    except UnparsedError as complaint:
        raise unread(complaint, source) from complaint
    except SqlglotError as cause:
        raise QueryError(
            "SW-101", "the query cannot be read", hint="compare it with the examples", place=source.place((0, 1))
        ) from cause
