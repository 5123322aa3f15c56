"""Text to algebra: the sqlglot dialect for bracket clauses, the statements of a SQL file, the binder."""

from slackwater.lang.printer import print_query
from slackwater.lang.script import bind_query, parse_script

__all__ = ["bind_query", "parse_script", "print_query"]
