"""Operators as frozen records, and the properties derived from them: schema, key, order, locality, class."""
