"""The clauses of a bracket: `[RANGE 5 minutes, SLIDE 1 minute WATTR ts DRATIO 1% WITHIN 30 seconds]`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import ClassVar

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from slackwater.algebra.checks import ESTIMATORS
from slackwater.algebra.lengths import LONGEST, Length
from slackwater.algebra.policies import parse_ratio
from slackwater.errors import nearest
from slackwater.lang.parsing.base import OPEN, ScriptParser
from slackwater.lang.parsing.source_text import Span, token_span
from slackwater.lang.parsing.syntax import CLAUSES, Bracket, Clause

EXAMPLES = {"IDLE": "30 seconds", "SKEW": "5 minutes", "WITHIN": "30 seconds"}
PERCENTAGE = re.compile(r"\d{1,18}\.?\d{0,18}|\.\d{1,18}")


class ClauseParser(ScriptParser):
    """Parses brackets: clauses in any order and case, with or without commas."""

    CLAUSE_PARSERS: ClassVar[dict[str, Callable[[ClauseParser, int], Clause]]] = {
        "RANGE": lambda self, start: self._length_clause("RANGE", start),
        "SLIDE": lambda self, start: self._length_clause("SLIDE", start),
        "IDLE": lambda self, start: self._length_clause("IDLE", start),
        "SKEW": lambda self, start: self._length_clause("SKEW", start),
        "SLACK": lambda self, start: self._number_clause("SLACK", start),
        "BSIZE": lambda self, start: self._number_clause("BSIZE", start),
        "WATTR": lambda self, start: self._column_clause(start),
        "DRATIO": lambda self, start: self._ratio_clause(start),
        "FREQUENCY": lambda self, start: self._frequency_clause(start),
    }

    def at_bracket(self) -> bool:
        return self._curr.token_type == OPEN

    def bracket(self, allowed: tuple[str, ...] = CLAUSES) -> Bracket:
        """Parse from `[`, which is the current token, to `]`."""
        start = self._curr.start
        opening = token_span(self._curr)
        self._advance()
        clauses: list[Clause] = []
        while not self._match(TokenType.R_BRACKET):
            clause = self._clause(opening)
            self._check_clause(clause, clauses, allowed)
            clauses.append(clause)
            self._match(TokenType.COMMA)
        if not clauses:
            raise self.problem(
                "SW-125", "the bracket is empty", expected="a clause such as RANGE 5 minutes",
                hint="write a clause, or leave the bracket out", span=self.since(start),
            )  # fmt: skip
        return Bracket(tuple(clauses), self.since(start))

    def _clause(self, opening: Span) -> Clause:
        word, start = self.word(), self._curr.start
        if word in self.CLAUSE_PARSERS:
            self._advance()
            return self.CLAUSE_PARSERS[word](self, start)
        if self._curr.token_type in (TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING):
            raise self.problem(
                "SW-120", "'[' is not closed", expected=f"']' before {self._curr.text.upper()}",
                hint="write ] after the last clause", span=opening,
            )  # fmt: skip
        raise self.problem(
            "SW-122",
            f"{self.found()} is not a clause",
            expected=", ".join(CLAUSES),
            hint=nearest(word, (*CLAUSES, "PARTITIONED BY", "WITHIN")),
        )

    def _check_clause(self, clause: Clause, before: list[Clause], allowed: tuple[str, ...]) -> None:
        if any(each.word == clause.word for each in before):
            raise self.problem(
                "SW-123", f"{clause.word} is given twice", expected="each clause once",
                hint="remove one of them", span=clause.span,
            )  # fmt: skip
        if clause.word not in allowed:
            raise self.problem(
                "SW-124", f"{clause.word} cannot stand here", expected=" or ".join(allowed),
                hint=f"write {clause.word} in the bracket of the stream, in FROM", span=clause.span,
            )  # fmt: skip

    def _length_clause(self, word: str, start: int) -> Clause:
        length = self._length(word)
        return Clause(word, self.since(start), length=length)

    def _length(self, word: str) -> Length:
        example = EXAMPLES.get(word, "5 minutes or 100 tuples")
        start = self._curr.start
        number = self._whole_number(f"{word} {example}")
        overlapping = self._curr and self._curr.start == self._prev.start  # Spark parses 30s as a number with a suffix
        if not self._curr or overlapping or not self._curr.text[:1].isalpha():
            raise self.problem(
                "SW-110", f"{word} {number} has no unit", expected=f"{word} {example}",
                hint="write the unit as a word after the number", span=self.since(start),
            )  # fmt: skip
        self._advance()
        with self.source.blaming(self.since(start)):
            return Length.of(number, self._prev.text)

    def _whole_number(self, example: str) -> int:
        text, span = self._curr.text, self.here()
        if self._match(TokenType.NUMBER) and text.isdigit() and len(text) <= 19 and int(text) <= LONGEST:
            return int(text)
        if self._prev and self._match(TokenType.DASH):
            text, span = "-" + self._curr.text, (span[0], self.here()[1])
        glued = text[:1].isdigit() and text[-1:].isalpha()
        raise self.problem(
            "SW-114", f"'{text[:40]}' is {'too large' if text.isdigit() else 'not a whole number'}", expected=example,
            hint="write a blank between number and unit" if glued else "write a whole number that is not negative",
            span=span,
        )  # fmt: skip

    def _number_clause(self, word: str, start: int) -> Clause:
        number = self._whole_number(f"{word} and a number of rows, such as {word} 100")
        if word == "BSIZE" and number == 0:
            raise self.problem(
                "SW-114", "BSIZE 0 would hold nothing back at all", expected="BSIZE and a number of rows above 0",
                hint="use SLACK 0 for punctuation only", span=self.since(start),
            )  # fmt: skip
        return Clause(word, self.since(start), number=number)

    def _column_clause(self, start: int) -> Clause:
        column = self._column_name("a column after WATTR")
        return Clause("WATTR", self.since(start), columns=(column,))

    def _ratio_clause(self, start: int) -> Clause:
        sign = "-" if self._match(TokenType.DASH) else ""
        text = "." * self._match(TokenType.DOT) + self._curr.text
        if not self._match(TokenType.NUMBER) or not PERCENTAGE.fullmatch(text) or not self._match(TokenType.MOD):
            raise self.problem(
                "SW-113", "DRATIO needs a percentage", expected="DRATIO 1%",
                hint="write the share of rows that may be late, with a % sign", span=self.since(start),
            )  # fmt: skip
        with self.source.blaming(self.since(start)):
            ratio = parse_ratio(f"{sign}{text}%")
        estimator = self._estimator() if self._match_text_seq("USING") else None
        within = self._length("WITHIN") if self._match_text_seq("WITHIN") else None
        return Clause("DRATIO", self.since(start), length=within, ratio=ratio, estimator=estimator)

    def _estimator(self) -> str:
        """Parse the name of an estimator. Names such as `two-max` are three tokens."""
        start = self._curr.start if self._curr else self.here()[0]
        parts = [self.name("an estimator").name]
        while self._match(TokenType.DASH):
            parts.append(self.name("an estimator").name)
        name = "-".join(parts).lower().replace("_", "-")
        if name not in ESTIMATORS:
            raise self.problem(
                "SW-127", f"'{name}' is not an estimator", expected=", ".join(ESTIMATORS),
                hint=nearest(name, ESTIMATORS), span=self.since(start),
            )  # fmt: skip
        return name

    def _frequency_clause(self, start: int) -> Clause:
        length = self._length("FREQUENCY")
        columns: list[exp.Column] = []
        if self._match(TokenType.PARTITION_BY) or self._match_text_seq("PARTITIONED", "BY"):
            columns.append(self._column_name("a column after PARTITIONED BY"))
            while self._curr.token_type == TokenType.COMMA and not self._clause_follows():
                self._advance()
                columns.append(self._column_name("a column after PARTITIONED BY"))
        return Clause("FREQUENCY", self.since(start), length=length, columns=tuple(columns))

    def _clause_follows(self) -> bool:
        """Return whether another clause follows a comma, rather than a column with the name of a clause."""
        after = self._tokens[self._index + 2] if self._index + 2 < self._tokens_size else None
        ends = after is None or after.token_type in (TokenType.COMMA, TokenType.R_BRACKET, TokenType.DOT)
        return self._next.text.upper() in CLAUSES and not ends

    def _column_name(self, what: str) -> exp.Column:
        name = self.name(what)
        if self._match(TokenType.DOT):
            return exp.Column(this=self.name(what), table=name)
        return exp.Column(this=name)
