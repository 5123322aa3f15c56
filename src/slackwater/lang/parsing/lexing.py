"""Turn text into tokens: check limits, run sqlglot's tokeniser, then apply the additions of this language.

Variables are filled in here, on tokens rather than on text. A value inside a string literal becomes part of that
literal; elsewhere it becomes exactly one token. So no value can add a clause or a statement.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from slackwater.algebra.catalog import SIDES
from slackwater.errors import QueryError, nearest
from slackwater.lang.parsing.base import EMIT, OPEN
from slackwater.lang.parsing.dialect import Slackwater
from slackwater.lang.parsing.source_text import SourceText, token_span
from slackwater.lang.parsing.syntax import CLAUSES

# Limits of a text, in characters, tokens, levels of parentheses, and characters of a name. They bound the time and the
# stack that a hostile text can take; larger values admit longer queries.
LONGEST_TEXT = 200_000
MOST_TOKENS = 10_000
DEEPEST = 40
LONGEST_NAME = 255
_VARIABLE = re.compile(r"\$\{([^{}]*)\}")
_QUOTED = re.compile(
    r"""(?<!\w)[rR]'[^']*'|(?<!\w)[rR]"[^"]*"|'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"|`[^`]*`|--[^\n\r]*""",
    re.DOTALL,
)
_STARTS = re.compile(r"""['"`]|--|/\*""")
_PAIRS = {TokenType.L_PAREN: TokenType.R_PAREN, TokenType.L_BRACKET: TokenType.R_BRACKET}
_LITERALS = (TokenType.STRING, TokenType.RAW_STRING, TokenType.IDENTIFIER)
_NOT_BEFORE_EMIT = (TokenType.DOT, TokenType.ALIAS, TokenType.COMMA, TokenType.SELECT)


def tokens_of(source: SourceText, variables: Mapping[str, str]) -> list[Token]:
    """Return the tokens of a text, with brackets matched, clause brackets marked and variables filled in."""
    _check_text(source)
    _check_closed(source)
    try:
        tokens = Slackwater().tokenize(source.text)
    except TokenError as cause:
        raise _untokenised(source) from cause
    _check_nesting(tokens, source)
    _check_names(tokens, source)
    if len(tokens) > MOST_TOKENS:
        raise QueryError(
            "SW-104",
            f"the text has {len(tokens):,} words and signs, more than {MOST_TOKENS:,}",
            hint="split it into several files, or into views",
            place=source.place(token_span(tokens[MOST_TOKENS])),
        )
    return _retyped(_joined(_filled(tokens, source, variables)))


def _check_text(source: SourceText) -> None:
    if len(source.text) > LONGEST_TEXT:
        raise QueryError(
            "SW-103",
            f"the text has {len(source.text):,} characters, more than {LONGEST_TEXT:,}",
            hint="split it into several files, or into views",
            place=source.place((LONGEST_TEXT, LONGEST_TEXT + 1)),
        )
    if (at := source.text.find("\0")) >= 0:
        raise QueryError(
            "SW-106",
            "the text contains a NUL character",
            expected="text",
            hint="is it a binary file, or text in UTF-16? Save it as UTF-8",
            place=source.place((at, at + 1)),
        )


def _check_closed(source: SourceText) -> None:
    """Raise if a string, quoted name or comment does not end. The tokeniser does not report where it began."""
    at, text = 0, source.text
    while found := _STARTS.search(text, at):
        if found.group() == "/*":
            at = _comment_end(text, found.start())
        else:
            start = found.start() - (text[max(0, found.start() - 1) : found.start()] in ("r", "R"))
            quoted = _QUOTED.match(text, start) or _QUOTED.match(text, found.start())
            at = quoted.end() if quoted else -1
        if at < 0:
            kinds = {"/*": "comment", "`": "quoted name"}
            raise QueryError(
                "SW-107",
                f"this {kinds.get(found.group(), 'string')} does not end",
                expected={"/*": "*/"}.get(found.group(), found.group()),
                hint="close it",
                place=source.place(found.span()),
            )


def _comment_end(text: str, start: int) -> int:
    """Return the end of a comment, which may hold nested comments; -1 if it does not end."""
    depth = 0
    for found in re.finditer(r"/\*|\*/", text[start:]):
        depth += 1 if found.group() == "/*" else -1
        if depth == 0:
            return start + found.end()
    return -1


def _untokenised(source: SourceText) -> QueryError:
    return QueryError(
        "SW-107", "the text cannot be taken apart into words", hint="look for a quote that is not closed",
        place=source.place((0, 1)),
    )  # fmt: skip


def _filled(tokens: list[Token], source: SourceText, variables: Mapping[str, str]) -> list[Token]:
    """Replace ${NAME}: in literals by the text of the value, elsewhere by one token."""
    filled: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.token_type in _LITERALS and "${" in token.text:
            filled.append(_filled_literal(token, source, variables))
        elif token.token_type == TokenType.PARAMETER and token.text == "$" and _is(tokens, at + 1, TokenType.L_BRACE):
            end = next((i for i in range(at, min(at + 5, len(tokens))) if _is(tokens, i, TokenType.R_BRACE)), at + 1)
            whole = Token(TokenType.VAR, "", token.line, token.col, token.start, tokens[end].end)
            filled.append(_one_token(source.text[token.start + 2 : whole.end].strip(), whole, source, variables))
            at = end
        else:
            filled.append(token)
        at += 1
    return filled


def _filled_literal(token: Token, source: SourceText, variables: Mapping[str, str]) -> Token:
    return _with_text(token, _VARIABLE.sub(lambda found: _value(found[1], token, source, variables), token.text))


def _value(name: str, token: Token, source: SourceText, variables: Mapping[str, str]) -> str:
    if name in variables:
        return variables[name]
    close = nearest(name, variables)
    raise QueryError(
        "SW-150",
        f"the variable '{name}' has no value",
        expected=f"--set {name or 'NAME'}=value, or a variable of the environment",
        hint=close if close.startswith("did") else f"give {name or 'it'} a value with --set",
        place=source.place(token_span(token)),
    )


def _one_token(name: str, whole: Token, source: SourceText, variables: Mapping[str, str]) -> Token:
    value = _value(name, whole, source, variables)
    before, after = source.text[whole.start - 1 : whole.start], source.text[whole.end + 1 : whole.end + 2]
    glued = any(each.isalnum() or each in ("_", "$") for each in (before, after) if each)
    if not glued and re.fullmatch(r"\d{1,18}(\.\d{1,18})?", value):
        return _with_text(whole, value, TokenType.NUMBER)
    if not glued and re.fullmatch(r"[A-Za-z_]\w{0,127}", value):
        return _with_text(whole, value, TokenType.IDENTIFIER)
    raise QueryError(
        "SW-151",
        f"the value of '{name}' cannot stand here",
        expected="a single name or number, with nothing attached to it",
        hint=f"quote it, '${{{name}}}', if it is a text; write the rest of the clause in the file",
        place=source.place(token_span(whole)),
    )


def _joined(tokens: list[Token]) -> list[Token]:
    """Merge `name$late` (or another of SIDES, or `name$stream$late`) into one token."""
    joined: list[Token] = []
    for token in tokens:
        whole = token
        while _ends(joined, whole) and (whole is not token or token.text.lower() in SIDES):
            joined.pop()
            name = joined.pop()
            text = f"{name.text}${whole.text.lower() if whole is token else whole.text}"
            whole = Token(TokenType.VAR, text, name.line, token.col, name.start, token.end)
        joined.append(whole)
    return joined


def _ends(before: list[Token], token: Token) -> bool:
    """Return whether a name and `$` come right before a token."""
    if len(before) < 2 or before[-1].text != "$":
        return False
    return before[-2].end + 1 == before[-1].start and before[-1].end + 1 == token.start


def _retyped(tokens: list[Token]) -> list[Token]:
    """Give clause brackets and EMIT token types of their own, so that expressions stop before them."""
    for at, token in enumerate(tokens):
        if token.token_type == TokenType.L_BRACKET and _opens_clauses(tokens, at):
            tokens[at] = _with_text(token, "[", OPEN)
        elif token.token_type == TokenType.VAR and token.text.upper() == "EMIT":
            after = tokens[at + 1].text.upper() if at + 1 < len(tokens) else ""
            if after in ("FINAL", "CHANGES", "ON") and at and tokens[at - 1].token_type not in _NOT_BEFORE_EMIT:
                tokens[at] = _with_text(token, token.text, EMIT)
    return tokens


def _opens_clauses(tokens: list[Token], at: int) -> bool:
    """Return whether a bracket opens clauses.

    `[RANGE 5 ...` does; `a[range]` and `a[range - 1]` are subscripts. Two words in a row never begin a subscript.
    """
    words = tokens[at + 1 : at + 5]
    if len(words) < 2 or words[0].token_type not in (TokenType.VAR, TokenType.RANGE):
        return False
    if words[1].token_type == TokenType.NUMBER:
        return True
    if words[0].text.upper() not in CLAUSES:
        return False
    negative = words[1].token_type == TokenType.DASH and len(words) > 3 and words[3].token_type == TokenType.VAR
    return negative or words[1].token_type == TokenType.IDENTIFIER or _is_word(words[1])


def _check_nesting(tokens: list[Token], source: SourceText) -> None:
    """Raise if parentheses and brackets do not match or are nested too deep."""
    opened: list[Token] = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.token_type in _PAIRS:
            opened.append(token)
            if len(opened) > DEEPEST:
                raise QueryError(
                    "SW-102",
                    f"parentheses and brackets are nested more than {DEEPEST} deep",
                    hint="split the query into views",
                    place=source.place(token_span(token)),
                )
        elif token.token_type in (TokenType.R_PAREN, TokenType.R_BRACKET):
            if not opened or _PAIRS[opened[-1].token_type] != token.token_type:
                raise _unmatched(token, opened, source)
            if before and before.token_type == TokenType.COMMA and opened[-1].token_type == TokenType.L_PAREN:
                raise _dangling(before, source)
            opened.pop()
        elif token.token_type == TokenType.SEMICOLON and opened:
            break
    if opened:
        raise _unclosed(opened[-1], source)


def _check_names(tokens: list[Token], source: SourceText) -> None:
    for token in tokens:
        if len(token.text) > LONGEST_NAME and token.token_type in (TokenType.VAR, TokenType.IDENTIFIER):
            raise QueryError(
                "SW-103",
                f"the name has {len(token.text):,} characters, more than {LONGEST_NAME}",
                hint="is a quote missing? Choose a shorter name",
                place=source.place(token_span(token)),
            )


def _unmatched(token: Token, opened: list[Token], source: SourceText) -> QueryError:
    if opened:
        return _unclosed(opened[-1], source)
    opening = {")": "(", "]": "["}[token.text]
    hint = "write [ before the first clause, such as RANGE" if opening == "[" else "remove it, or write ( before"
    return QueryError(
        "SW-121",
        f"'{token.text}' closes nothing",
        expected=f"'{opening}' before it",
        hint=hint,
        place=source.place(token_span(token)),
    )


def _dangling(comma: Token, source: SourceText) -> QueryError:
    return QueryError(
        "SW-101",
        "nothing follows the comma",
        expected="another item, or ')' without a comma before",
        hint="remove the comma, or write what is missing",
        place=source.place(token_span(comma)),
    )


def _unclosed(token: Token, source: SourceText) -> QueryError:
    closing = ")" if token.token_type == TokenType.L_PAREN else "]"
    return QueryError(
        "SW-120",
        f"'{token.text}' is not closed",
        expected=f"'{closing}'",
        hint=f"write {closing} after the last clause" if closing == "]" else "write ) where it ends",
        place=source.place(token_span(token)),
    )


def _is(tokens: list[Token], at: int, kind: TokenType) -> bool:
    return at < len(tokens) and tokens[at].token_type == kind


def _is_word(token: Token) -> bool:
    return bool(re.match(r"[A-Za-z_]", token.text)) and token.token_type not in (TokenType.STRING, TokenType.RAW_STRING)


def _with_text(token: Token, text: str, kind: TokenType | None = None) -> Token:
    return Token(
        token.token_type if kind is None else kind, text, token.line, token.col, token.start, token.end, token.comments
    )
