"""Operators as frozen records, and what is derived from them: schema, key, order, locality, class."""
