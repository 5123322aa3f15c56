"""Properties of aggregate functions for the binder and the rewrite rules. Unlisted aggregates are not rewritten."""

from __future__ import annotations

from sqlglot import exp

SKIPPING_NULLS = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)
"""Aggregates that treat a filtered row like a row whose value is NULL."""
UNORDERED = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)
"""Aggregates that do not depend on the order of their rows."""
MERGEABLE = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.First, exp.Last)
"""Aggregates that can be computed by merging the aggregates of consecutive parts."""
