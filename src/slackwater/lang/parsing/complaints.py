"""Translate sqlglot's parse errors into errors of this language."""

from __future__ import annotations

import re
from difflib import get_close_matches

from sqlglot.tokenizer_core import Token, TokenType

from slackwater.errors import QueryError
from slackwater.lang.parsing.base import OPEN, UnparsedError
from slackwater.lang.parsing.source_text import SourceText, token_span
from slackwater.lang.parsing.syntax import CLAUSES

WORDS = ("SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "EMIT", "UNION ALL", "EXCEPT", "JOIN")
MISSING = re.compile(r"Required keyword: '\w+' missing for <class '[\w.]*?(\w+)'>$")
TWICE = re.compile(r"Found multiple '(\w+(?: \w+)?)' clauses$")
EXPECTED = re.compile(r"Expect(?:ed|ing) (\S+)(?: after (\w+))?$")
PARTS = {"Where": "a condition after WHERE", "Having": "a condition after HAVING", "Paren": "an expression"}


def unread(complaint: UnparsedError, source: SourceText) -> QueryError:
    """Return the error for a token that sqlglot could not parse."""
    token, previous = complaint.token, complaint.previous
    span = token_span(token) if token else ((previous.end + 1, previous.end + 2) if previous else (0, 1))
    message = f"'{token.text[:40]}' is not expected here" if token else "the statement ends too early"
    if found := TWICE.match(complaint.complaint):
        message = f"{found[1]} is given twice"
        return QueryError(
            "SW-123", message, expected="each clause once", hint="remove one of them", place=source.place(span)
        )
    if (found := EXPECTED.match(complaint.complaint)) and found[2]:
        message = f"{found[1]} is missing after {found[2]}"
    return QueryError(
        "SW-101", message, expected=_expected(complaint), hint=_hint(token, previous), place=source.place(span)
    )


def _expected(complaint: UnparsedError) -> str:
    if found := EXPECTED.match(complaint.complaint):
        return found[1].lower() if found[1] == "TYPE" else f"'{found[1]}'"
    if found := MISSING.match(complaint.complaint):
        before = complaint.previous
        return PARTS.get(found[1], f"an expression after '{before.text}'" if before else "an expression")
    return "a clause of the query, or the end of the statement" if complaint.token else "the rest of the statement"


def _hint(token: Token | None, previous: Token | None) -> str:
    if token is None:
        return "complete the statement"
    if token.token_type == OPEN:
        return "write a bracket after the select list, or after a stream in FROM"
    if token.token_type in (TokenType.VAR, TokenType.IDENTIFIER):
        if token.text.upper() in CLAUSES:
            return "clauses of a stream stand in a bracket: [RANGE 5 minutes SLIDE 1 minute]"
        if close := get_close_matches(token.text.upper(), WORDS, n=1, cutoff=0.75):
            return f"did you mean '{close[0]}'?"
    if previous and previous.token_type == TokenType.VAR and (word := keyword_like(previous.text)):
        return f"did you mean '{word}' instead of '{previous.text}'?"  # it was taken for an alias
    if token.token_type in (TokenType.VAR, TokenType.IDENTIFIER):
        return "remove it, or write an operator or a comma before it"
    after = f" after '{previous.text[:20]}'" if previous else ""
    return f"remove it, or write what is missing{after}"


def keyword_like(text: str) -> str | None:
    """Return the keyword that a name resembles.

    >>> keyword_like("WERE"), keyword_like("gruop"), keyword_like("speed")
    ('WHERE', 'GROUP', None)
    """
    close = get_close_matches(text.upper(), [each.split()[0] for each in WORDS], n=1, cutoff=0.75)
    return close[0] if close else None
