"""A text and places in it: from offsets to lines, columns and underlined characters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from slackwater.errors import Place, QueryError

Span: TypeAlias = tuple[int, int]
"""Offsets in a text; the second one is exclusive."""

_SHOWN = dict.fromkeys([*range(32), 127, 8232, 8233], " ")
"""Control characters are shown as blanks, because they would shift the underline or move the terminal's cursor."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of a script or a query, under the name of its file.

    >>> print(SourceText("SELECT speeed").place((7, 13)).underline())
      1 | SELECT speeed
        |        ^^^^^^
    """

    text: str
    file: str = "query"

    def place(self, span: Span) -> Place:
        start = min(max(span[0], 0), len(self.text))
        first = self.text.rfind("\n", 0, start) + 1
        last = self.text.find("\n", start)
        line = self.text[first : last if last >= 0 else len(self.text)].translate(_SHOWN).rstrip()
        column = min(start - first, len(line))
        length = max(1, min(span[1] - start, len(line) - column))
        return Place(self.text.count("\n", 0, start) + 1, column + 1, line, length, self.file)

    def place_of(self, node: exp.Expr) -> Place:
        """Return the place of a tree: from its first to its last token, including closing parentheses."""
        span = self.span(node)
        if span is None:
            return self.place_of(node.parent) if node.parent else self.place((0, 0))
        return self.place(span)

    def span(self, node: exp.Expr) -> Span | None:
        spans = [span for span in map(span_of, node.walk()) if span]
        if not spans:
            return None
        start, end = min(each[0] for each in spans), max(each[1] for each in spans)
        return start, _closed(self.text, start, end)

    @contextmanager
    def blaming(self, what: exp.Expr | Span | None) -> Iterator[None]:
        """Give this place to errors that have none."""
        try:
            yield
        except QueryError as error:
            if what is not None and error.place is None:
                error.at(self.place(what) if isinstance(what, tuple) else self.place_of(what))
            raise

    @contextmanager
    def shallow(self, span: Span) -> Iterator[None]:
        """Turn a stack overflow into an error at this place."""
        try:
            yield
        except RecursionError as cause:
            raise QueryError(
                "SW-102", "the statement is nested too deeply", hint="split it into views", place=self.place(span)
            ) from cause


def token_span(token: Token) -> Span:
    return token.start, token.end + 1


def span_of(node: exp.Expr) -> Span | None:
    """Return the token span that the parser recorded for a node, or None."""
    meta = node.meta
    return (meta["start"], meta["end"] + 1) if "start" in meta else None


def mark(node: exp.Expr, span: Span) -> None:
    """Record the span of a node."""
    node.meta["start"], node.meta["end"] = span[0], span[1] - 1


def _closed(text: str, start: int, end: int) -> int:
    """Extend a span by the parentheses that close it; parentheses are not nodes of a tree."""
    missing = text.count("(", start, end) - text.count(")", start, end)
    while missing > 0 and end < len(text) and (text[end] in ")*" or text[end].isspace()):
        missing -= text[end] == ")"
        end += 1
    return end
