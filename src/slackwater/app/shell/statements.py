"""Split typed text into statements and commands, and find out whether the last one is complete."""

from __future__ import annotations

import re

_PARTS = re.compile(
    r"""
    (?P<end>;)
  | (?P<command>^[ \t]*\\[^\n]*)             # a command of the shell: a line that begins with a backslash
  | --[^\n]*                                   # a comment to the end of the line
  | /\*.*?(?:\*/|(?P<comment>\Z))              # a comment that may not be closed yet
  | '(?:[^'\\]|\\.|'')*(?:'|(?P<text>\Z))      # a text, or a name in quotes
  | "(?:[^"\\]|\\.|"")*(?:"|(?P<quoted>\Z))
  | `(?:[^`]|``)*(?:`|(?P<name>\Z))
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def split_statements(text: str) -> tuple[list[str], str]:
    """Return the statements and commands of a text, and the unfinished text after them.

    A statement keeps its semicolon. A command is a whole line, and ends a statement that has no semicolon.

    >>> split_statements("SELECT ';' FROM S; SET a = 1 -- ;")
    (["SELECT ';' FROM S;"], 'SET a = 1 -- ;')
    >>> split_statements("SHOW STREAMS;\\n\\\\late\\n\\\\help")
    (['SHOW STREAMS;', '\\\\late', '\\\\help'], '')
    """
    found, start = [], 0
    for part in _PARTS.finditer(text):
        if part["end"]:
            found.append(text[start : part.end()].strip())
            start = part.end()
        elif part["command"]:
            found += [text[start : part.start()].strip(), part["command"].strip()]
            start = part.end()
    return [each for each in found if each.strip("; \t\r\n")], text[start:].strip()


def is_complete(text: str) -> bool:
    """Return whether a text that somebody types can be executed: nothing is open, and a semicolon ends it.

    >>> [is_complete(each) for each in ("SELECT 1", "SELECT 1;", "SELECT ';", "\\\\late", "", "SELECT 1; -- done")]
    [False, True, False, True, True, True]
    """
    if not text.strip() or text.lstrip().startswith("\\") or text.strip().lower() in ("exit", "quit", "help"):
        return True
    _, rest = split_statements(text)
    return not without_comments(rest)


def is_open(text: str) -> bool:
    """Return whether a text ends inside of quotes or of a comment that is not closed."""
    opened = ("comment", "text", "quoted", "name")
    return any(part[name] is not None for part in _PARTS.finditer(text) for name in opened)


def without_comments(text: str) -> str:
    """Return a text without its comments. A text that ends inside quotes or a comment is returned unchanged."""
    return text if is_open(text) else re.sub(r"--[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL).strip()
