"""The parser's own records beside sqlglot's trees: brackets of clauses, and the statements of a script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from slackwater.algebra.lengths import Length
from slackwater.lang.parsing.source_text import Span

WINDOW_CLAUSES = ("RANGE", "SLIDE", "WATTR", "FREQUENCY")
DISORDER_CLAUSES = ("SLACK", "DRATIO", "BSIZE", "IDLE", "SKEW")
CLAUSES = (*WINDOW_CLAUSES, *DISORDER_CLAUSES)


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a bracket, such as `FREQUENCY 10 TUPLES PARTITIONED BY Id`.

    Only fields that its word needs are set.

    The length of DRATIO is the time after WITHIN.
    """

    word: str
    span: Span
    length: Length | None = None
    number: int | None = None
    ratio: float | None = None
    estimator: str | None = None
    columns: tuple[exp.Column, ...] = ()


@dataclass(frozen=True, slots=True)
class Bracket:
    """The clauses between `[` and `]`, each at most once."""

    clauses: tuple[Clause, ...]
    span: Span

    def get(self, word: str) -> Clause | None:
        return next((each for each in self.clauses if each.word == word), None)


@dataclass(frozen=True, slots=True)
class ColumnDef:
    name: exp.Identifier
    type: str
    span: Span
    """The place of the type."""


@dataclass(frozen=True, slots=True)
class CreateStream:
    name: exp.Identifier
    columns: tuple[ColumnDef, ...]
    key: tuple[exp.Identifier, ...]
    format: str
    options: tuple[tuple[str, str], ...]
    roles: dict[str, exp.Identifier]
    """TIMESTAMP, ARRIVAL, SOURCE and CHANGELOG with the column after BY."""


@dataclass(frozen=True, slots=True)
class CreateView:
    name: exp.Identifier
    key: tuple[exp.Expr, ...]
    query: exp.Expr


@dataclass(frozen=True, slots=True)
class CreateSink:
    name: exp.Identifier
    format: str
    options: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Insert:
    sink: exp.Identifier
    query: exp.Expr


@dataclass(frozen=True, slots=True)
class ExplainStatement:
    what: str
    query: exp.Expr


@dataclass(frozen=True, slots=True)
class Setting:
    name: str
    value: str
    span: Span


@dataclass(frozen=True, slots=True)
class QueryStatement:
    query: exp.Expr


Statement: TypeAlias = CreateStream | CreateView | CreateSink | Insert | ExplainStatement | Setting | QueryStatement
