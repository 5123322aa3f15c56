"""Parse the additions to Spark's queries: frequencies in the select list, brackets in FROM, EMIT."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from slackwater.errors import QueryError, nearest
from slackwater.lang.parsing.base import EMIT, OPEN
from slackwater.lang.parsing.clauses import ClauseParser
from slackwater.lang.parsing.complaints import keyword_like
from slackwater.lang.parsing.source_text import mark, token_span
from slackwater.lang.parsing.syntax import CLAUSES, Bracket

BRACKET = "slackwater_bracket"
"""The key in a tree's `meta` that holds its bracket."""
NOT_ALIASES = (
    "EMIT",
    "GROUP",
    "ORDER",
    "SORT",
    "LIMIT",
    "OFFSET",
    "FETCH",
    "WINDOW",
    "LATERAL",
    "TABLESAMPLE",
    "PIVOT",
)
"""Words that would be parsed as aliases if the clause that they begin is misspelt or unknown."""
FIRST_ALIAS = "slackwater_first_alias"
"""The key for the first of two aliases. CSQL query 4 writes `AS PulseRate PR`: the last name is the alias."""


class QueryParser(ClauseParser):
    """Parses queries with sqlglot. Brackets are kept in the `meta` of their select item, source or WHERE."""

    QUERY_MODIFIER_PARSERS: ClassVar = {
        **ClauseParser.QUERY_MODIFIER_PARSERS,
        EMIT: lambda self: ("emit", self._emit()),
    }
    QUERY_MODIFIER_TOKENS: ClassVar = set(QUERY_MODIFIER_PARSERS)
    ADD_JOIN_ON_TRUE: ClassVar = False
    SET_OP_MODIFIERS: ClassVar = ClauseParser.SET_OP_MODIFIERS | {"emit"}

    def query(self, after: str) -> exp.Expr:
        """Parse a whole query: selects and set operations."""
        if self._curr.token_type not in (TokenType.SELECT, TokenType.L_PAREN, TokenType.WITH):
            raise self.problem(
                "SW-101", f"{self.found()} does not begin a query", expected=f"SELECT after {after}",
                hint="did you mean 'SELECT'?" if keyword_like(self._curr.text) == "SELECT" else "write a query here",
            )  # fmt: skip
        query = self._parse_ddl_select()
        if not isinstance(query, (exp.Select, exp.SetOperation, exp.Subquery)):
            raise self.problem("SW-101", "this is not a query", expected="SELECT", hint="write a query here")
        return query

    def _parse_select_query(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        """Parse a select, and record the positions of the select and its DISTINCT for error messages."""
        start, second = self._curr, self._next
        query = super()._parse_select_query(*args, **kwargs)
        if isinstance(query, exp.Select) and start.token_type == TokenType.SELECT:
            mark(query, token_span(start))
            if isinstance(distinct := query.args.get("distinct"), exp.Distinct):
                mark(distinct, token_span(second))
        return query

    def _parse_with(self, skip_with_token: bool = False) -> exp.With | None:
        if self._curr.token_type == TokenType.WITH:
            raise self.problem(
                "SW-140", "WITH is not supported", expected="SELECT",
                hint="register the query with CREATE VIEW name AS ..., or write it as a subquery in FROM",
            )  # fmt: skip
        return None

    def _parse_projections(self) -> tuple[list[exp.Expr], list[exp.Expr] | None]:
        if not self._curr or self._curr.token_type == TokenType.FROM:
            raise self.problem(
                "SW-101", "the select list is empty", expected="columns, aggregates or *",
                hint="name what the query shall yield",
            )  # fmt: skip
        brackets: list[Bracket] = []
        items = self._parse_csv(lambda: self._item(brackets))
        if len(brackets) > 1:
            raise self.problem(
                "SW-123", "FREQUENCY is given twice", expected="one frequency of the result",
                hint="remove one of them", span=brackets[1].span,
            )  # fmt: skip
        if brackets and items:
            items[0].meta[BRACKET] = brackets[0]
        return items, None

    def _item(self, brackets: list[Bracket]) -> exp.Expr | None:
        """Parse a select item. The frequency of the result may come before or after its alias."""
        item = self._parse_assignment()
        if item is None:
            raise self.problem(
                "SW-101", f"{self.found()} is not an item of the select list", expected="a column or an expression",
                hint="write an item, or remove the comma before" if self._prev.text == "," else "write an item",
            )  # fmt: skip
        self._frequency(brackets)
        if self._curr.token_type == TokenType.ALIAS and self._next.token_type in (TokenType.FROM, TokenType.COMMA):
            raise self.problem("SW-101", "AS without a name", expected="a name after AS", hint="write the name")
        item = self._parse_alias(item)
        self._frequency(brackets)
        return item

    def _frequency(self, brackets: list[Bracket]) -> None:
        if self.at_bracket():
            brackets.append(self.bracket(("FREQUENCY",)))

    def _parse_table(self, *_: Any, **__: Any) -> exp.Expr:
        """Parse an item of FROM, with its bracket before or after its alias."""
        if self._curr.token_type == TokenType.L_PAREN:
            self._advance()
            item: exp.Expr = exp.Subquery(this=self.query("("))
            self._match_r_paren()
        else:
            item = self._stream()
        bracket = self._source_bracket(None)
        self._aliases(item)
        if bracket := self._source_bracket(bracket):
            item.meta[BRACKET] = bracket
        return item

    def _stream(self) -> exp.Table:
        if not self._curr or self._curr.token_type in (TokenType.WHERE, TokenType.GROUP_BY, OPEN):
            raise self.problem(
                "SW-101", f"{self.found()} is not a stream", expected="a stream, a view or ( query )",
                hint="name the stream to read",
            )  # fmt: skip
        name = self.name("a stream, a view or ( query )")
        if self._curr.token_type in (TokenType.L_PAREN, TokenType.DOT):
            raise self.problem(
                "SW-140", f"{self.found()} cannot follow the name of a stream", expected="a stream or a view",
                hint="declare it with CREATE STREAM and name it here",
            )  # fmt: skip
        return exp.Table(this=name)

    def _source_bracket(self, before: Bracket | None) -> Bracket | None:
        if self._curr.token_type not in (OPEN, TokenType.L_BRACKET):
            return before
        found = self.bracket()
        if before:
            raise self.problem(
                "SW-123", "a second bracket", expected="one bracket", hint="write all clauses in one", span=found.span
            )
        return found

    def _aliases(self, item: exp.Expr) -> None:
        alias = self._alias()
        second = self._alias() if alias and isinstance(item, exp.Subquery) else None
        if alias:
            item.set("alias", exp.TableAlias(this=second or alias))
        if alias and second:
            item.meta[FIRST_ALIAS] = alias.name

    def _parse_join(self, *args: Any, **kwargs: Any) -> exp.Join | None:
        comma = self._curr.token_type == TokenType.COMMA
        join = super()._parse_join(*args, **kwargs)
        said = ("on", "using", "kind", "method", "side")
        if join and not comma and not any(join.args.get(each) for each in said):
            raise self.problem(
                "SW-101", f"{self.found()} is not expected here", expected="ON and a condition",
                hint="say which rows join, or write a comma instead of JOIN",
            )  # fmt: skip
        return join

    def _alias(self) -> exp.Identifier | None:
        explicit = self._match(TokenType.ALIAS)
        self._check_opened()
        if not explicit and self.word() in NOT_ALIASES:
            return None
        alias = self._parse_id_var(any_token=explicit, tokens=self.TABLE_ALIAS_TOKENS)
        if explicit and not isinstance(alias, exp.Identifier):
            raise self.problem(
                "SW-101", f"{self.found()} is not a name", expected="an alias after AS", hint="write the alias"
            )
        return alias if isinstance(alias, exp.Identifier) else None

    def _check_opened(self) -> None:
        """Raise if a clause has no bracket: `FROM Traffic RANGE 5 minutes` would be parsed as an alias."""
        if self.word() in CLAUSES and self._next.token_type == TokenType.NUMBER:
            raise self.problem(
                "SW-121", f"{self.found()} stands outside a bracket", expected=f"[{self._curr.text} ...]",
                hint="write [ before the first clause and ] after the last",
            )  # fmt: skip

    def _parse_where(self, skip_where_token: bool = False) -> exp.Where | None:
        """Parse WHERE. CSQL query 1(a) writes the bracket of its stream after it."""
        if not skip_where_token and not self._match(TokenType.WHERE):
            return None
        bracket = self._source_bracket(None)
        where = super()._parse_where(skip_where_token=True)
        if where and bracket:
            where.meta[BRACKET] = bracket
        return where

    def _parse_group(self, skip_group_by_token: bool = False) -> exp.Group | None:
        group = super()._parse_group(skip_group_by_token)
        if group and not any(group.args.values()):
            raise self.problem(
                "SW-101", f"{self.found()} is not expected here", expected="columns after GROUP BY",
                hint="name what to group by, or leave GROUP BY out",
            )  # fmt: skip
        return group

    def no_emit(self) -> QueryError:
        """Return the error for an unknown word after EMIT, the current token."""
        choices = ("FINAL", "CHANGES", "ON WINDOW CLOSE", "ON UPDATE")
        return self.problem(
            "SW-134", f"EMIT cannot be followed by {self.found()}" if self._curr else "EMIT of nothing",
            expected=" or ".join(choices), hint=nearest(self._curr.text, choices),
        )  # fmt: skip

    def _emit(self) -> exp.Var:
        start = self._curr.start
        self._advance()
        if self._match_text_seq("FINAL") or self._match_text_seq("ON", "WINDOW", "CLOSE"):
            what = "FINAL WITH SYNC" if self._match_text_seq("WITH", "SYNC") else "FINAL"
        elif self._match_text_seq("CHANGES") or self._match_text_seq("ON", "UPDATE"):
            what = "CHANGES WITH SYNC" if self._match_text_seq("WITH", "SYNC") else "CHANGES"
        else:
            raise self.no_emit()
        emit = exp.Var(this=what)
        mark(emit, self.since(start))
        return emit
