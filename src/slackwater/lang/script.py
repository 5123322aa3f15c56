"""The entry of this package: from text to declarations and plans."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sqlglot.errors import SqlglotError

from slackwater.algebra.catalog import Catalog, Script
from slackwater.algebra.nodes import Plan
from slackwater.errors import QueryError
from slackwater.lang.binder import Binder
from slackwater.lang.declarations import ScriptReader
from slackwater.lang.parsing import syntax
from slackwater.lang.parsing.base import UnparsedError
from slackwater.lang.parsing.complaints import unread
from slackwater.lang.parsing.dialect import Slackwater
from slackwater.lang.parsing.lexing import tokens_of
from slackwater.lang.parsing.source_text import SourceText, Span

# Keeps sqlglot's warnings off stderr: those that matter to users are raised as errors here.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())


def parse_script(
    text: str, file: str = "query", variables: Mapping[str, str] | None = None, catalog: Catalog | None = None
) -> Script:
    """Return the declarations and plans of a script.

    `variables` fill `${NAME}`; `catalog` holds earlier declarations.
    """
    source = SourceText(text, file)
    known = catalog or Catalog()
    with _as_query_errors(source):
        reader = ScriptReader(source, known)
        for statement, span in _statements(source, variables or {}):
            with source.shallow(span):
                reader.read(statement)
    return reader.result


def bind_query(text: str, catalog: Catalog) -> Plan:
    """Return the canonical plan of a single query over declared streams and views."""
    source = SourceText(text, "query")
    with _as_query_errors(source):
        found = list(_statements(source, {}))
        statement, span = found[0]
        if len(found) > 1 or not isinstance(statement, syntax.QueryStatement):
            raise QueryError(
                "SW-130", "this is not a single query", expected="one SELECT", hint="give statements to a script",
                place=source.place(found[1][1] if len(found) > 1 else span),
            )  # fmt: skip
        with source.shallow(span):
            return Binder(source, catalog).root(statement.query)


def _statements(source: SourceText, variables: Mapping[str, str]) -> Iterator[tuple[syntax.Statement, Span]]:
    tokens = tokens_of(source, variables)
    if not any(token.text != ";" for token in tokens):
        raise QueryError(
            "SW-105", "there is nothing here but blanks and comments" if source.text.strip() else "the text is empty",
            expected="a statement", hint="write a query, such as SELECT MAX(speed) FROM Traffic [RANGE 5 minutes]",
            place=source.place((0, 1)),
        )  # fmt: skip
    return Slackwater.Parser(source=source, dialect=Slackwater()).statements(tokens)


@contextmanager
def _as_query_errors(source: SourceText) -> Iterator[None]:
    """Turn every sqlglot error into a QueryError with its place."""
    try:
        yield
    except UnparsedError as complaint:
        raise unread(complaint, source) from complaint
    except SqlglotError as cause:
        raise QueryError(
            "SW-101", "the query cannot be read", hint="compare it with the examples", place=source.place((0, 1))
        ) from cause
