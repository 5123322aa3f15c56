"""sqlglot's complaints in this language's words."""

from __future__ import annotations

import re

from sqlglot.tokenizer_core import Token, TokenType

from slackwater.errors import QueryError, nearest
from slackwater.lang.reading import UnparsedError
from slackwater.lang.source import Source, token_span
from slackwater.lang.syntax import CLAUSES

WORDS = ("SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "EMIT FINAL", "EMIT CHANGES", "UNION ALL", "EXCEPT", "JOIN")
MISSING = {
    "Where": "a condition after WHERE",
    "Having": "a condition after HAVING",
    "Alias": "an expression before AS",
    "Paren": "an expression in the parentheses",
    "Case": "WHEN condition THEN value",
    "If": "WHEN condition THEN value",
    "Cast": "CAST(expression AS type)",
    "Not": "a condition after NOT",
    "Neg": "an expression after -",
}


def unread(complaint: UnparsedError, source: Source) -> QueryError:
    """The error for a token that sqlglot could make nothing of."""
    token, previous = complaint.token, complaint.previous
    span = token_span(token) if token else ((previous.end + 1, previous.end + 2) if previous else (0, 1))
    message = f"'{token.text[:40]}' is not expected here" if token else "the text ends too early"
    expected, hint = _expected(complaint), _hint(token, previous)
    return QueryError("SW-101", message, expected=expected, hint=hint, place=source.place(span))


def _expected(complaint: UnparsedError) -> str:
    if found := re.match(r"Required argument '\w+' missing for .*?(\w+)'?>?$", complaint.complaint):
        return MISSING.get(found[1], "an expression")
    if found := re.match(r"Expect(?:ed|ing) (\S+)$", complaint.complaint):
        return f"'{found[1]}'"
    if not complaint.token:
        return "the rest of the statement"
    return "the end of the statement, or a clause of the query"


def _hint(token: Token | None, previous: Token | None) -> str:
    if previous and previous.text.upper() == "EMIT":
        return "write EMIT FINAL or EMIT CHANGES"
    if token and token.token_type in (TokenType.VAR, TokenType.IDENTIFIER):
        if token.text.upper() in CLAUSES:
            return "clauses of a stream stand in a bracket: [RANGE 5 minutes SLIDE 1 minute]"
        close = nearest(token.text, WORDS)
        return close if close.startswith("did") else "remove it, or write an operator or a comma before it"
    return "complete the statement" if not token else "remove it, or complete what stands before it"
