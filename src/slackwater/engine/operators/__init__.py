"""The operators of a chain: hold, windows, aggregates, DISTINCT, frequencies, filters and projections."""
