"""Token reading shared by the parsers: errors with a place, and a limit on backtracking."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

from slackwater.algebra.faithful import FaithfulParser
from slackwater.errors import QueryError
from slackwater.lang.parsing.source_text import SourceText, Span, token_span

OPEN = TokenType.BLOCK_START
"""The token type of a bracket that opens clauses. Sqlglot uses this type for template engines only."""
EMIT = TokenType.BLOCK_END
STEPS_PER_TOKEN = 400
"""The parser's limit on steps per token. A larger value lets hostile texts backtrack longer."""

THE_END = "the end"


class UnparsedError(ParseError):
    """A parse error of sqlglot, with its token."""

    def __init__(self, complaint: str, token: Token | None, previous: Token | None) -> None:
        super().__init__(complaint)
        self.complaint = complaint
        self.token = token
        self.previous = previous


class ScriptParser(FaithfulParser):
    """sqlglot's parser of Spark SQL over the tokens of a `Source`."""

    RESERVED_TOKENS: ClassVar = FaithfulParser.RESERVED_TOKENS | {OPEN, EMIT}

    def __init__(self, source: SourceText | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.source = source or SourceText("")
        self._steps = 0

    def _advance(self, times: int = 1) -> None:
        self._steps += 1
        super()._advance(times)
        if self._steps > 10_000 + STEPS_PER_TOKEN * self._tokens_size:
            raise self.problem("SW-104", "this is too complicated to be read", hint="split it into views")

    def raise_error(self, message: str, token: Token | None = None) -> NoReturn:
        raise UnparsedError(message, token or self._curr or None, self._prev or None)

    def problem(
        self, code: str, message: str, *, expected: str = "", hint: str = "", span: Span | None = None
    ) -> QueryError:
        """Return an error at the current token, or after the last one."""
        if message.startswith(THE_END):
            message = "the statement ends too early"
        return QueryError(code, message, expected=expected, hint=hint, place=self.source.place(span or self.here()))

    def here(self) -> Span:
        if self._curr:
            return token_span(self._curr)
        return (self._prev.end + 1, self._prev.end + 2) if self._prev else (0, 1)

    def since(self, start: int) -> Span:
        """Return the span from an offset to the end of the last token read."""
        return start, self._prev.end + 1

    def found(self) -> str:
        """Return the current token as error messages name it."""
        return f"'{self._curr.text[:40]}'" if self._curr else THE_END

    def word(self) -> str:
        """Return the current token as a keyword; empty for quoted names and literals."""
        return "" if self._curr.token_type in self.TEXT_MATCH_EXCLUDED_TOKENS else self._curr.text.upper()

    def name(self, what: str) -> exp.Identifier:
        """Read a name, which may be any word, or raise."""
        found = self._parse_id_var(any_token=self._curr.token_type not in (TokenType.NUMBER, TokenType.STRING))
        if not isinstance(found, exp.Identifier):
            raise self.problem("SW-101", f"{self.found()} is not a name", expected=what, hint="write a name here")
        return found

    def expect(self, *words: str, hint: str) -> None:
        """Read these words or signs, or raise."""
        for each in words:
            if not self._match_text_seq(each):
                raise self.problem("SW-101", f"{self.found()} is not expected here", expected=each, hint=hint)
