"""What is in force where a query does not say it, for the language and for disorder control alike (language.md)."""

IDLE_SECONDS = 600
"""A source that is silent for longer no longer holds windows back."""
SKEW_SECONDS = 300
"""A row stamped further than this after its arrival does not move the punctuation."""
