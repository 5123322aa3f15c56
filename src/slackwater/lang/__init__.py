"""Text to algebra: the sqlglot dialect for bracket clauses, the statements of a SQL file, the binder."""
