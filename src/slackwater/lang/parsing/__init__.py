"""Text to trees: tokens, brackets, statements and queries, and errors with their place."""
