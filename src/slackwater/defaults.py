"""Default values of the clauses IDLE and SKEW, for the language and for disorder control (language.md)."""

IDLE_SECONDS = 600
"""A source that is silent for longer no longer holds windows back."""
SKEW_SECONDS = 300
"""A row stamped further than this after its arrival does not move the punctuation."""
