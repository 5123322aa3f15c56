"""The statements of a script: CREATE STREAM, VIEW and SINK, INSERT INTO, EXPLAIN, SET, and plain queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from slackwater.errors import nearest
from slackwater.lang.parsing.queries import QueryParser
from slackwater.lang.parsing.source_text import Span
from slackwater.lang.parsing.syntax import (
    ColumnDef,
    CreateSink,
    CreateStream,
    CreateView,
    ExplainStatement,
    Insert,
    QueryStatement,
    Setting,
    Statement,
)

STATEMENTS = ("CREATE", "INSERT", "EXPLAIN", "SET", "SELECT")
ROLES = ("TIMESTAMP", "ARRIVAL", "SOURCE", "CHANGELOG")


class StatementParser(QueryParser):
    """Parses a script, statement by statement."""

    def statements(self, tokens: list[Token]) -> Iterator[tuple[Statement, Span]]:
        """Return every statement and its span. `;` separates statements."""
        chunks: list[list[Token]] = [[]]
        for token in tokens:
            if token.token_type == TokenType.SEMICOLON:
                chunks.append([])
            else:
                chunks[-1].append(token)
        for chunk in filter(None, chunks):
            self.reset()
            self._steps = 0
            self._chunks = [chunk]
            self._advance_chunk()
            span = chunk[0].start, chunk[-1].end + 1
            with self.source.shallow(span):
                statement = self._statement()
            yield statement, span

    def _statement(self) -> Statement:
        match self.word():
            case "CREATE":
                statement = self._create()
            case "INSERT":
                statement = self._insert()
            case "EXPLAIN":
                statement = self._explain()
            case "SET":
                statement = self._setting()
            case word if word in ("SELECT", "WITH", "("):
                statement = QueryStatement(self.query("the beginning"))
            case word:
                raise self.problem(
                    "SW-130", f"{self.found()} does not begin a statement", expected=", ".join(STATEMENTS),
                    hint=nearest(word, STATEMENTS),
                )  # fmt: skip
        if self._match_text_seq("EMIT"):
            raise self.no_emit()
        if self._curr:
            self.raise_error("Unexpected token")
        return statement

    def _create(self) -> Statement:
        self._advance()
        kinds: dict[str, Callable[[], Statement]] = {
            "STREAM": self._create_stream,
            "VIEW": self._create_view,
            "SINK": self._create_sink,
        }
        word = self.word()
        if word not in kinds:
            raise self.problem(
                "SW-131", f"CREATE cannot be followed by {self.found()}", expected="STREAM, VIEW or SINK",
                hint=nearest(word, kinds),
            )  # fmt: skip
        self._advance()
        return kinds[word]()

    def _create_stream(self) -> CreateStream:
        name = self.name("the name of the stream")
        columns, key = self._columns()
        format_, options, roles = "", None, dict[str, exp.Identifier]()
        while self._curr:
            word = self.word()
            if word == "USING" and not format_:
                format_ = self._format()
            elif word == "OPTIONS" and options is None:
                options = self._options()
            elif word in ROLES and word not in roles:
                self._advance()
                self.expect("BY", hint=f"write {word} BY and a column")
                roles[word] = self.name(f"a column after {word} BY")
            else:
                raise self._misplaced(word, ("USING", "OPTIONS", *(f"{role} BY" for role in ROLES)))
        if not format_:
            raise self._no_format()
        return CreateStream(name, columns, key, format_, options or (), roles)

    def _columns(self) -> tuple[tuple[ColumnDef, ...], tuple[exp.Identifier, ...]]:
        self.expect("(", hint="list the columns and their types: (id INT, ts TIMESTAMP)")
        columns: list[ColumnDef] = []
        key: tuple[exp.Identifier, ...] = ()
        while True:
            if self._match(TokenType.PRIMARY_KEY) or self._match_text_seq("PRIMARY", "KEY"):
                key = tuple(self._names("the key"))
            else:
                columns.append(self._column_def())
            if not self._match(TokenType.COMMA):
                break
        self.expect(")", hint="part columns by commas: name type, name type")
        return tuple(columns), key

    def _column_def(self) -> ColumnDef:
        name = self.name("a column")
        start = self.here()[0]
        depth = 0
        while self._curr and (depth or self._curr.token_type not in (TokenType.COMMA, TokenType.R_PAREN)):
            depth += self._curr.text.count("<") + self._curr.text.count("(")
            depth -= self._curr.text.count(">") + self._curr.text.count(")")
            self._advance()
        if self._prev.start < start:
            raise self.problem(
                "SW-203", f"column '{name.name}' has no type", expected="a type such as int, double, timestamp",
                hint="write the type after the name",
            )  # fmt: skip
        span = self.since(start)
        return ColumnDef(name, self.source.text[span[0] : span[1]], span)

    def _create_view(self) -> CreateView:
        name = self.name("the name of the view")
        key: list[exp.Expr] = []
        if self._match(TokenType.PRIMARY_KEY) or self._match_text_seq("PRIMARY", "KEY"):
            self.expect("(", hint="write the key in parentheses")
            key = self._parse_csv(self._parse_disjunction)
            self.expect(")", hint="close the key")
        self.expect("AS", hint="write CREATE VIEW name AS SELECT ...")
        return CreateView(name, tuple(key), self.query("AS"))

    def _create_sink(self) -> CreateSink:
        name = self.name("the name of the sink")
        format_, options = "", None
        while self._curr:
            word = self.word()
            if word == "USING" and not format_:
                format_ = self._format()
            elif word == "OPTIONS" and options is None:
                options = self._options()
            else:
                raise self._misplaced(word, ("USING", "OPTIONS"))
        if not format_:
            raise self._no_format()
        return CreateSink(name, format_, options or ())

    def _insert(self) -> Insert:
        self._advance()
        self.expect("INTO", hint="write INSERT INTO sink SELECT ...")
        sink = self.name("the name of a sink")
        return Insert(sink, self.query("the sink"))

    def _explain(self) -> ExplainStatement:
        self._advance()
        what = self.word() if self.word() in ("REWRITES", "PHYSICAL") else ""
        if what:
            self._advance()
        if not self._curr:
            raise self.problem(
                "SW-133", "EXPLAIN of nothing", expected="EXPLAIN [REWRITES | PHYSICAL] and a query",
                hint="write the query to explain after EXPLAIN",
            )  # fmt: skip
        return ExplainStatement(what.lower() or "plan", self.query("EXPLAIN [REWRITES | PHYSICAL]"))

    def _setting(self) -> Setting:
        self._advance()
        start = self.here()[0]
        name = self._dotted("the name of a setting")
        span = self.since(start)
        self.expect("=", hint="write SET name = value")
        return Setting(name, self._value(f"a value for {name}"), span)

    def _format(self) -> str:
        self._advance()
        if self._match(TokenType.STRING):
            return self._prev.text
        return self._dotted("a format after USING, such as parquet, json or kafka")

    def _options(self) -> tuple[tuple[str, str], ...]:
        self._advance()
        self.expect("(", hint="write OPTIONS (key 'value', ...)")
        options: dict[str, str] = {}
        seen: set[str] = set()
        while not self._match(TokenType.R_PAREN):
            start = self.here()[0]
            key = self._prev.text if self._match(TokenType.STRING) else self._dotted("an option")
            if key.lower() in seen:
                raise self.problem(
                    "SW-123", f"the option '{key}' is given twice", expected="each option once",
                    hint="remove one of them", span=self.since(start),
                )  # fmt: skip
            seen.add(key.lower())
            self._match(TokenType.EQ)
            options[key] = self._value(f"{key} 'value'")
            if not self._match(TokenType.COMMA) and self._curr.token_type != TokenType.R_PAREN:
                raise self.problem(
                    "SW-135", f"{self.found()} is not expected in OPTIONS", expected="',' or ')'",
                    hint="write OPTIONS (key 'value', key 'value')",
                )  # fmt: skip
        return tuple(options.items())

    def _dotted(self, what: str) -> str:
        parts = [self.name(what).name]
        while self._match(TokenType.DOT) or (self._next.token_type != TokenType.NUMBER and self._match(TokenType.DASH)):
            parts += [self._prev.text, self.name(what).name]
        return "".join(parts)

    def _value(self, what: str) -> str:
        """Return a literal or a word as text: all options of Spark are texts."""
        sign = "-" if self._match(TokenType.DASH) else ""
        kinds = (TokenType.STRING, TokenType.RAW_STRING, TokenType.NUMBER, TokenType.IDENTIFIER, TokenType.VAR)
        if not self._match_set(kinds) and not self._match_texts(("TRUE", "FALSE", "NULL")):
            raise self.problem(
                "SW-135", f"{self.found()} is not a value", expected=what, hint="write a quoted text or a number"
            )
        return sign + self._prev.text

    def _names(self, what: str) -> list[exp.Identifier]:
        self.expect("(", hint=f"write {what} in parentheses")
        names = [self.name(what)]
        while self._match(TokenType.COMMA):
            names.append(self.name(what))
        self.expect(")", hint=f"close {what}")
        return names

    def _misplaced(self, word: str, choices: tuple[str, ...]) -> Exception:
        given = word in [each.partition(" ")[0] for each in choices]
        if given:
            return self.problem(
                "SW-123", f"{word} is given twice", expected="each clause once", hint="remove one of them"
            )
        return self.problem(
            "SW-132", f"{self.found()} is not expected here", expected=", ".join(choices), hint=nearest(word, choices)
        )

    def _no_format(self) -> Exception:
        return self.problem(
            "SW-132", "the format is missing", expected="USING format OPTIONS (...)",
            hint="write USING and one of Spark's formats, such as parquet, json, kafka, console",
        )  # fmt: skip
